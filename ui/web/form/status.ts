// The status line below the form's buttons: progress, errors, or what has changed in the form. A message about the form
// goes once the form changes.

import { listInWords } from "../core/numbers.ts";
import { find, setText } from "../dom/elements.ts";
import { foldForm } from "../dom/screen.ts";
import { type Channel, channel, playerOf } from "../dom/views.ts";
import { form, onForm } from "./form.ts";

/** a message, see sayStatus */
type Message = { text: string; isError: boolean; isAboutForm?: boolean };

const status: Channel<Message> = channel();

/**
 * Show a text in the status line.
 * @param isAboutForm whether the text holds only while the form has the settings of the run shown
 */
export function sayStatus(text: string, isError: boolean = false, isAboutForm: boolean = false) {
  status.say({ text, isError, isAboutForm });
}

/**
 * Change the form, and say in the status line what has changed. Returns whether anything has.
 * @param cause start of the sentence: "With nano"
 */
export function sayFormChanges(cause: string, change: () => void) {
  const before = form.words;
  change();
  const other = form.words.filter((words) => !before.includes(words));
  if (other.length) sayStatus(`${cause} the form now has ${listInWords(other)}.`, false, true);
  return other.length > 0;
}

export function mountStatusLine(element: HTMLElement, signal: AbortSignal) {
  const line = find(element, ".sbd-status-line");
  let isAboutForm = false;
  status.hear((message) => {
    if (message.isError) foldForm(false); // the error says what to change in the form
    isAboutForm = Boolean(message.isAboutForm);
    line.setAttribute("role", message.isError ? "alert" : "status");
    line.className = `sbd-status-line is-${message.isError ? "error" : "status"}`;
    setText(line, message.text);
  }, signal);
  onForm(() => {
    const run = playerOf(document)?.run;
    if (isAboutForm && run && form.differences(run).length) sayStatus("");
  }, signal);
}
