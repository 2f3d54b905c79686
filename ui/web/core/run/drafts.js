// What became of drafts: verify checks the tokens that one forward pass drafted in the next, keeps
// those that next-token prediction would have said, and throws the rest away; predrafts stand ready for
// that, as branches under the tiles. Knows no DOM.

import { countOf } from "../numbers.js";

/** @import { Lane } from "./lane.js" */
/** @import { Block, Config, Predraft } from "./wire.js" */

/**
 * Whether a run by verify may read alternatives to drafted tokens.
 * @param {Pick<Config, "row_policy" | "temperature">} config
 */
export function readsAlternatives({ row_policy = "fixed", temperature = 0 }) {
  return row_policy !== "fixed" && temperature === 0;
}

/**
 * The alternative that was right where the draft was not.
 * @param {Predraft[]} predrafts
 */
export function rightAlternative(predrafts) {
  return predrafts.find(({ isUsed, alternative }) => isUsed && alternative !== undefined);
}

/**
 * The draft that `pass` checked.
 * @param {Lane} lane
 * @param {number} pass
 * @returns {{ start: number, tokens: number[], numAccepted: number }}
 */
export function checkedDraft(lane, pass) {
  const [before, step] = [lane.steps[pass - 1], lane.steps[pass]];
  if (!before?.draft.length || !step) return { start: 0, tokens: [], numAccepted: 0 };
  const tokens = before.draft;
  const firstOther = tokens.findIndex((token, index) => step.committed[index] !== token);
  return {
    start: before.committedBefore + before.committed.length,
    tokens,
    numAccepted: firstOther < 0 ? tokens.length : firstOther,
  };
}

/**
 * Outcome at `pass` of a position that may have been drafted.
 * @param {Lane} lane
 * @param {number} pass
 * @param {number} position
 * @returns {{ drafted: number | undefined, isAccepted: boolean }} drafted: the token, if there was one
 */
export function draftedAt(lane, pass, position) {
  const { start, tokens, numAccepted } = checkedDraft(lane, pass);
  return { drafted: tokens[position - start], isAccepted: position - start < numAccepted };
}

/**
 * column: of the token that may be thrown away, from 0. numHidden: tokens behind the last column.
 * @typedef {Predraft & { column: number, numHidden: number }} Branch
 */

/**
 * @param {Predraft[]} predrafts
 * @param {Block} window the positions that the tiles show
 * @returns {Branch[]}
 */
export function branchesOf(predrafts, window) {
  return predrafts
    .filter((predraft) => predraft.tokens.length)
    .sort((a, b) => b.position - a.position)
    .map((predraft) => {
      const exact = predraft.position - window.start;
      const isBehind = predraft.alternative !== undefined;
      const column = isBehind ? exact - 1 : exact;
      const room = Math.max(window.size - exact - (isBehind ? 0 : 1), 0);
      const tokens = predraft.tokens.slice(0, room);
      return { ...predraft, column, tokens, numHidden: predraft.tokens.length - tokens.length };
    });
}

/**
 * Describes what became of them, in a sentence or two. A block whose first guess was too unsure has no tokens.
 * @param {Predraft[]} predrafts
 */
export function branchWords(predrafts) {
  const drafts = predrafts.filter(({ tokens }) => tokens.length);
  const numNone = predrafts.length - drafts.length;
  const none = numNone
    ? `${countOf(numNone, "block")} of masks gave no predraft: the first guess was too unsure.`
    : "";
  if (!drafts.length) return none || "No predraft was made in this forward pass.";
  const count = countOf(drafts.length, "predraft");
  const became = drafts.some(({ isUsed }) => isUsed)
    ? `${count} made; the check threw away a token for which one was ready, and that one is the draft now.`
    : `${count} made in case the check throws a token away; this time none was needed.`;
  return none ? `${became} ${none}` : became;
}

/**
 * Describes what became of the alternatives to drafted tokens, in a sentence.
 * @param {Predraft[]} predrafts
 * @param {boolean} isAccepted whether the check threw no drafted token away
 */
export function alternativeWords(predrafts, isAccepted) {
  const right = rightAlternative(predrafts);
  const isReady = !right && predrafts.some(({ isUsed }) => isUsed);
  const count = predrafts.filter(({ alternative }) => alternative !== undefined).length;
  const ready = isReady ? "; a predraft was ready" : "";
  if (!count) return `No alternative to a drafted token was read in this forward pass${ready}.`;
  const [read, one, none] =
    count === 1
      ? ["1 alternative to a drafted token was read", "it was", "it was not"]
      : [`${count} alternatives to drafted tokens were read`, "one of them was", "none was"];
  if (isReady) return `${read}, but ${none} right${ready}.`;
  const became = right ? `${one} right` : `${none} ${isAccepted ? "needed" : "right"}`;
  return `${read} beside the draft; ${became}.`;
}
