// Changes in the form that nobody made by hand, told beside the numbers: a model brings its own
// settings, a recorded run those that it was decoded with.

import { listInWords } from "../core/numbers.js";
import { playerOf } from "../dom/page.js";
import { choiceOf, DIAL_NAMES, dialWords, TITLES } from "./fields.js";

const LOOK_MS = 250; // between two looks: a form that did not change over one has settled
const NUM_LOOKS = 16;

/** The strategy and the settings in the form, each in a few words. */
function settings() {
  const strategy = choiceOf("strategy");
  const title = strategy === null ? [] : [TITLES.strategy?.[strategy] ?? strategy];
  return [...title, ...dialWords(DIAL_NAMES)];
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;

/**
 * Tell what the form has now that it had not, once it has settled.
 * @param {string} cause "With nano"
 */
export function tellChanges(cause) {
  const before = settings();
  let last = before.join();
  let left = NUM_LOOKS;
  function look() {
    const now = settings();
    const hasSettled = now.join() === last;
    last = now.join();
    left -= 1;
    const other = now.filter((words) => !before.includes(words));
    if (hasSettled && other.length)
      playerOf(document)?.tellVisitor(`${cause} the form now has ${listInWords(other)}.`);
    else if (left > 0) waiting = setTimeout(look, LOOK_MS);
  }
  clearTimeout(waiting);
  waiting = setTimeout(look, LOOK_MS);
}
