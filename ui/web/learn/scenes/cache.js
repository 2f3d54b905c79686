// The block is done: what each call reads, what it keeps in the cache, and what it drops.

import { countOf } from "../../core/numbers.js";
import { make, setText } from "../../dom/elements.js";
import { STILL } from "../../dom/reveal.js";
import { showToken } from "../../dom/tokens.js";
import { makeSlider } from "../parts/slider.js";
import { blockState } from "../states.js";

/** @import { LaneStep } from "../../core/run/lane.js" */
/** @import { MakeScene } from "../view.js" */

const STEP_MS = 1100;

const WORDS = {
  ahead: "not reached yet",
  block: "looks both ways: tokens stay, what was computed is dropped",
  riding: "full: read again, left to right, and this is stored",
  cached: "stored in the cache, as read left to right",
};

/**
 * Which rows a call computes, and what becomes of them.
 * @param {LaneStep | undefined} step
 */
function rowWords(step) {
  const [causal, block] = [step?.causal ?? 0, step?.block.size ?? 0];
  if (!causal) return ", all of the block";
  return `: ${causal} read and stored${block ? `, ${block} of the block` : ""}`;
}

/** @type {MakeScene} */
export function makeCacheScene({ lesson, signal, did, say }) {
  const { text: run } = lesson.runs;
  const { main } = run;
  const prompt = main.steps[0]?.causal ?? 0;
  const starts = [
    ...new Set(main.steps.filter(({ block }) => block.size).map(({ block }) => block.start)),
  ];
  const blocks = starts.map((start, index) => {
    const cells = Array.from({ length: run.blockSize }, () => make("span", "sbd-learn-cell"));
    const words = make("span", "sbd-learn-block-words");
    const root = make(
      "div",
      "sbd-learn-block",
      {},
      make("span", "sbd-learn-block-name", {}, `Block ${index + 1}`),
      make("div", "sbd-learn-cells", { "aria-hidden": "true" }, ...cells),
      words,
    );
    return { start, cells, words, root };
  });
  const counts = make("p", "sbd-learn-count");
  const slider = makeSlider(
    "Call",
    main.lastPass,
    (pass) => `${pass + 1} of ${main.steps.length}`,
    (pass) => {
      stop();
      show(pass);
      did();
    },
  );
  let timer = 0;
  function stop() {
    clearInterval(timer);
    timer = 0;
  }
  signal.addEventListener("abort", stop);

  /** @param {number} pass */
  function show(pass) {
    const step = main.steps[pass];
    for (const { start, cells, words, root } of blocks) {
      const state = blockState(run, pass, start);
      root.className = `sbd-learn-block is-${state}`;
      setText(words, WORDS[state]);
      cells.forEach((cell, offset) => {
        const item = main.fixedAt(start + offset, pass);
        cell.classList.toggle("is-full", item !== null);
        cell.classList.toggle("is-new", item?.pass === pass);
        showToken(cell, item ? run.tokenText(item.token) : "\u200a");
      });
    }
    const rows = (step?.causal ?? 0) + (step?.block.size ?? 0);
    const stored = (step?.cached ?? 0) + (step?.causal ?? 0);
    setText(
      counts,
      `Call ${pass + 1} computes ${countOf(rows, "row")}${rowWords(step)}. ` +
        `The cache then holds ${countOf(stored, "token")}.`,
    );
  }

  function answer() {
    stop();
    did();
    const rides = main.steps.findIndex(({ causal }, pass) => pass > 0 && causal > 0);
    if (STILL.matches || rides < 0) {
      slider.set(Math.max(rides, 0));
      show(Math.max(rides, 0));
      return;
    }
    let pass = Math.max(0, rides - 1);
    slider.set(pass);
    show(pass);
    timer = window.setInterval(() => {
      pass += 1;
      slider.set(pass);
      show(pass);
      if (pass >= main.lastPass) stop();
    }, STEP_MS);
    say(counts.textContent ?? "");
  }
  slider.set(1);
  show(1);
  const root = make(
    "div",
    "sbd-learn-cache",
    {},
    make(
      "div",
      "sbd-learn-block is-cached",
      {},
      make("span", "sbd-learn-block-name", {}, "Prompt"),
      make("div", "sbd-learn-prompt-box", {}, `${countOf(prompt, "token")}`),
      make("span", "sbd-learn-block-words", {}, WORDS.cached),
    ),
    ...blocks.map((block) => block.root),
    slider.root,
    counts,
    make(
      "p",
      "sbd-learn-source",
      {},
      "The cache: what was computed for tokens read, so that no later call computes it again. " +
        "Exact for these tokens; whether they are the right ones: scenes 7 and 8.",
    ),
  );
  return { root, answer };
}
