// One line under the buttons: what is going on, what was wrong, or what the form now has, in the order in which it was
// said. What it says of the form goes once the form asks for something else.

import { listInWords } from "../core/numbers.js";
import { PAPER_SOLVER, wayTitle } from "../core/words.js";
import { find, setText } from "../dom/elements.js";
import { watchForm } from "../dom/gradio.js";
import { foldForm } from "../dom/screen.js";
import { channel, playerOf } from "../dom/views.js";
import { differences } from "../watch/stale.js";
import { choiceOf, dialWords } from "./fields.js";

/** @import { Run } from "../core/run.js" */
/** @import { Channel } from "../dom/views.js" */
/** @import { Mount } from "../stub.js" */

/** A line under the form's buttons. @typedef {{ text: string, isError: boolean, isOfForm?: boolean }} Said */

/** @type {Channel<Said>} */
const status = channel("sbd-say");

/**
 * Put a line under the form's buttons.
 * @param {string} text
 * @param {boolean} isError
 * @param {boolean} isOfForm whether the line holds only while the form asks for the run on the stage
 */
export function sayStatus(text, isError = false, isOfForm = false) {
  status.say({ text, isError, isOfForm });
}

/** A decode was refused or failed; its reason is said. @type {Channel<void>} */
export const { say: sayRefused, hear: onRefused } = channel("sbd-refused");

/** The runs before this visitor's at the server; Infinity for a full line. @type {Channel<number>} */
export const { say: sayNumAhead, hear: onNumAhead } = channel("sbd-line");

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
  status.hear(say, signal);
  watchForm(look, signal);
  return show;
}

/** @typedef {[turn: number, count: number]} Order of a thing said among all others */

/** Whether a thing was said after another. @param {Order} order @param {Order} last */
export function isLater([turn, count], [lastTurn, lastCount]) {
  return turn > lastTurn || (turn === lastTurn && count > lastCount);
}

const LOOK_MS = 250; // between two looks: a form that did not change over one has settled
const NUM_LOOKS = 40; // a server may be slow to answer

/** The strategy and the settings in the form, each in a few words. */
function settings() {
  const strategy = choiceOf("strategy");
  const title = strategy === null ? [] : [wayTitle(strategy, choiceOf("solver") ?? PAPER_SOLVER)];
  return [...title, ...dialWords()];
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;

/**
 * Tell what the form has now that it had not, once it has settled.
 * @param {string} cause of it, as the sentence begins: "With nano"
 * @param {() => boolean} [isCurrent] whether the form still asks for what the cause brought
 */
export function tellChanges(cause, isCurrent = () => true) {
  const before = settings();
  let last = before.join();
  let left = NUM_LOOKS;
  function look() {
    if (!isCurrent()) return;
    const now = settings();
    const hasSettled = now.join() === last;
    last = now.join();
    left -= 1;
    const other = now.filter((words) => !before.includes(words));
    if (hasSettled && other.length)
      sayStatus(`${cause} the form now has ${listInWords(other)}.`, false, true);
    else if (left > 0) waiting = setTimeout(look, LOOK_MS);
  }
  clearTimeout(waiting);
  waiting = setTimeout(look, LOOK_MS);
}
