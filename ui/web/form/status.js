// One line under the buttons: what is going on, or what was wrong. What it says of the form goes
// once the form asks for something else.

import { find, setText } from "../dom/elements.js";
import { playerOf, watchForm } from "../dom/page.js";
import { onStatus, sayNumAhead } from "../in_browser/bridge.js";
import { differences } from "../watch/stale.js";
import { isLater } from "./order.js";

/** @import { Run } from "../core/run/run.js" */
/** @import { Said } from "../in_browser/bridge.js" */
/** @import { Mount } from "../stub.js" */
/** @import { Order } from "./order.js" */

/** @param {Event | undefined} event */
function isByHand(event) {
  return event !== undefined && !(event instanceof CustomEvent && event.detail?.hasSettings);
}

/** @type {Mount} */
export function mountStatusLine({ element, value, signal }) {
  const line = find(element, ".sbd-status-line");
  /** @type {Order} */
  let lastOrder = [-1, -1];
  /** @param {string} text */
  function show(text) {
    if (!text) return;
    const { kind, text: words, order, ahead, is_of_form: isOfForm } = JSON.parse(text);
    if (!isLater(order, lastOrder)) return;
    lastOrder = order;
    say({ text: words, isError: kind === "error", isOfForm });
    if (ahead) sayNumAhead(ahead);
  }
  let isOfRun = false;
  /** @type {Run | null} the run on the stage, once the form asks for it */
  let followed = null;
  /** @param {Said} said */
  function say({ text: words, isError, isOfForm }) {
    isOfRun = Boolean(isOfForm);
    followed = null;
    line.setAttribute("role", isError ? "alert" : "status");
    line.className = `sbd-status-line is-${isError ? "error" : "status"}`;
    setText(line, words);
  }
  /** @param {Event} [event] of what was set by hand, not by a recorded run */
  function look(event) {
    const run = playerOf(document)?.run;
    if (!isOfRun || !run) return;
    if (differences(run).length === 0) followed = run;
    else if (followed === run || isByHand(event)) say({ text: "", isError: false });
  }
  show(value);
  onStatus(say, signal);
  watchForm(look, signal);
  return show;
}
