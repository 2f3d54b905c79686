// The status line below the form's buttons: progress, errors, or what has changed in the form. A message about the form
// goes once the form changes.

import constants from "../constants.json" with { type: "json" };
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

/** Say that a prompt is too long, before it is sent; "" if it is not. @param length in characters */
function lengthWords(length: number) {
  const most = constants.limits.promptCharacters;
  const [has, takes] = [length, most].map((number) => number.toLocaleString("en"));
  return length > most ? `The prompt has ${has} characters; at most ${takes} can be decoded.` : "";
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
  let told = ""; // that the prompt is too long, "" if it is not
  onForm(() => {
    const before = told;
    told = lengthWords(form.prompt.length);
    if (told) sayStatus(told, true);
    else if (before || (said !== null && said !== form.words.join())) sayStatus("");
  }, signal);
}
