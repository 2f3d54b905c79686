// One line under the buttons: what is going on, or what was wrong, in the order in which the server
// said it. What it says of the form goes once the form asks for something else.

import { find, setText } from "../dom/elements.js";
import { watchForm } from "../dom/gradio.js";
import { foldForm } from "../dom/screen.js";
import { playerOf } from "../dom/views.js";
import { onStatus, sayNumAhead, sayRefused } from "../in_browser/bridge.js";
import { differences } from "../watch/stale.js";

/** @import { Run } from "../core/run.js" */
/** @import { Said } from "../in_browser/bridge.js" */
/** @import { Mount } from "../stub.js" */

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
    if (isError) {
      foldForm(false); // it says what to change there
      sayRefused();
    }
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

/** @typedef {[turn: number, count: number]} Order of a thing said among all others */

/** Whether a thing was said after another. @param {Order} order @param {Order} last */
export function isLater([turn, count], [lastTurn, lastCount]) {
  return turn > lastTurn || (turn === lastTurn && count > lastCount);
}
