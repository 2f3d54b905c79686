// What the page has of the server and browser round it: addresses of Gradio's files, the boxes of its form,
// Decode and Stop, and what the tab keeps over a reload.

/** @typedef {{ root?: string, api_prefix?: string }} GradioConfig */

/** The address of a file below Gradio's routes. @param {string} path */
export function fileAddress(path) {
  /** @type {GradioConfig} */
  const config = Reflect.get(window, "gradio_config") ?? {};
  return rootAddress(`${(config.api_prefix ?? "/gradio_api").replace(/^\//, "")}/${path}`);
}

/**
 * An address below the page's root: Gradio says its path, the page itself the host and scheme that
 * reach it.
 * @param {string} path
 */
export function rootAddress(path) {
  /** @type {GradioConfig} */
  const config = Reflect.get(window, "gradio_config") ?? {};
  const base = new URL(config.root || ".", document.baseURI);
  const origin = base.hostname === location.hostname ? location.origin : base.origin;
  return `${origin}${base.pathname.replace(/\/$/, "")}/${path}`;
}

/**
 * Write into a box of the form as typing would; the form listens to the same event.
 * @param {HTMLTextAreaElement | HTMLInputElement | null} box
 * @param {string} text
 * @param {{ hasSettings: boolean }} [detail] of the event: whether settings of its own follow the text
 */
export function typeInto(box, text, detail) {
  if (!box) return;
  const kind = box instanceof HTMLInputElement ? HTMLInputElement : HTMLTextAreaElement;
  // Svelte keeps the element's own value; only the prototype's setter reaches the browser's.
  Object.getOwnPropertyDescriptor(kind.prototype, "value")?.set?.call(box, text);
  box.dispatchEvent(new CustomEvent("input", { bubbles: true, detail }));
}

/**
 * The prompt's text box; the form may be mounted after the view that asks.
 * @param {string} id of the form's element
 * @returns {HTMLTextAreaElement | null}
 */
export function promptBox(id) {
  return document.querySelector(`#${id} textarea`);
}

/**
 * The box of a number of the form, null while it is not on the page.
 * @param {string} id of the form's element
 * @returns {HTMLInputElement | null}
 */
export function numberBox(id) {
  return document.querySelector(`#${id} input[type="number"]`);
}

const LOOK_MS = 400;

/**
 * Call again and again: the form's fields are Gradio's, which says nothing when it fills them in.
 * @param {(event?: Event) => void} look with the event, if there was one
 * @param {AbortSignal} signal
 */
export function watchForm(look, signal) {
  const timer = setInterval(look, LOOK_MS);
  document.addEventListener("input", look, { signal });
  signal.addEventListener("abort", () => clearInterval(timer));
}

/** How long the server may take to answer Stop. */
export const STOP_MS = 2500;

/** Decode and Stop, null while they are not on the page. */
export function goButtons() {
  /** @type {HTMLButtonElement | null} */
  const stop = document.querySelector("button#sbd-stop, #sbd-stop button");
  const go = [...document.querySelectorAll("#sbd-go button")].find((button) => button !== stop);
  return [/** @type {HTMLButtonElement | null} */ (go ?? null), stop];
}

/**
 * Keep a text in the tab's own storage, over a reload; a browser may refuse it.
 * @param {string} key
 * @param {string} text
 */
export function keepInTab(key, text) {
  try {
    sessionStorage.setItem(key, text);
  } catch {
    // Refused: nothing is kept.
  }
}

/** @param {string} key */
export function keptInTab(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}
