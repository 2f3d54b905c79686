// Says whether this tab has stored the runs of the page's address, so that a reload does not decode them again. Gradio
// calls this function before it sends the page's load event to the server. Imports nothing, as the page's bundle is not
// loaded by then.

/** @returns {[visit: null, kept: string]} */
export function savedRunsFlag() {
  try {
    return [null, sessionStorage.getItem("sbd-kept") === location.search ? "kept" : ""];
  } catch {
    return [null, ""];
  }
}
