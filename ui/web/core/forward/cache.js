// The KV cache round one forward pass: what was there, what it wrote and kept, what was dropped,
// and why what stays is exact. From the trace alone; knows no DOM.

import { countOf } from "../numbers.js";
import { checkedDraft } from "../run/drafts.js";
import { blocksOf } from "./mask.js";

/** @import { Lane } from "../run/lane.js" */
/** @import { Run } from "../run/run.js" */

/**
 * Tokens of the cache, counted from the start of the prompt. `rejected` were written and taken back,
 * `dropped` are the rows of blocks, whose keys and values never stay, `alternatives` included, which
 * were read beside drafted tokens.
 * @typedef {object} CacheStep
 * @property {number} numPrompt
 * @property {number} before
 * @property {number} after
 * @property {number} rejected
 * @property {number} dropped
 * @property {number} alternatives
 */

/** @param {Run} run @param {number} pass @returns {CacheStep | null} */
export function cacheAt(run, pass) {
  const { main: lane, numPrompt } = run;
  const step = lane.steps[pass];
  if (!step) return null;
  const written = step.cached + step.causal;
  const after = Math.min(lane.steps[pass + 1]?.cached ?? lastLength(lane, pass), written);
  const dropped = blocksOf(step, lane.name, numPrompt).reduce((sum, { size }) => sum + size, 0);
  const alternatives = step.predrafts.filter(({ alternative }) => alternative !== undefined).length;
  return {
    numPrompt,
    before: step.cached,
    after,
    rejected: written - after,
    dropped,
    alternatives,
  };
}

/**
 * The cache after a pass that none follows yet: verify keeps the drafted tokens it accepted.
 * @param {Lane} lane
 * @param {number} pass
 */
function lastLength(lane, pass) {
  const step = lane.steps[pass];
  if (!step) return 0;
  const written = step.cached + step.causal;
  if (lane.name !== "verify") return written;
  const { tokens, numAccepted } = checkedDraft(lane, pass);
  return written - tokens.length + numAccepted;
}

/**
 * Says how the forward pass changed the cache, and why that is exact.
 * @param {Lane} lane
 * @param {number} pass
 * @param {CacheStep} cache
 */
export function cacheSentences(lane, pass, cache) {
  const { before, after, rejected, dropped, alternatives } = cache;
  const numMasked = dropped - alternatives;
  const kept = after - before;
  const step = lane.steps[pass];
  const sentences = [];
  if (!kept) sentences.push(`Nothing is added: the cache stays at ${countOf(after, "token")}.`);
  else
    sentences.push(
      `${countOf(kept, "token")} written: the cache grows from ${before} to ${after}.`,
    );
  if (kept && step && lane.name === "sbd" && step.kind !== "prefill") {
    sentences.push(
      "They became final since the last tokens were written (the block before, and what was given after it). The model read them causally: each saw only what stands to its left, so its keys and values are those that next-token prediction would have stored.",
      step.block.size
        ? "They are exact, and the forward pass was needed anyway."
        : "Exact. All that was left of the answer was given, so this forward pass reads it without a block.",
    );
  } else if (kept) {
    sentences.push(
      "Each was read causally and saw only what stands to its left: its keys and values are those of next-token prediction, exact.",
    );
  }
  if (rejected) {
    sentences.push(
      `${countOf(rejected, "drafted token")} written and taken back: read causally, the model gave another token there, so all behind it is of a text that will not be.`,
    );
  }
  if (numMasked) {
    sentences.push(
      `The keys and values of ${countOf(numMasked, "block row")} are dropped: they were made while masks stood in the block and looked to the right, so a causal model would not have them.`,
    );
  }
  if (alternatives) {
    const isRight = step?.predrafts.some((each) => each.isUsed && each.alternative !== undefined);
    const again = isRight ? "; the one that was right is read again next, for the cache" : "";
    sentences.push(
      `Those of ${countOf(alternatives, "alternative")} are dropped too, as each stood beside a drafted token${again}.`,
    );
  }
  return sentences;
}
