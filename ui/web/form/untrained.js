// What to know of a model that was not trained for Set Block Decoding, and the lines that train it.

import { find, make } from "../dom/elements.js";

/** @import { Mount } from "../stub.js" */

/** @typedef {{ name: string, words: string, lines: string[] }} Words as ui/untrained.py */

/** @type {Mount} */
export function mountUntrained({ element, value }) {
  /** @param {string} text "" hides the strip */
  function show(text) {
    element.hidden = text === "";
    if (!text) return;
    /** @type {Words} */
    const { name, words, lines } = JSON.parse(text);
    find(element, ".sbd-untrained-name").textContent = name;
    find(element, ".sbd-untrained-words").textContent = words;
    // A click takes the whole line, to be copied.
    find(element, ".sbd-untrained-lines").replaceChildren(
      ...lines.map((line) => make("code", "", {}, line)),
    );
  }
  show(value);
  return show;
}
