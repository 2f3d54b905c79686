// The script that Gradio calls before the page's load event goes to the server: says whether the
// runs of this address are kept in this tab, so that a reload does not decode them anew. A function
// and nothing else: it runs before the bundle is there.

/** @returns {[visit: null, kept: string]} */
export function savedRunsFlag() {
  try {
    return [null, sessionStorage.getItem("sbd-kept") === location.search ? "kept" : ""];
  } catch {
    return [null, ""];
  }
}
