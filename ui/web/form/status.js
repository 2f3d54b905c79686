// The status line below the form's buttons: progress, errors, or what has changed in the form. It drops messages that
// arrive late; a message about the form goes once the form changes.

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

/** A message, see sayStatus. @typedef {{ text: string, isError: boolean, isOfForm?: boolean }} Said */

/** @type {Channel<Said>} */
const status = channel("sbd-say");

/**
 * Show a text in the status line.
 * @param {string} text
 * @param {boolean} isError
 * @param {boolean} isOfForm whether the text holds only while the form has the settings of the run shown
 */
export function sayStatus(text, isError = false, isOfForm = false) {
  status.say({ text, isError, isOfForm });
}

/** A decode was refused or failed; the status line has the reason. @type {Channel<void>} */
export const { say: sayRefused, hear: onRefused } = channel("sbd-refused");

/** The number of runs before this visitor's in the server's waiting line. @type {Channel<number>} */
export const { say: sayNumAhead, hear: onNumAhead } = channel("sbd-line");

/** Whether an input was made by the visitor, not by a recorded run. @param {Event | undefined} event */
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
  /** @type {Run | null} the run shown, once the form has matched it */
  let followed = null;
  /** @param {Said} said */
  function say({ text: words, isError, isOfForm }) {
    if (isError) {
      foldForm(false); // the error says what to change in the form
      sayRefused();
    }
    isOfRun = Boolean(isOfForm);
    followed = null;
    line.setAttribute("role", isError ? "alert" : "status");
    line.className = `sbd-status-line is-${isError ? "error" : "status"}`;
    setText(line, words);
  }
  /** @param {Event} [event] an input event, if there was one */
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

/** @typedef {[turn: number, count: number]} Order place of a message: its sender's number, and its number there */

/** Whether a message was sent after another. @param {Order} order @param {Order} last */
export function isLater([turn, count], [lastTurn, lastCount]) {
  return turn > lastTurn || (turn === lastTurn && count > lastCount);
}

const LOOK_MS = 250; // between two readings of the form, which has settled if they are equal
const NUM_LOOKS = 40; // readings before giving up; a server may be slow to answer

/** Return the form's strategy and settings, each in a few words. */
function settings() {
  const strategy = choiceOf("strategy");
  const title = strategy === null ? [] : [wayTitle(strategy, choiceOf("solver") ?? PAPER_SOLVER)];
  return [...title, ...dialWords()];
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;

/**
 * Say in the status line what has changed in the form, once the form has settled.
 * @param {string} cause start of the sentence: "With nano"
 * @param {() => boolean} [isCurrent] whether the cause still holds; if not, nothing is said
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
