// One line under the buttons: what is going on, or what was wrong.

import { find, setText } from "../dom/elements.js";
import { isLater } from "./order.js";

/** @import { Mount } from "../stub.js" */
/** @import { Order } from "./order.js" */

/** @type {Mount} */
export function mountNotice({ element, value }) {
  const line = find(element, ".sbd-notice");
  /** @type {Order} */
  let lastOrder = [-1, -1];
  /** @param {string} text */
  function show(text) {
    if (!text) return;
    const { kind, text: words, order } = JSON.parse(text);
    if (!isLater(order, lastOrder)) return;
    lastOrder = order;
    line.setAttribute("role", kind === "error" ? "alert" : "status");
    line.className = `sbd-notice is-${kind}`;
    setText(line, words);
  }
  show(value);
  return show;
}
