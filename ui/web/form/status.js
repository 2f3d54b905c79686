// One line under the buttons: what is going on, or what was wrong.

import { find, setText } from "../dom/elements.js";
import { onStatus, sayNumAhead } from "../in_browser/bridge.js";
import { isLater } from "./order.js";

/** @import { Mount } from "../stub.js" */
/** @import { Order } from "./order.js" */

/** @type {Mount} */
export function mountStatusLine({ element, value, signal }) {
  const line = find(element, ".sbd-status-line");
  /** @type {Order} */
  let lastOrder = [-1, -1];
  /** @param {string} text */
  function show(text) {
    if (!text) return;
    const { kind, text: words, order, ahead } = JSON.parse(text);
    if (!isLater(order, lastOrder)) return;
    lastOrder = order;
    say(words, kind === "error");
    if (ahead) sayNumAhead(ahead);
  }
  /** @param {string} words @param {boolean} isError */
  function say(words, isError) {
    line.setAttribute("role", isError ? "alert" : "status");
    line.className = `sbd-status-line is-${isError ? "error" : "status"}`;
    setText(line, words);
  }
  show(value);
  onStatus(({ text, isError }) => say(text, isError), signal);
  return show;
}
