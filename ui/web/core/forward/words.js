// An attention mask in sentences: for who reads by ear, and for the row that is pointed at.
// Knows no DOM.

import { countOf } from "../numbers.js";
import { tokenName } from "../text/letters.js";
import { rowText } from "./mask.js";

/** @import { Run } from "../run/run.js" */
/** @import { Mask, Row } from "./mask.js" */

/** @type {Readonly<Record<import("./mask.js").RowKind, string>>} */
export const ROW_NAMES = {
  prompt: "the prompt",
  final: "final by now, riding along to the cache",
  exact: "the last exact token",
  draft: "the draft being checked",
  block: "the block",
  given: "the block, given",
  ahead: "drafted ahead",
};

/**
 * What the rows of a mask see, a sentence a group.
 * @param {Mask} mask
 * @param {Row[]} rows
 */
export function maskSentences(mask, rows) {
  const { numCached, numCausal, blocks } = mask;
  const cached = numCached ? `all ${countOf(numCached, "cached token")}` : "";
  const sentences = [];
  if (numCausal === 1) {
    sentences.push(`1 token is read causally: it sees ${join([cached, "itself"])}.`);
  } else if (numCausal) {
    const who = rows[0]?.kind === "prompt" ? "tokens of the prompt" : "tokens";
    const seen = join([cached, "those of them to its left", "itself"]);
    sentences.push(
      `${numCausal} ${who} are read causally: each sees ${seen}, nothing to its right.`,
    );
  }
  blocks.forEach(({ seen, size }, index) => {
    const name =
      rows[numCausal]?.kind === "ahead" || index > 0 ? "A block of masks read ahead" : "The block";
    const before = seen ? `${countOf(seen, "causal token")} before it` : "";
    const own = `all ${countOf(size, "position")} of its own, to the left and to the right`;
    sentences.push(`${name}: each of ${countOf(size, "row")} sees ${join([cached, before, own])}.`);
  });
  return sentences;
}

/**
 * Why a forward pass of verify read fewer masks than the block size says; "" where it did not.
 * @param {Pick<Run, "strategy" | "blockSize">} run
 * @param {number} numMasks
 */
export function fewMasksWords({ strategy, blockSize }, numMasks) {
  if (strategy !== "verify" || numMasks >= blockSize) return "";
  return numMasks
    ? `Of at most ${blockSize} masks, the block size, it reads ${numMasks}: fewer after a forward pass ` +
        "that gave few tokens, or near the limit of the answer’s length."
    : "It reads no masks behind the draft, which ends the answer or reaches the limit of its length.";
}

/**
 * What one row sees.
 * @param {Run} run
 * @param {Mask} mask
 * @param {Row[]} rows
 * @param {number} index
 */
export function rowSentence(run, mask, rows, index) {
  const row = rows[index];
  const visible = mask.visible[index];
  if (!row || !visible) return "";
  const who = row.isMask ? "the mask token" : tokenName(rowText(run, row));
  const place = row.position < 0 ? "of the prompt" : `at position ${row.position}`;
  const { seen, first, stop } = visible;
  const isCausal = index < mask.numCausal;
  const parts = [mask.numCached ? `the ${countOf(mask.numCached, "cached token")}` : ""];
  if (isCausal) parts.push(index ? `${countOf(index, "row")} above it` : "", "itself");
  else
    parts.push(
      seen ? `${countOf(seen, "causal row")}` : "",
      `its block of ${stop - first}, both ways`,
    );
  const all = mask.numCached + mask.visible.length;
  const count = mask.numCached + seen + (stop - first);
  return `Row ${index + 1}, ${who} ${place} (${ROW_NAMES[row.kind]}), may attend to ${join(parts)}: ${count} of ${all} keys.`;
}

/**
 * What is said under the mask of next-token prediction.
 * @param {Run} run
 * @param {Mask} mask of the run's own forward pass
 * @param {Mask} beside
 * @param {number} numPrompt
 */
export function besideWords(run, mask, beside, numPrompt) {
  if (!beside.visible.length) return "Nothing is left to write, so it reads nothing more.";
  const one = countOf(beside.visible.length, "row");
  if (!mask.numCached) {
    const isSame = mask.visible.length === beside.visible.length;
    return isSame
      ? `${one}, the same: it reads the prompt.`
      : `${one}: it reads the prompt, without masks behind it.`;
  }
  if (beside.numCached === numPrompt) {
    return `With only the prompt in its cache, it reads ${one}, the first token of its answer, and writes one token.`;
  }
  const text = run.strategy === "sbd" ? "the text before the block" : "the same final text";
  return `Given ${text}, it reads ${one} and writes one token.`;
}

/** @param {string[]} parts */
function join(parts) {
  const kept = parts.filter(Boolean);
  if (kept.length < 2) return kept.join("");
  return `${kept.slice(0, -1).join(", ")} and ${kept.at(-1)}`;
}
