// The decoding algorithms in plain words: which of their lines a forward pass executes, and the values of the variables
// then, from the trace alone.

import { tokenName } from "../core/letters.js";
import { cacheAt } from "../core/mask.js";
import { countOf, formatGamma, formatNats } from "../core/numbers.js";
import { checkedDraft, rightAlternative } from "../core/run.js";
import { SOLVER_LINES } from "../core/words.js";
import { make, setAttribute, setText } from "../dom/elements.js";
import { layOut } from "./budget.js";

/** @import { LaneStep, Run } from "../core/run.js" */
/** @import { CacheStep } from "../core/mask.js" */
/** @import { View } from "./playhead.js" */

/**
 * A line of an algorithm. depth: level of indentation. isLit: whether the forward pass executes it. values: "" if not.
 * @typedef {{ depth: number, words: string, isLit: boolean, values: string }} Line
 */
/** @typedef {{ title: string, lines: Line[] }} Program */
/** @typedef {{ run: Run, pass: number, step: LaneStep, cache: CacheStep, isPrefill: boolean }} Moment */
/** @typedef {[depth: number, words: string, isLit: boolean, values?: string]} LineParts */

const MAX_LISTED = 6;
const UNTIL = "Until the answer ends or reaches its limit:";

/**
 * Return the algorithms of the run's strategy, as a forward pass executes them.
 * @param {Run} run
 * @param {number} pass
 * @returns {Program[]}
 */
export function programsAt(run, pass) {
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

/** @param {string} title @param {LineParts[]} parts @returns {Program} */
function program(title, parts) {
  const lines = parts.map(([depth, words, isLit, values = ""]) => ({
    depth,
    words,
    isLit,
    values: isLit ? values : "",
  }));
  return { title, lines };
}

/** Return the number of this forward pass within its block, from 1. @param {Moment} moment */
function passOfBlock({ run, pass, step }) {
  let first = pass;
  while (first > 0) {
    const before = run.main.steps[first - 1];
    if (before?.block.start !== step.block.start) break;
    if (!before.block.size || before.kind === "prefill") break;
    first -= 1;
  }
  return pass - first + 1;
}

/** @param {Moment} moment @returns {LineParts[]} */
function answerLines(moment) {
  const { run, step, cache, isPrefill } = moment;
  const { start, size } = step.block;
  const isFirst = !isPrefill && passOfBlock(moment) === 1;
  // Given tokens between the text and the block come before the block, and are added with it.
  const before = size ? start : step.committedBefore;
  const done = step.committedBefore + step.committed.length;
  const text = `t = ${run.numPrompt + before}`;
  /** @type {LineParts} */
  const alone = [
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

/** @param {Moment} moment @returns {LineParts[]} */
function blockLines(moment) {
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

/** @param {Run} run */
function ruleWords(run) {
  if (run.solver.name === "entropy-bound") {
    return "Sort by entropy; choose the most positions s with H₁ + … + H₍s−1₎ ≤ γ, at least one.";
  }
  return `Choose: ${SOLVER_LINES[/** @type {keyof typeof SOLVER_LINES} */ (run.solver.name)] ?? run.solver.name}`;
}

/** @param {Run} run @param {number} pass */
function choiceWords(run, pass) {
  const positions = new Set((run.main.steps[pass]?.reveals ?? []).map(({ position }) => position));
  const { spent, next, digits, count, hasGamma, isSum } = layOut(run, pass, positions);
  if (!hasGamma || !isSum) return `s = ${count}`;
  const gamma = formatGamma(run.solver.gamma ?? 0);
  const more = next?.toFixed(digits);
  const over = Number(more) > Number(gamma) ? `; s = ${count + 1}: ${more}` : "";
  return `s = ${count}: ${spent.toFixed(digits)} ≤ γ = ${gamma}${over}`;
}

/** @param {number[]} entropies */
function entropyWords(entropies) {
  const sorted = [...entropies].sort((a, b) => a - b);
  const shown = sorted.slice(0, MAX_LISTED).map(formatNats);
  const last = sorted.at(-1) ?? 0;
  const rest = sorted.length > MAX_LISTED ? ` … ${formatNats(last)}` : "";
  return `H = ${shown.join(", ")}${rest}`;
}

/** @param {Run} run @param {number[]} tokens */
function namesOf(run, tokens) {
  const shown = tokens.slice(0, MAX_LISTED).map((token) => tokenName(run.tokenText(token)));
  return (
    shown.join(" ") + (tokens.length > MAX_LISTED ? ` and ${tokens.length - MAX_LISTED} more` : "")
  );
}

/** @param {Moment} moment @returns {LineParts[]} */
function verifyLines({ run, pass, step, cache, isPrefill }) {
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

/** @param {Moment} moment @returns {LineParts[]} */
function ntpLines({ run, step, cache, isPrefill }) {
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

/** @param {Line} line */
function makeLine({ depth, words }) {
  const values = make("span", "sbd-hood-values");
  const root = make(
    "li",
    "sbd-hood-line",
    { "data-depth": depth },
    make("span", "", words),
    values,
  );
  return { root, values };
}

/** The algorithms on the page, with the lines highlighted that the forward pass executes. */
export class Programs {
  constructor() {
    this.shape = "";
    /** @type {{ root: HTMLElement, values: HTMLElement }[]} */
    this.lines = [];
    this.body = make("div", "sbd-hood-program");
    const summary = make("summary", "", "Lines of the algorithm");
    this.root = make("details", "sbd-hood-programs", summary, this.body);
  }

  /** @param {View} view */
  update({ run, pass }) {
    const programs = programsAt(run, pass);
    const lines = programs.flatMap((each) => each.lines);
    const shape = lines.map(({ words }) => words).join("\n");
    if (shape !== this.shape) {
      this.shape = shape;
      this.lines = lines.map(makeLine);
      let next = 0;
      const parts = programs.map(({ title, lines: own }) => {
        const nodes = this.lines.slice(next, next + own.length).map(({ root }) => root);
        next += own.length;
        return make("div", "", make("h3", "", title), make("ol", "sbd-hood-code", ...nodes));
      });
      this.body.replaceChildren(...parts);
    }
    lines.forEach(({ isLit, values }, index) => {
      const line = this.lines[index];
      if (!line) return;
      line.root.classList.toggle("is-lit", isLit);
      setAttribute(line.root, "aria-current", isLit ? "step" : "false");
      setText(line.values, values);
    });
  }
}
