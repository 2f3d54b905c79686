// What a narrow window needs besides its style sheet.

import { STILL } from "./reveal.js";

const PHONE = 900; // pixels of the window: below that the stage stands under the form

/**
 * On a phone the form is as long as the screen: what was asked for must be seen.
 * @param {HTMLElement} node
 */
export function showOnPhone(node) {
  const behavior = STILL.matches ? "auto" : "smooth";
  if (innerWidth < PHONE) node.scrollIntoView({ behavior, block: "start" });
}

/**
 * Fold the form into the prompt that is on the stage, or unfold it; the style sheet does so on a phone alone.
 * @param {boolean} isFolded
 */
export function foldForm(isFolded) {
  document.querySelector("#sbd-watch")?.classList.toggle("is-folded", isFolded);
}
