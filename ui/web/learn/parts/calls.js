// The player's tiles name a forward pass #5; here it is a call, so they say call 5.

import { setText } from "../../dom/elements.js";

/** @param {HTMLElement} root of tiles, updated before this */
export function makeCallWords(root) {
  return {
    update() {
      for (const node of root.querySelectorAll(".sbd-tile-pass")) {
        const words = node.textContent ?? "";
        if (words.startsWith("#")) setText(node, `call ${words.slice(1)}`);
      }
    },
  };
}
