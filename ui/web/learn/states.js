// What scenes show of their runs: who may look at whom, what a call does with a block, which words
// clash. Knows no DOM.

/** @import { Run } from "../core/run/run.js" */
/** @import { Edge } from "./lesson.js" */

/**
 * Whether a place may look at another; the first `numWritten` are text, the others a block.
 * @param {number} row who looks
 * @param {number} column at whom
 * @param {number} numWritten
 */
export function mayLook(row, column, numWritten) {
  return row < numWritten ? column <= row : true;
}

/**
 * What a block of the answer is in a forward pass.
 * @param {Run} run
 * @param {number} pass
 * @param {number} start of the block
 * @returns {"ahead" | "block" | "riding" | "cached"}
 */
export function blockState(run, pass, start) {
  const step = run.main.steps[pass];
  const prompt = run.main.steps[0]?.causal ?? 0;
  if (!step || (step.kind === "prefill" && pass === 0)) return "ahead";
  const cached = step.cached - prompt;
  if (start < cached) return "cached";
  if (start < cached + step.causal) return "riding";
  return step.block.start === start ? "block" : "ahead";
}

/**
 * Tokens of an answer as they are shown, the end-of-sequence left out; what clashes has its call.
 * @param {Edge} edge
 * @returns {{ text: string, isClash: boolean, isTogether: boolean, call: number }[]}
 */
export function storyPieces({ tokens, clashes }) {
  return tokens
    .filter(([text]) => !/^<.*>$/.test(text))
    .map(([text, call], at) => {
      const here = clashes.filter(({ start, end }) => at >= start && at < end);
      const isTogether = here.some((clash) => clash.call === call);
      return { text, isClash: here.length > 0, isTogether, call: call + 1 };
    });
}
