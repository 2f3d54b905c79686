// The scene “The block is done”: what each forward pass reads, what it stores in the KV cache, and what it does not.

import { tokenName } from "../../core/letters.ts";
import { countOf } from "../../core/numbers.ts";
import type { Lane, Run } from "../../core/run.ts";
import { make, setStyle, setText, showToken } from "../../dom/elements.ts";
import { withTerms } from "../../dom/terms.ts";
import { makePlayedSlider, makeSizedBox } from "../parts.ts";
import type { MakeScene } from "../view.ts";

const WORDS = {
  ahead: "not reached yet",
  block: "both ways, not stored",
  riding: "reread one way, stored",
  cached: "stored, read one way",
};
const CACHE =
  "The [KV cache|cache] keeps two vectors of every token read: its key, by which later tokens find it, and its " +
  "value, which they read. No later forward pass computes them again.";
const SOURCE =
  "A finished block is reread beside the next one, in no forward pass of its own; the cache is exact, as if " +
  "read one token at a time. Nothing rereads the last block.";
const MOST_DOUBTS = 2;
const PLAYED = 3; // how many forward passes the slider moves by itself

/**
 * Return a block's state in a forward pass, a key of WORDS.
 * @param start the block's first position in the answer
 */
export function blockState(
  run: Run,
  pass: number,
  start: number,
): "ahead" | "block" | "riding" | "cached" {
  const step = run.main.steps[pass];
  const prompt = run.main.steps[0]?.causal ?? 0;
  if (!step || (step.kind === "prefill" && pass === 0)) return "ahead";
  const cached = step.cached - prompt;
  if (start < cached) return "cached";
  if (start < cached + step.causal) return "riding";
  return step.block.start === start ? "block" : "ahead";
}

/** Return the tokens that a pass rereads and would not have written. */
function doubtsAt(lane: Lane, pass: number) {
  const { hindsight = [] } = lane.steps[pass] ?? {};
  return hindsight.filter(({ position }) => lane.disagrees(position, pass));
}

/** Say what the rereading in a pass would have written instead; "" if it would have written the same. */
function doubtWords(run: Run, pass: number) {
  const doubts = doubtsAt(run.main, pass);
  if (!doubts.length) return "";
  const name = (token: number | undefined) => tokenName(run.tokenText(token).trim());
  const shown = doubts
    .slice(0, MOST_DOUBTS)
    .map(
      ({ argmax, position }) => `${name(argmax)}, not ${name(run.main.fixed.get(position)?.token)}`,
    );
  const rest = doubts.length - shown.length;
  if (rest) shown.push(`${rest} more`);
  return ` Rereading, the model would write ${shown.join("; ")}. Set Block Decoding keeps its words.`;
}

/**
 * Say what a forward pass computes, how much it stores and the cache then holds, and what the rereading would have
 * written.
 */
function passWords(run: Run, pass: number) {
  const step = run.main.steps[pass];
  const [causal, block] = [step?.causal ?? 0, step?.block.size ?? 0];
  const ofBlock = block ? `, ${block} of the block` : "";
  const parts = causal ? `: ${causal} read and stored${ofBlock}` : ", all of the block";
  return (
    `Forward pass ${pass + 1} computes ${countOf(causal + block, "token")}${parts}. ` +
    `The cache then holds ${(step?.cached ?? 0) + causal}.${doubtWords(run, pass)}`
  );
}

function blockStarts({ steps }: Lane) {
  return [...new Set(steps.filter(({ block }) => block.size).map(({ block }) => block.start))];
}

/**
 * Make a row of the picture.
 * @param middle the tokens
 * @param words how the tokens are read and stored
 */
function makeRow(name: string, middle: HTMLElement, words: HTMLElement) {
  const title = make("span", "sbd-learn-block-name", name);
  return make("div", "sbd-learn-block is-cached", title, middle, words);
}

/** @param count number of tokens */
function makePrompt(count: number) {
  const box = make("div", "sbd-learn-prompt-box", countOf(count, "token"));
  return makeRow("Prompt", box, make("span", "sbd-learn-block-words", WORDS.cached));
}

function makeBlock(run: Run, start: number, index: number) {
  const cells = Array.from({ length: run.blockSize }, (_, offset) => {
    const cell = make("span", "sbd-learn-cell");
    // Each cell is as wide from the start as its later token.
    const text = run.tokenText(run.main.fixed.get(start + offset)?.token);
    setStyle(cell, "--letters", String(text.length));
    return cell;
  });
  const words = make("span", "sbd-learn-block-words");
  const middle = make("div", "sbd-learn-cells", { "aria-hidden": "true" }, ...cells);
  const room = makeSizedBox(words, Object.values(WORDS));
  const root = makeRow(`Block ${index + 1}`, middle, room);
  function show(pass: number) {
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

export const makeCacheScene: MakeScene = ({ lesson, signal, onActed, say }) => {
  const { text: run } = lesson.runs;
  const { main } = run;
  const blocks = blockStarts(main).map((start, index) => makeBlock(run, start, index));
  const counts = make("p", "sbd-learn-count");
  const room = makeSizedBox(
    counts,
    main.steps.map((_, pass) => passWords(run, pass)),
  );
  function show(pass: number) {
    for (const block of blocks) block.show(pass);
    setText(counts, passWords(run, pass));
  }
  const words = (pass: number) => `${pass + 1} of ${main.steps.length}`;
  const slider = makePlayedSlider(
    "Forward pass",
    main.lastPass,
    words,
    { show, onMoved: onActed, onStopped: () => say(counts.textContent ?? "") },
    signal,
  );

  function answer() {
    onActed();
    const reread = main.steps.findIndex(({ causal }, pass) => pass > 0 && causal > 0);
    const doubts = main.steps.findIndex((_, pass) => doubtsAt(main, pass).length > 0);
    const end = Math.max(0, doubts < 0 ? reread : doubts);
    slider.play(Math.max(0, end - PLAYED), end);
  }
  slider.goTo(1);
  const root = make(
    "div",
    "sbd-learn-cache",
    make("p", "", ...withTerms(CACHE)),
    makePrompt(main.steps[0]?.causal ?? 0),
    ...blocks.map((block) => block.root),
    slider.root,
    room,
    make("p", "sbd-learn-source", SOURCE),
  );
  return { root, answer };
};
