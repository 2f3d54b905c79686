// A bar with a name before it and a number after it.

import { make, setStyle, setText } from "../../dom/elements.js";

/** @typedef {ReturnType<typeof makeBar>} Bar */

/**
 * @param {string} words the name
 * @param {string} kind of its colour, in the style sheet
 */
export function makeBar(words, kind) {
  const name = make("span", "sbd-learn-bar-name", {}, words);
  const fill = make("span", `sbd-learn-bar is-${kind}`);
  const number = make("span", "sbd-learn-bar-number");
  const track = make("span", "sbd-learn-bar-track", {}, fill);
  return {
    root: make("div", "sbd-learn-bar-row", {}, name, track, number),
    /**
     * @param {number} part of the full length, 0 to 1
     * @param {string} value the number in words
     */
    set(part, value) {
      setStyle(fill, "--part", String(part));
      setText(number, value);
    },
    /** @param {string} other */
    rename(other) {
      setText(name, other);
    },
  };
}
