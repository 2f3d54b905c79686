// Gives the views access to what is around them: the addresses of Gradio's files, the boxes and buttons of its form,
// and the tab's session storage.

import { storedName } from "./stored_names.js";

/** @typedef {{ root?: string, api_prefix?: string }} GradioConfig */

/** Return the address of a file that Gradio serves. @param {string} path below Gradio's API prefix */
export function fileAddress(path) {
  /** @type {GradioConfig} */
  const config = Reflect.get(window, "gradio_config") ?? {};
  return rootAddress(`${(config.api_prefix ?? "/gradio_api").replace(/^\//, "")}/${path}`);
}

/**
 * Return an address below the page's root. Gradio gives the root's path; scheme and port come from the page itself,
 * as a proxy can hide them from Gradio.
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
 * Write a text into a box of the form, with the event that typing sends.
 * @param {HTMLTextAreaElement | HTMLInputElement | null} box
 * @param {string} text
 * @param {{ hasSettings: boolean }} [detail] of the event; hasSettings: whether settings that belong to the text follow
 */
export function typeInto(box, text, detail) {
  if (!box) return;
  const kind = box instanceof HTMLInputElement ? HTMLInputElement : HTMLTextAreaElement;
  // Svelte can override the element's own `value`, so use the setter of the prototype.
  Object.getOwnPropertyDescriptor(kind.prototype, "value")?.set?.call(box, text);
  box.dispatchEvent(new CustomEvent("input", { bubbles: true, detail }));
}

/**
 * Return the prompt's text box; null while it is not on the page.
 * @param {string} id of the form's element
 * @returns {HTMLTextAreaElement | null}
 */
export function promptBox(id) {
  return document.querySelector(`#${id} textarea`);
}

/**
 * Return the box of a number in the form; null while it is not on the page.
 * @param {string} id of the form's element
 * @returns {HTMLInputElement | null}
 */
export function numberBox(id) {
  return document.querySelector(`#${id} input[type="number"]`);
}

const CHECK_MS = 400;

/**
 * Call `check` on every input event, and regularly, as Gradio fills in fields without an event.
 * @param {(event?: Event) => void} check gets the event, if there was one
 * @param {AbortSignal} signal
 */
export function pollForm(check, signal) {
  const timer = setInterval(check, CHECK_MS);
  document.addEventListener("input", check, { signal });
  signal.addEventListener("abort", () => clearInterval(timer));
}

/** Milliseconds within which the server has to answer Stop. */
export const STOP_MS = 2500;

/** Return the buttons Decode and Stop, each null while it is not on the page. */
export function decodeButtons() {
  /** @type {HTMLButtonElement | null} */
  const stop = document.querySelector("button#sbd-stop, #sbd-stop button");
  const go = [...document.querySelectorAll("#sbd-go button")].find((button) => button !== stop);
  return [/** @type {HTMLButtonElement | null} */ (go ?? null), stop];
}

/**
 * Store a text for this tab, so that it outlives a reload; does nothing if the browser refuses.
 * @param {string} key
 * @param {string} text
 */
export function storeInTab(key, text) {
  try {
    sessionStorage.setItem(storedName(key), text);
  } catch {
    // The browser refuses storage.
  }
}

/** Return a text stored for this tab; null for none. @param {string} key */
export function readFromTab(key) {
  try {
    return sessionStorage.getItem(storedName(key));
  } catch {
    return null;
  }
}
