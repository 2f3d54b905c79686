// One at a time: a token a call, and what one call spends its time on.

import { countOf } from "../../core/numbers.js";
import { make, setText } from "../../dom/elements.js";
import { showToken } from "../../dom/tokens.js";
import { makeBar } from "../parts/bars.js";
import { makeChoices } from "../parts/choices.js";
import { sweep } from "../parts/motion.js";

/** @import { CallTime, Lesson } from "../lesson.js" */
/** @import { MakeScene } from "../view.js" */

const FILL_MS = 4200;

/**
 * The calls of next-token prediction as cells that fill, one each.
 * @param {Lesson} lesson
 */
function makeStrip({ runs }) {
  const { text } = runs;
  const lane = text.ntp ?? text.main;
  const calls = lane.steps.length;
  const cells = Array.from({ length: lane.numCommitted }, () =>
    make("span", "sbd-learn-cell", { "aria-hidden": "true" }),
  );
  const count = make("p", "sbd-learn-count", {}, "0 calls, 0 tokens");
  /** @param {number} part of the run, 0 to 1 */
  function show(part) {
    const numCalls = Math.round(part * calls);
    cells.forEach((cell, position) => {
      const item = lane.fixedAt(position, numCalls - 1);
      cell.classList.toggle("is-full", item !== null);
      if (item) showToken(cell, text.tokenText(item.token));
    });
    const tokens = lane.numTokensAt(numCalls - 1);
    setText(count, `${countOf(numCalls, "call")}, ${countOf(numCalls ? tokens : 0, "token")}`);
  }
  const grid = make("div", "sbd-learn-cells", {}, ...cells);
  return { root: make("div", "sbd-learn-strip", {}, count, grid), show };
}

/**
 * What a call of so many rows spends its time on, as two bars.
 * @param {CallTime} time
 * @param {number} longest seconds
 */
function makeCallBars(time, longest) {
  /**
   * @param {string} kind
   * @param {number} seconds
   */
  function bar(kind, seconds) {
    const made = makeBar(kind, kind);
    made.set(seconds / longest, `${(seconds * 1000).toFixed(3)} ms`);
    return made.root;
  }
  return make(
    "div",
    "sbd-learn-call",
    {},
    make("h3", "", {}, `A call with ${countOf(time.rows, "row")}`),
    bar("loading", time.loading),
    bar("computing", time.computing),
  );
}

/** @type {MakeScene} */
export function makeSingleScene({ lesson, signal, did }) {
  const strip = makeStrip(lesson);
  const calls = String((lesson.runs.text.ntp ?? lesson.runs.text.main).steps.length);
  const options = [1, lesson.runs.text.blockSize].map(String).filter((each) => each !== calls);
  const choices = makeChoices("Calls", [...options, calls], () => answer());
  const shown = lesson.call_times.filter(({ rows }) => rows === 1 || rows === 16);
  const longest = Math.max(...shown.map(({ loading, computing }) => Math.max(loading, computing)));
  const bars = make(
    "div",
    "sbd-learn-calls",
    {},
    ...shown.map((time) => makeCallBars(time, longest)),
    make(
      "p",
      "sbd-learn-source",
      {},
      `Loading: all weights, a little more for each row. Worked out for ${lesson.layer_weights} weights, Llama-3.1-8B’s layers, 2 bytes each, on one ${lesson.big_chip}. A call is one forward pass; the one that reads the prompt writes the first token. · is a space, ⏎ a line break.`,
    ),
  );
  const root = make("div", "sbd-learn-single", {}, choices.root, strip.root, bars);
  let isAnswered = false;
  function answer() {
    if (isAnswered) return;
    isAnswered = true;
    choices.reveal(calls);
    root.classList.add("is-shown");
    sweep(FILL_MS, strip.show, signal);
    did();
  }
  return { root, answer };
}
