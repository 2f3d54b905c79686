// The player's tiles and cells name a forward pass #5; here tiles say pass 5, and cells 5.

import { make, setText } from "../../dom/elements.js";

/** @param {HTMLElement} root of tiles, updated before this */
export function makePassWords(root) {
  return {
    update() {
      for (const node of root.querySelectorAll(".sbd-tile-pass")) {
        const words = node.textContent ?? "";
        // The style sheet leaves the word out where tiles are narrow.
        if (words.startsWith("#")) {
          node.replaceChildren(make("span", "sbd-learn-pass-word", {}, "pass "), words.slice(1));
        }
      }
    },
  };
}

/** @param {HTMLElement} root of a sudoku, updated before this */
export function makePassNumbers(root) {
  return {
    update() {
      for (const node of root.querySelectorAll(".sbd-sudoku-pass")) {
        setText(node, (node.textContent ?? "").replace("#", ""));
      }
    },
  };
}
