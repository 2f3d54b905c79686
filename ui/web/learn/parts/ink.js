// The colour of an entropy on a node, in both schemes: the style sheet takes the one in force.

import { entropyColour, inkOn, unsureness } from "../../core/scale.js";
import { setStyle } from "../../dom/elements.js";

/**
 * @param {HTMLElement} node
 * @param {number} entropy nats
 */
export function paintEntropy(node, entropy) {
  node.classList.add("sbd-learn-ink");
  setStyle(node, "--ink-light", entropyColour(entropy, false));
  setStyle(node, "--ink-dark", entropyColour(entropy, true));
  setStyle(node, "--on-light", inkOn(entropy, false));
  setStyle(node, "--on-dark", inkOn(entropy, true));
  setStyle(node, "--level", unsureness(entropy).toFixed(3));
}
