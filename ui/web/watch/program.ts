// The decoding algorithms in plain words: which of their lines a forward pass executes, and the values of the variables
// then, from the trace alone.

import { html, render } from "lit-html";
import { tokenName } from "../core/letters.ts";
import { type CacheStep, cacheAt } from "../core/mask.ts";
import { countOf, formatGamma, formatNats } from "../core/numbers.ts";
import { checkedDraft, type LaneStep, type Run, rightAlternative } from "../core/run.ts";
import { SOLVER_LINES } from "../core/words.ts";
import { make } from "../dom/elements.ts";
import { layOut } from "./budget.ts";
import type { View } from "./playhead.ts";

/**
 * A line of an algorithm. depth: level of indentation. isLit: whether the forward pass executes it. values: "" if
 * not.
 */
type Line = { depth: number; words: string; isLit: boolean; values: string };
type Program = { title: string; lines: Line[] };
type Moment = { run: Run; pass: number; step: LaneStep; cache: CacheStep; isPrefill: boolean };
type LineParts = [depth: number, words: string, isLit: boolean, values?: string];

const MAX_LISTED = 6;
const UNTIL = "Until the answer ends or reaches its limit:";

/** Return the algorithms of the run's strategy, as a forward pass executes them. */
export function programsAt(run: Run, pass: number): Program[] {
  const step = run.main.steps[pass];
  const cache = cacheAt(run, pass);
  if (!step || !cache) return [];
  const moment = { run, pass, step, cache, isPrefill: step.kind === "prefill" };
  if (run.strategy === "ntp") return [program("Next-token prediction", ntpLines(moment))];
  if (run.strategy === "verify") return [program("Draft and verify", verifyLines(moment))];
  return [
    program("Algorithm 2 · the answer, block after block", answerLines(moment)),
    program("Algorithm 3 · one block", blockLines(moment)),
  ];
}

function program(title: string, parts: LineParts[]): Program {
  const lines = parts.map(([depth, words, isLit, values = ""]) => ({
    depth,
    words,
    isLit,
    values: isLit ? values : "",
  }));
  return { title, lines };
}

/** Return the number of this forward pass within its block, from 1. */
function passOfBlock({ run, pass, step }: Moment) {
  let first = pass;
  while (first > 0) {
    const before = run.main.steps[first - 1];
    if (before?.block.start !== step.block.start) break;
    if (!before.block.size || before.kind === "prefill") break;
    first -= 1;
  }
  return pass - first + 1;
}

function answerLines(moment: Moment): LineParts[] {
  const { run, step, cache, isPrefill } = moment;
  const { start, size } = step.block;
  const isFirst = !isPrefill && passOfBlock(moment) === 1;
  // Given tokens between the text and the block come before the block, and are added with it.
  const before = size ? start : step.committedBefore;
  const done = step.committedBefore + step.committed.length;
  const text = `t = ${run.numPrompt + before}`;
  const alone: LineParts = [
    1,
    "If all that is left was given, one forward pass reads it without a block.",
    !isPrefill && size === 0,
    countOf(step.causal, "row"),
  ];
  return [
    [0, "Read the prompt causally; keep its keys and values.", isPrefill, `t = ${cache.after}`],
    [0, UNTIL, !isPrefill, text],
    ...(run.pins.size ? [alone] : []),
    [
      1,
      "Put a block of k mask tokens behind the text.",
      isFirst && size > 0,
      `k = ${size}, positions ${start} to ${start + size - 1}`,
    ],
    [
      1,
      "Fill it in: Algorithm 3.",
      !isPrefill && size > 0,
      `forward pass ${passOfBlock(moment)} of it`,
    ],
    [
      1,
      "Add what is final to the answer; the next forward pass, if there is one, reads it causally.",
      step.committed.length > 0,
      `+ ${countOf(done - before, "token")}, ${done} in all`,
    ],
  ];
}

function blockLines(moment: Moment): LineParts[] {
  const { run, step, pass, isPrefill } = moment;
  const { size } = step.block;
  const isAtWork = !isPrefill && size > 0;
  const masked = [...step.masked.values()];
  const isFirst = isAtWork && passOfBlock(moment) === 1;
  const rows = step.causal
    ? `${step.causal} + ${size} rows`
    : `${countOf(size, "row")}${isFirst ? ", all before it is cached" : ""}`;
  const kept = step.causal ? `${step.causal} kept, ` : "";
  const chosen = step.reveals;
  return [
    [
      0,
      "While the block holds a mask:",
      isAtWork && masked.length > 0,
      countOf(masked.length, "mask"),
    ],
    [
      1,
      "First time: one forward pass reads the block before, if there is one, causally, and this block both ways.",
      isFirst,
      rows,
    ],
    [
      1,
      "Other times: one forward pass reads this block alone, both ways.",
      isAtWork && !isFirst,
      rows,
    ],
    [
      1,
      "Keep the keys and values of causal tokens; drop the block’s.",
      isAtWork,
      `${kept}${size} dropped`,
    ],
    [
      1,
      "At every mask i: the prediction pᵢ and its entropy Hᵢ.",
      masked.length > 0,
      entropyWords(masked.map(({ entropy }) => entropy)),
    ],
    [1, ruleWords(run), chosen.length > 0, choiceWords(run, pass)],
    [
      1,
      "Write the likeliest token at each position chosen.",
      chosen.length > 0,
      namesOf(
        run,
        chosen.map(({ token }) => token),
      ),
    ],
  ];
}

