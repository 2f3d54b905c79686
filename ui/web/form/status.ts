// The status line below the form's buttons: progress, errors, or what has changed in the form. It drops messages that
// arrive late; a message about the form goes once the form changes.

import { listInWords } from "../core/numbers.ts";
import type { Run } from "../core/run.ts";
import { decodingTitle, PAPER_SOLVER } from "../core/words.ts";
import { find, setText } from "../dom/elements.ts";
import { pollForm } from "../dom/gradio.ts";
import { foldForm } from "../dom/screen.ts";
import { type Channel, channel, playerOf } from "../dom/views.ts";
import type { Mount } from "../stub.ts";
import { differences } from "../watch/form_difference.ts";
import { choiceOf, settingWords } from "./fields.ts";

/** A message, see sayStatus. */
type Message = { text: string; isError: boolean; isAboutForm?: boolean };

const status: Channel<Message> = channel("sbd-say");

/**
 * Show a text in the status line.
 * @param isAboutForm whether the text holds only while the form has the settings of the run shown
 */
export function sayStatus(text: string, isError: boolean = false, isAboutForm: boolean = false) {
  status.say({ text, isError, isAboutForm });
}

/** A decode was refused or failed; the status line has the reason. */
export const { say: sayRefused, hear: onRefused }: Channel<void> = channel("sbd-refused");

/** The number of runs before this visitor's in the server's waiting line. */
export const { say: sayNumAhead, hear: onNumAhead }: Channel<number> = channel("sbd-line");

/** Whether an input was made by the visitor, not by a recorded run. */
function isByVisitor(event: Event | undefined) {
  return event !== undefined && !(event instanceof CustomEvent && event.detail?.hasSettings);
}

export const mountStatusLine: Mount = ({ element, value, signal }) => {
  const line = find(element, ".sbd-status-line");
  let lastOrder: MessageNumber = [-1, -1];
  function receive(text: string) {
    if (!text) return;
    const { kind, text: words, order, ahead, is_of_form: isAboutForm } = JSON.parse(text);
    if (!isLater(order, lastOrder)) return;
    lastOrder = order;
    showMessage({ text: words, isError: kind === "error", isAboutForm });
    if (ahead) sayNumAhead(ahead);
  }
  let isShownAboutForm = false;
  /** the run shown, once the form has matched it */
  let matchedRun: Run | null = null;
  function showMessage({ text: words, isError, isAboutForm }: Message) {
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
  /** @param event an input event, if there was one */
  function checkForm(event?: Event) {
    const run = playerOf(document)?.run;
    if (!isShownAboutForm || !run) return;
    if (differences(run).length === 0) matchedRun = run;
    else if (matchedRun === run || isByVisitor(event)) showMessage({ text: "", isError: false });
  }
  receive(value);
  status.hear(showMessage, signal);
  pollForm(checkForm, signal);
  return receive;
};

/** a message's sender, and its number there */
export type MessageNumber = [sender: number, number: number];

/** Whether a message was sent after another. */
export function isLater([sender, number]: MessageNumber, [lastSender, lastNumber]: MessageNumber) {
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

let timer: ReturnType<typeof setTimeout> | undefined;

/**
 * Say in the status line what has changed in the form, once the form has settled.
 * @param cause start of the sentence: "With nano"
 * @param isCurrent whether the cause still holds; if not, nothing is said
 */
export function sayFormChanges(cause: string, isCurrent: () => boolean = () => true) {
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
