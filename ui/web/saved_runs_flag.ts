// Says whether this tab has stored the runs of the page's address, so that a reload does not decode them again. Gradio
// calls this function before it sends the page's load event to the server. Imports nothing, as the page's bundle is not
// loaded by then.

export function savedRunsFlag(): [visit: null, kept: string] {
  try {
    return [null, sessionStorage.getItem("sbd-kept") === location.search ? "kept" : ""];
  } catch {
    return [null, ""];
  }
}
