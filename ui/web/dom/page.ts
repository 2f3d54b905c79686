// Parts of the page that many views use: the prompt's box, addresses below the page, and what the browser stores.

/** Pages of one origin share its storage, so each name has the page's path. */
const PATH = globalThis.location?.pathname.replace(/[^/]*\.html$/, "") ?? "";

/** Return the name under which this page stores something. */
export function storedName(what: string) {
  return `sbd ${PATH} ${what}`;
}

/** Return the prompt's text box; null while it is not on the page. */
export function promptBox(): HTMLTextAreaElement | null {
  return document.querySelector("#sbd-prompt-box textarea");
}

/** Return the full address of a path that starts from this page. */
export function pageAddress(path: string) {
  return new URL(path, document.baseURI).href;
}

/** Store a text for this tab, so that it outlives a reload; does nothing if the browser refuses. */
export function storeInTab(key: string, text: string) {
  try {
    sessionStorage.setItem(storedName(key), text);
  } catch {
    // The browser refuses storage.
  }
}

/** Return a text stored for this tab; null for none. */
export function readFromTab(key: string) {
  try {
    return sessionStorage.getItem(storedName(key));
  } catch {
    return null;
  }
}
