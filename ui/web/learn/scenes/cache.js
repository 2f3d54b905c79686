// The block is done: what each forward pass reads, what it keeps in the cache, and what it drops.

import { countOf } from "../../core/numbers.js";
import { tokenName } from "../../core/text/letters.js";
import { make, setText } from "../../dom/elements.js";
import { showToken } from "../../dom/tokens.js";
import { makePlayedSlider, makeRoom } from "../parts.js";
import { blockState } from "../states.js";

/** @import { Lane } from "../../core/run/lane.js" */
/** @import { Run } from "../../core/run/run.js" */
/** @import { MakeScene } from "../view.js" */

const WORDS = {
  ahead: "not reached yet",
  block: "both ways; only tokens stay",
  riding: "reread one way, then stored",
  cached: "stored, read one way",
};
const SOURCE =
  "Rereading rides along at no extra forward pass. The cache is then exact: that of reading the text " +
  "one token at a time.";
const PLAYED = 3; // forward passes before the one where it stops

/**
 * The first token that a rereading would not have written.
 * @param {Lane} lane
 * @param {number} pass
 */
function firstDoubt(lane, pass) {
  return lane.steps[pass]?.hindsight.find(({ position }) => lane.disagrees(position, pass));
}

/**
 * What a forward pass computes, what becomes of it, and what the cache then holds; what the rereading
 * would have written.
 * @param {Run} run
 * @param {number} pass
 */
function passWords(run, pass) {
  const step = run.main.steps[pass];
  const doubt = firstDoubt(run.main, pass);
  const name = (/** @type {number | undefined} */ token) => tokenName(run.tokenText(token).trim());
  const noticed = doubt
    ? ` Rereading, it would write ${name(doubt.argmax)}, not ${name(run.main.fixed.get(doubt.position)?.token)}.`
    : "";
  const [causal, block] = [step?.causal ?? 0, step?.block.size ?? 0];
  const ofBlock = block ? `, ${block} of the block` : "";
  const parts = causal ? `: ${causal} read and stored${ofBlock}` : ", all of the block";
  return (
    `Forward pass ${pass + 1} computes ${countOf(causal + block, "token")}${parts}. ` +
    `The cache then holds ${(step?.cached ?? 0) + causal}.${noticed}`
  );
}

/** @param {Lane} lane */
function blockStarts({ steps }) {
  return [...new Set(steps.filter(({ block }) => block.size).map(({ block }) => block.start))];
}

/**
 * A row of the picture: its name, what it holds, and what becomes of that.
 * @param {string} name
 * @param {HTMLElement} middle
 * @param {HTMLElement} words
 */
function makeRow(name, middle, words) {
  const title = make("span", "sbd-learn-block-name", {}, name);
  return make("div", "sbd-learn-block is-cached", {}, title, middle, words);
}

/** @param {number} count of its tokens */
function makePrompt(count) {
  const box = make("div", "sbd-learn-prompt-box", {}, countOf(count, "token"));
  return makeRow("Prompt", box, make("span", "sbd-learn-block-words", {}, WORDS.cached));
}

/**
 * @param {Run} run
 * @param {number} start
 * @param {number} index
 */
function makeBlock(run, start, index) {
  const cells = Array.from({ length: run.blockSize }, () => make("span", "sbd-learn-cell"));
  const words = make("span", "sbd-learn-block-words");
  const middle = make("div", "sbd-learn-cells", { "aria-hidden": "true" }, ...cells);
  const room = makeRoom(words, Object.values(WORDS));
  const root = makeRow(`Block ${index + 1}`, middle, room);
  /** @param {number} pass */
  function show(pass) {
    const state = blockState(run, pass, start);
    root.className = `sbd-learn-block is-${state}`;
    setText(words, WORDS[state]);
    cells.forEach((cell, offset) => {
      const item = run.main.fixedAt(start + offset, pass);
      cell.classList.toggle("is-full", item !== null);
      cell.classList.toggle("is-new", item?.pass === pass);
      cell.classList.toggle("is-doubted", run.main.disagrees(start + offset, pass));
      showToken(cell, item ? run.tokenText(item.token) : "\u200a");
    });
  }
  return { root, show };
}

/** @type {MakeScene} */
export function makeCacheScene({ lesson, signal, did, say }) {
  const { text: run } = lesson.runs;
  const { main } = run;
  const blocks = blockStarts(main).map((start, index) => makeBlock(run, start, index));
  const counts = make("p", "sbd-learn-count");
  const room = makeRoom(
    counts,
    main.steps.map((_, pass) => passWords(run, pass)),
  );
  /** @param {number} pass */
  function show(pass) {
    for (const block of blocks) block.show(pass);
    setText(counts, passWords(run, pass));
  }
  const words = (/** @type {number} */ pass) => `${pass + 1} of ${main.steps.length}`;
  const slider = makePlayedSlider(
    "Forward pass",
    main.lastPass,
    words,
    { show, took: did, ended: () => say(counts.textContent ?? "") },
    signal,
  );

  function answer() {
    did();
    const rides = main.steps.findIndex(({ causal }, pass) => pass > 0 && causal > 0);
    const doubts = main.steps.findIndex((_, pass) => firstDoubt(main, pass));
    const end = Math.max(0, doubts < 0 ? rides : doubts);
    slider.play(Math.max(0, end - PLAYED), end);
  }
  slider.goTo(1);
  const root = make(
    "div",
    "sbd-learn-cache",
    {},
    makePrompt(main.steps[0]?.causal ?? 0),
    ...blocks.map((block) => block.root),
    slider.root,
    room,
    make("p", "sbd-learn-source", {}, SOURCE),
  );
  return { root, answer };
}
