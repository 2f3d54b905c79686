// The scene “The block is done”: what each forward pass reads, what it stores in the KV cache, and what it does not.

import { html } from "lit-html";
import { tokenName } from "../../core/letters.ts";
import { countOf } from "../../core/numbers.ts";
import type { Lane, Run } from "../../core/run.ts";
import { classes, tokenTemplate } from "../../dom/templates.ts";
import { termTemplates } from "../../dom/terms.ts";
import { PlayedSlider } from "../parts.ts";
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

/** Return a row of the picture. @param middle the tokens */
function row(name: string, middle: unknown, state: keyof typeof WORDS) {
  return html`<div class="sbd-learn-block is-${state}">
    <span class="sbd-learn-block-name">${name}</span>${middle}
    <span class="sbd-learn-block-words">${WORDS[state]}</span>
  </div>`;
}

function block(run: Run, start: number, index: number, pass: number) {
  const cells = Array.from({ length: run.blockSize }, (_, offset) => {
    const position = start + offset;
    const item = run.main.fixedAt(position, pass);
    const look = classes({
      "is-full": item !== null,
      "is-new": item?.pass === pass,
      "is-doubted": run.main.disagrees(position, pass),
    });
    // Each cell is as wide from the start as its later token.
    const { length } = run.tokenText(run.main.fixed.get(position)?.token);
    return html`<span class="sbd-learn-cell ${look}" style="--letters: ${length}"
      >${tokenTemplate(item ? run.tokenText(item.token) : "\u200a")}</span>`;
  });
  const middle = html`<div class="sbd-learn-cells" aria-hidden="true">${cells}</div>`;
  return row(`Block ${index + 1}`, middle, blockState(run, pass, start));
}

export const makeCacheScene: MakeScene = ({ lesson, signal, onActed, say, draw }) => {
  const { text: run } = lesson.runs;
  const { main } = run;
  const starts = blockStarts(main);
  const words = (pass: number) => `${pass + 1} of ${main.steps.length}`;
  const sayPass = () => say(passWords(run, slider.value));
  const slider = new PlayedSlider(
    "Forward pass",
    main.lastPass,
    words,
    draw,
    onActed,
    sayPass,
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
  const read = countOf(main.steps[0]?.causal ?? 0, "token");
  const prompt = html`<div class="sbd-learn-prompt-box">${read}</div>`;
  const view = () =>
    html`<div class="sbd-learn-cache">
      <p>${termTemplates(CACHE)}</p>
      ${row("Prompt", prompt, "cached")}
      ${starts.map((start, index) => block(run, start, index, slider.value))}${slider.template}
      <p class="sbd-learn-count">${passWords(run, slider.value)}</p>
      <p class="sbd-learn-source">${SOURCE}</p>
    </div>`;
  return { view, answer };
};
