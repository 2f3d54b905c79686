// The status line below the form's buttons: progress, errors, or what has changed in the form. A message about the form
// goes once the form changes.

import { listInWords } from "../core/numbers.ts";
import { find, setText } from "../dom/elements.ts";
import { foldForm } from "../dom/screen.ts";
import { type Channel, channel } from "../dom/views.ts";
import { form, onForm } from "./form.ts";

type Message = { text: string; isError: boolean; isAboutForm?: boolean };

const status: Channel<Message> = channel();

export function sayStatus(text: string, isError: boolean = false, isAboutForm: boolean = false) {
  status.say({ text, isError, isAboutForm });
}

/** Change the form, and say in the status line what has changed. Returns whether anything has. */
export function sayFormChanges(cause: string, change: () => void) {
  const before = form.words;
  change();
  const other = form.words.filter((words) => !before.includes(words));
  if (other.length) sayStatus(`${cause} the form now has ${listInWords(other)}.`, false, true);
  return other.length > 0;
}

export function mountStatusLine(element: HTMLElement, signal: AbortSignal) {
  const line = find(element, ".sbd-status-line");
  let said: string | null = null; // the settings that the message is about
  status.hear((message) => {
    if (message.isError) foldForm(false); // the error says what to change in the form
    said = message.isAboutForm ? form.words.join() : null;
    line.setAttribute("role", message.isError ? "alert" : "status");
    line.className = `sbd-status-line is-${message.isError ? "error" : "status"}`;
    setText(line, message.text);
  }, signal);
  onForm(() => {
    if (said !== null && said !== form.words.join()) sayStatus("");
  }, signal);
}
