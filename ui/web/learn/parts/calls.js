// The player's tiles name a forward pass #5; here it is a call, so they say call 5.

import { make } from "../../dom/elements.js";

/** @param {HTMLElement} root of tiles, updated before this */
export function makeCallWords(root) {
  return {
    update() {
      for (const node of root.querySelectorAll(".sbd-tile-pass")) {
        const words = node.textContent ?? "";
        // The style sheet leaves the word out where tiles are narrow.
        if (words.startsWith("#")) {
          node.replaceChildren(make("span", "sbd-learn-call-word", {}, "call "), words.slice(1));
        }
      }
    },
  };
}
