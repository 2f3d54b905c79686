// Joins the views with the decoder of this page: they ask here before they ask the server.

import { channel } from "../dom/views.js";

/** @import { Channel } from "../dom/views.js" */
/** @import { News } from "../engine/session.js" */
/** @import { Wish } from "./decoder.js" */

/**
 * The one decoder of the page, null where no browser can decode.
 * @typedef {object} InBrowser
 * @property {((wish: Wish) => boolean) | null} take has a wish done in this browser, unless it is the server's
 * @property {(() => boolean) | null} isOn says whether new decodes are made in this browser
 * @property {((news: News) => void) | null} compare shows the news of lanes
 * @property {((name: string) => void) | null} choose has another model of the page decode from now on
 */

/** @type {InBrowser} */
export const inBrowser = { take: null, isOn: null, compare: null, choose: null };

/** Have a wish done in this browser; false where it is the server's. @param {Wish} wish */
export function doInBrowser(wish) {
  return inBrowser.take?.(wish) ?? false;
}

/** The engine has its model, or cannot have it. @type {Channel<void>} */
export const { say: saySettled, hear: onSettled } = channel("sbd-engine-settled");

/** A line under the form's buttons. @typedef {{ text: string, isError: boolean, isOfForm?: boolean }} Said */

/** @type {Channel<Said>} */
const status = channel("sbd-say");
export const onStatus = status.hear;

/**
 * Put a line under the form's buttons.
 * @param {string} text
 * @param {boolean} isError
 * @param {boolean} isOfForm whether the line holds only while the form asks for the run on the stage
 */
export function sayStatus(text, isError = false, isOfForm = false) {
  status.say({ text, isError, isOfForm });
}

/** A decode was refused or failed; its reason is said. @type {Channel<void>} */
export const { say: sayRefused, hear: onRefused } = channel("sbd-refused");

/** The runs before this visitor's at the server; Infinity for a full line. @type {Channel<number>} */
export const { say: sayNumAhead, hear: onNumAhead } = channel("sbd-line");
