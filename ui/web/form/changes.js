// Says what the form now has that it had not, once a change that nobody made by hand has settled: a
// model and a recorded run bring settings of their own.

import { listInWords } from "../core/numbers.js";
import { PAPER_SOLVER, wayTitle } from "../core/words.js";
import { sayStatus } from "../in_browser/bridge.js";
import { choiceOf, dialWords } from "./fields.js";

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
