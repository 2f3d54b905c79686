// The status line below the form's buttons: progress, errors, or what has changed in the form. It drops messages that
// arrive late; a message about the form goes once the form changes.

import { listInWords } from "../core/numbers.js";
import { decodingTitle, PAPER_SOLVER } from "../core/words.js";
import { find, setText } from "../dom/elements.js";
import { pollForm } from "../dom/gradio.js";
import { foldForm } from "../dom/screen.js";
import { channel, playerOf } from "../dom/views.js";
import { differences } from "../watch/form_difference.js";
import { choiceOf, settingWords } from "./fields.js";

/** @import { Run } from "../core/run.js" */
/** @import { Channel } from "../dom/views.js" */
/** @import { Mount } from "../stub.js" */

/** A message, see sayStatus. @typedef {{ text: string, isError: boolean, isAboutForm?: boolean }} Message */

/** @type {Channel<Message>} */
const status = channel("sbd-say");

/**
 * Show a text in the status line.
 * @param {string} text
 * @param {boolean} isError
 * @param {boolean} isAboutForm whether the text holds only while the form has the settings of the run shown
 */
export function sayStatus(text, isError = false, isAboutForm = false) {
  status.say({ text, isError, isAboutForm });
}

/** A decode was refused or failed; the status line has the reason. @type {Channel<void>} */
export const { say: sayRefused, hear: onRefused } = channel("sbd-refused");

/** The number of runs before this visitor's in the server's waiting line. @type {Channel<number>} */
export const { say: sayNumAhead, hear: onNumAhead } = channel("sbd-line");

/** Whether an input was made by the visitor, not by a recorded run. @param {Event | undefined} event */
function isByVisitor(event) {
  return event !== undefined && !(event instanceof CustomEvent && event.detail?.hasSettings);
}

/** @type {Mount} */
export function mountStatusLine({ element, value, signal }) {
  const line = find(element, ".sbd-status-line");
  /** @type {MessageNumber} */
  let lastOrder = [-1, -1];
  /** @param {string} text */
  function receive(text) {
    if (!text) return;
    const { kind, text: words, order, ahead, is_of_form: isAboutForm } = JSON.parse(text);
    if (!isLater(order, lastOrder)) return;
    lastOrder = order;
    showMessage({ text: words, isError: kind === "error", isAboutForm });
    if (ahead) sayNumAhead(ahead);
  }
  let isShownAboutForm = false;
  /** @type {Run | null} the run shown, once the form has matched it */
  let matchedRun = null;
  /** @param {Message} message */
  function showMessage({ text: words, isError, isAboutForm }) {
    if (isError) {
      foldForm(false); // the error says what to change in the form
      sayRefused();
    }
    isShownAboutForm = Boolean(isAboutForm);
    matchedRun = null;
    line.setAttribute("role", isError ? "alert" : "status");
    line.className = `sbd-status-line is-${isError ? "error" : "status"}`;
    setText(line, words);
  }
  /** @param {Event} [event] an input event, if there was one */
  function checkForm(event) {
    const run = playerOf(document)?.run;
    if (!isShownAboutForm || !run) return;
    if (differences(run).length === 0) matchedRun = run;
    else if (matchedRun === run || isByVisitor(event)) showMessage({ text: "", isError: false });
  }
  receive(value);
  status.hear(showMessage, signal);
  pollForm(checkForm, signal);
  return receive;
}

/** @typedef {[sender: number, number: number]} MessageNumber a message's sender, and its number there */

/** Whether a message was sent after another. @param {MessageNumber} order @param {MessageNumber} last */
export function isLater([sender, number], [lastSender, lastNumber]) {
  return sender > lastSender || (sender === lastSender && number > lastNumber);
}

const CHECK_MS = 250; // between two readings of the form, which has settled if they are equal
const NUM_CHECKS = 40; // readings before giving up; a server may be slow to answer

/** Return the form's strategy and settings, each in a few words. */
function formSettingWords() {
  const strategy = choiceOf("strategy");
  const title =
    strategy === null ? [] : [decodingTitle(strategy, choiceOf("solver") ?? PAPER_SOLVER)];
  return [...title, ...settingWords()];
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/**
 * Say in the status line what has changed in the form, once the form has settled.
 * @param {string} cause start of the sentence: "With nano"
 * @param {() => boolean} [isCurrent] whether the cause still holds; if not, nothing is said
 */
export function sayFormChanges(cause, isCurrent = () => true) {
  const before = formSettingWords();
  let last = before.join();
  let left = NUM_CHECKS;
  function checkForm() {
    if (!isCurrent()) return;
    const now = formSettingWords();
    const hasSettled = now.join() === last;
    last = now.join();
    left -= 1;
    const other = now.filter((words) => !before.includes(words));
    if (hasSettled && other.length)
      sayStatus(`${cause} the form now has ${listInWords(other)}.`, false, true);
    else if (left > 0) timer = setTimeout(checkForm, CHECK_MS);
  }
  clearTimeout(timer);
  timer = setTimeout(checkForm, CHECK_MS);
}
