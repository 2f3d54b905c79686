// The decoder of this page: the views ask here before they ask the server. One page, one decoder.

/** @import { Wish } from "./decoder.js" */
/** @import { News } from "../engine/session/session.js" */

/**
 * @typedef {object} InBrowser
 * @property {((wish: Wish) => boolean) | null} take has a wish done in this browser, if it is for it
 * @property {(() => boolean) | null} isOn whether new decodes are made in this browser
 * @property {((news: News) => void) | null} compare shows the news of lanes
 * @property {((name: string) => void) | null} choose has another model of the page decode from now on
 */

/** @type {InBrowser} */
export const inBrowser = { take: null, isOn: null, compare: null, choose: null };

/** Whether a wish is done in this browser; if not, it is the server's. @param {Wish} wish */
export function doInBrowser(wish) {
  return inBrowser.take?.(wish) ?? false;
}

/**
 * Hear what another part of the page says.
 * @template Detail
 * @param {string} name
 * @param {(detail: Detail) => void} hear
 * @param {AbortSignal} signal
 */
function listen(name, hear, signal) {
  const own = (/** @type {Event} */ event) => event instanceof CustomEvent && hear(event.detail);
  document.addEventListener(name, own, { signal });
}

const SAY_EVENT = "sbd-say";
const LINE_EVENT = "sbd-line";
/** On the document: the engine has its model, or cannot have it. */
export const SETTLED_EVENT = "sbd-engine-settled";

/** @typedef {{ text: string, isError: boolean, isOfForm?: boolean }} Said */

/**
 * Put a line under the form's buttons.
 * @param {string} text
 * @param {boolean} isError
 * @param {boolean} isOfForm whether it holds only while the form asks for the run on the stage
 */
export function sayStatus(text, isError = false, isOfForm = false) {
  document.dispatchEvent(new CustomEvent(SAY_EVENT, { detail: { text, isError, isOfForm } }));
}

/** @param {(said: Said) => void} hear @param {AbortSignal} signal */
export function onStatus(hear, signal) {
  listen(SAY_EVENT, hear, signal);
}

/** The runs before this visitor's at the server; Infinity for a full line. @param {number} numAhead */
export function sayNumAhead(numAhead) {
  document.dispatchEvent(new CustomEvent(LINE_EVENT, { detail: numAhead }));
}

/** @param {(numAhead: number) => void} hear @param {AbortSignal} signal */
export function onNumAhead(hear, signal) {
  listen(LINE_EVENT, hear, signal);
}
