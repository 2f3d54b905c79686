// The scene “One at a time”: one token per forward pass, and how much of its time is loading and how much computing.

import { html } from "lit-html";
import { countOf } from "../../core/numbers.ts";
import type { Lane, Run } from "../../core/run.ts";
import { tokenTemplate } from "../../dom/templates.ts";
import { animate, bar, choices, news } from "../parts.ts";
import type { MakeScene, PassTime } from "../view.ts";

const FILL_MS = 4200;

/** Return a strip of cells, of which next-token prediction fills one in each forward pass. */
function strip(run: Run, lane: Lane, numPasses: number) {
  const cells = Array.from({ length: lane.numCommitted }, (_, position) => {
    const text = run.tokenText(lane.fixed.get(position)?.token);
    const isFull = lane.fixedAt(position, numPasses - 1) !== null;
    return html`<span
      class="sbd-learn-cell ${isFull ? "is-full" : ""}"
      style="--letters: ${text.length}"
      aria-hidden="true"
      >${isFull ? tokenTemplate(text) : ""}</span>`;
  });
  const tokens = numPasses ? lane.numTokensAt(numPasses - 1) : 0;
  return html`<div class="sbd-learn-strip">
    <p class="sbd-learn-count">${countOf(numPasses, "forward pass")}, ${countOf(tokens, "token")}</p>
    <div class="sbd-learn-cells">${cells}</div>
  </div>`;
}

/** Return two bars of a forward pass's time. @param longest seconds of a full bar */
function passBars({ rows, loading, computing }: PassTime, longest: number) {
  const timeBar = (kind: string, seconds: number) =>
    bar(kind, kind, seconds / longest, `${(seconds * 1000).toFixed(3)} ms`);
  return html`<div class="sbd-learn-pass">
    <h3>A pass of Llama-3.1-8B that reads ${countOf(rows, "token")}</h3>
    ${timeBar("loading", loading)}${timeBar("computing", computing)}
  </div>`;
}

export const makeSingleScene: MakeScene = ({ lesson, signal, onActed, draw }) => {
  const { text: run } = lesson.runs;
  const lane = run.ntp ?? run.main;
  const passes = lane.steps.length;
  const options = [...new Set([1, run.blockSize, passes])].map((value) => ({
    name: String(value),
    value,
  }));
  const shown = lesson.machines.find(({ is_big: isBig }) => isBig)?.pass_times ?? [];
  const longest = Math.max(...shown.map(({ loading, computing }) => Math.max(loading, computing)));
  let [chosen, numFilled, isAnswered] = [0, 0, false];
  function reply() {
    if (!chosen) return "";
    if (chosen === passes) return `${passes} it is.`;
    return `Not ${chosen}: each forward pass writes one token, so ${countOf(lane.numCommitted, "token")} take ${passes}.`;
  }
  function answer(value = 0) {
    if (isAnswered) return;
    [chosen, isAnswered] = [value, true];
    const fill = (part: number) => {
      numFilled = Math.round(part * passes);
      draw();
    };
    animate(FILL_MS, fill, signal);
    onActed();
  }
  const view = () =>
    html`<div class="sbd-learn-single ${isAnswered ? "is-shown" : ""}">
      ${choices("Forward passes", options, chosen, answer, isAnswered ? { right: passes } : {})}
      ${news(reply())}${strip(run, lane, numFilled)}
      <div class="sbd-learn-passes">
        ${shown.map((time) => passBars(time, longest))}
        <p class="sbd-learn-source"
          >The text is by nano, the very small model of all scenes. Times: worked out for the layers of
          Llama-3.1-8B, 2 bytes a weight, on one ${lesson.big_chip}; loading and computing overlap, so the
          longer counts. · is a space, ⏎ a line break.</p>
      </div>
    </div>`;
  return { view, answer: () => answer() };
};