function ruleWords(run: Run) {
  if (run.solver.name === "entropy-bound") {
    return "Sort by entropy; choose the most positions s with H₁ + … + H₍s−1₎ ≤ γ, at least one.";
  }
  return `Choose: ${SOLVER_LINES[(run.solver.name as keyof typeof SOLVER_LINES)] ?? run.solver.name}`;
}

function choiceWords(run: Run, pass: number) {
  const positions = new Set((run.main.steps[pass]?.reveals ?? []).map(({ position }) => position));
  const { spent, next, digits, count, hasGamma, isSum } = layOut(run, pass, positions);
  if (!hasGamma || !isSum) return `s = ${count}`;
  const gamma = formatGamma(run.solver.gamma ?? 0);
  const more = next?.toFixed(digits);
  const over = Number(more) > Number(gamma) ? `; s = ${count + 1}: ${more}` : "";
  return `s = ${count}: ${spent.toFixed(digits)} ≤ γ = ${gamma}${over}`;
}

function entropyWords(entropies: number[]) {
  const sorted = [...entropies].sort((a, b) => a - b);
  const shown = sorted.slice(0, MAX_LISTED).map(formatNats);
  const last = sorted.at(-1) ?? 0;
  const rest = sorted.length > MAX_LISTED ? ` … ${formatNats(last)}` : "";
  return `H = ${shown.join(", ")}${rest}`;
}

function namesOf(run: Run, tokens: number[]) {
  const shown = tokens.slice(0, MAX_LISTED).map((token) => tokenName(run.tokenText(token)));
  return (
    shown.join(" ") + (tokens.length > MAX_LISTED ? ` and ${tokens.length - MAX_LISTED} more` : "")
  );
}

function verifyLines({ run, pass, step, cache, isPrefill }: Moment): LineParts[] {
  const { tokens: drafted, numAccepted } = checkedDraft(run.main, pass);
  const numDrafted = drafted.length;
  const own = step.committed[numAccepted];
  const exact = own === undefined ? "" : tokenName(run.tokenText(own));
  const right = rightAlternative(step.predrafts);
  const behind = right && step.draft[0];
  const predraft = step.predrafts.find(({ isUsed }) => isUsed);
  return [
    [0, "Read the prompt causally, with masks behind it.", isPrefill, `t = ${step.causal}`],
    [0, UNTIL, !isPrefill, `t = ${run.numPrompt + step.committedBefore}, ${cache.before} cached`],
    [
      1,
      "One forward pass reads the last exact token, the draft, alternatives to its tokens and new masks.",
      !isPrefill,
      `${step.causal - numDrafted} + ${numDrafted} + ${cache.dropped} rows`,
    ],
    [
      1,
      "Keep the draft as far as the causal rows agree with it.",
      !isPrefill && numDrafted > 0,
      `${numAccepted} of ${numDrafted} accepted`,
    ],
    [
      1,
      "Add the next token that the causal rows give, which is exact, unless the answer has ended.",
      own !== undefined,
      exact,
    ],
    [
      1,
      "If that token was read as an alternative, the one that its own row gives begins the next draft.",
      behind !== undefined,
      namesOf(run, behind === undefined ? [] : [behind]),
    ],
    [
      1,
      "Take back the keys and values of rejected tokens; drop those of alternatives and masks.",
      !isPrefill,
      `${cache.rejected} taken back, ${cache.dropped} dropped`,
    ],
    [
      1,
      "The masks’ predictions are the next draft, as far as they are sure.",
      step.draft.length > 0 && !predraft,
      namesOf(run, step.draft),
    ],
    [
      1,
      "After a rejection, use the predraft for it, if there is one.",
      predraft !== undefined,
      namesOf(run, step.draft),
    ],
  ];
}

function ntpLines({ run, step, cache, isPrefill }: Moment): LineParts[] {
  return [
    [0, "Read the prompt causally; keep its keys and values.", isPrefill, `t = ${cache.after}`],
    [0, UNTIL, !isPrefill, `t = ${run.numPrompt + step.committedBefore}`],
    [
      1,
      "One forward pass reads the newest token alone; keep its key and value.",
      !isPrefill,
      "1 row",
    ],
    [
      0,
      "Add the likeliest next token to the answer.",
      step.committed.length > 0,
      namesOf(run, step.committed),
    ],
  ];
}

/** The algorithms on the page, with the lines highlighted that the forward pass executes. */
export class Programs {
  body = make("div", "sbd-hood-program");
  summary = make("summary", "", "Lines of the algorithm");
  root = make("details", "sbd-hood-programs", this.summary, this.body);

  update({ run, pass }: View) {
    const line = ({ depth, words, isLit, values }: Line) =>
      html`<li
        class="sbd-hood-line ${isLit ? "is-lit" : ""}"
        data-depth=${depth}
        aria-current=${isLit ? "step" : "false"}
      >
        <span>${words}</span><span class="sbd-hood-values">${values}</span>
      </li>`;
    const programs = programsAt(run, pass).map(
      ({ title, lines }) =>
        html`<div>
          <h3>${title}</h3>
          <ol class="sbd-hood-code">${lines.map(line)}</ol>
        </div>`,
    );
    render(programs, this.body);
  }
}
