// The scene “One at a time”: one token per forward pass, and how much of its time is loading and how much computing.

import { countOf } from "../../core/numbers.ts";
import { make, setStyle, setText, showToken } from "../../dom/elements.ts";
import { animate, makeBar, makeChoices, makeSizedBox } from "../parts.ts";
import type { Lesson, MakeScene, PassTime } from "../view.ts";

const FILL_MS = 4200;
const SEVERAL = 16; // tokens in one forward pass

/** Make a strip of cells, of which next-token prediction fills one in each forward pass. */
function makeStrip({ runs }: Lesson) {
  const { text } = runs;
  const lane = text.ntp ?? text.main;
  const passes = lane.steps.length;
  const cells = Array.from({ length: lane.numCommitted }, (_, position) => {
    const cell = make("span", "sbd-learn-cell", { "aria-hidden": "true" });
    setStyle(cell, "--letters", String(text.tokenText(lane.fixed.get(position)?.token).length));
    return cell;
  });
  const count = make("p", "sbd-learn-count", "0 forward passes, 0 tokens");
  /** @param part share of the run, 0 to 1 */
  function show(part: number) {
    const numPasses = Math.round(part * passes);
    cells.forEach((cell, position) => {
      const item = lane.fixedAt(position, numPasses - 1);
      cell.classList.toggle("is-full", item !== null);
      if (item) showToken(cell, text.tokenText(item.token));
    });
    const tokens = lane.numTokensAt(numPasses - 1);
    setText(
      count,
      `${countOf(numPasses, "forward pass")}, ${countOf(numPasses ? tokens : 0, "token")}`,
    );
  }
  const grid = make("div", "sbd-learn-cells", ...cells);
  return { root: make("div", "sbd-learn-strip", count, grid), show };
}

/**
 * Make two bars of a forward pass's time: loading and computing.
 * @param longest seconds of a full bar
 */
function makePassBars(time: PassTime, longest: number) {
  function bar(kind: string, seconds: number) {
    const made = makeBar(kind, kind);
    made.set(seconds / longest, `${(seconds * 1000).toFixed(3)} ms`);
    return made.root;
  }
  return make(
    "div",
    "sbd-learn-pass",
    make("h3", "", `A pass of Llama-3.1-8B that reads ${countOf(time.rows, "token")}`),
    bar("loading", time.loading),
    bar("computing", time.computing),
  );
}

export const makeSingleScene: MakeScene = ({ lesson, signal, onActed }) => {
  const strip = makeStrip(lesson);
  const lane = lesson.runs.text.ntp ?? lesson.runs.text.main;
  const passes = String(lane.steps.length);
  const options = [1, lesson.runs.text.blockSize].map(String).filter((each) => each !== passes);
  const news = make("p", "sbd-learn-yours", { role: "status" });
  const reply = (chosen: string) =>
    chosen === passes
      ? `${passes} it is.`
      : `Not ${chosen}: each forward pass writes one token, so ${countOf(lane.numCommitted, "token")} take ${passes}.`;
  const choices = makeChoices("Forward passes", [...options, passes], (chosen) => {
    if (isAnswered) return;
    setText(news, reply(chosen));
    answer();
  });
  const shown = lesson.pass_times.filter(({ rows }) => rows === 1 || rows === SEVERAL);
  const longest = Math.max(...shown.map(({ loading, computing }) => Math.max(loading, computing)));
  const bars = make(
    "div",
    "sbd-learn-passes",
    ...shown.map((time) => makePassBars(time, longest)),
    make(
      "p",
      "sbd-learn-source",
      `The text is by nano, the very small model of all scenes. Times: worked out for the layers of Llama-3.1-8B, 2 bytes a weight, on one ${lesson.big_chip}; loading and computing overlap, so the longer counts. · is a space, ⏎ a line break.`,
    ),
  );
  const question = [choices.root, makeSizedBox(news, options.map(reply))];
  const root = make("div", "sbd-learn-single", ...question, strip.root, bars);
  let isAnswered = false;
  function answer() {
    if (isAnswered) return;
    isAnswered = true;
    choices.reveal(passes);
    root.classList.add("is-shown");
    animate(FILL_MS, strip.show, signal);
    onActed();
  }
  return { root, answer };
};
