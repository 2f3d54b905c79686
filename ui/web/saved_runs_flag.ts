// Says whether this tab has stored the runs of the page's address, so that a reload does not decode them again. Gradio
// calls this function before it sends the page's load event to the server, when the page's bundle is not loaded.

import { storedName } from "./dom/stored_names.ts";

export function savedRunsFlag(): [visit: null, kept: string] {
  try {
    return [null, sessionStorage.getItem(storedName("kept")) === location.search ? "kept" : ""];
  } catch {
    return [null, ""];
  }
}
