// Names of what the page stores in the browser. Pages of one origin share its storage, so each name has the page's path.

const PATH = globalThis.location?.pathname.replace(/[^/]*\.html$/, "") ?? "";

/** Return the name under which this page stores something. */
export function storedName(what: string) {
  return `sbd ${PATH} ${what}`;
}
