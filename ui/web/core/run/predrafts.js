// Drafts made ahead as branches under the tiles: each hangs behind its token, its tokens in the
// columns of their positions, the rightmost branch on top so that no line crosses. Knows no DOM.

import { countOf } from "../numbers.js";

/** @import { Predraft, Block } from "./wire.js" */

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
    .filter(({ tokens }) => tokens.length)
    .sort((a, b) => b.position - a.position)
    .map((predraft) => {
      const column = predraft.position - window.start;
      const room = Math.max(window.size - column - 1, 0);
      const tokens = predraft.tokens.slice(0, room);
      return { ...predraft, column, tokens, numHidden: predraft.tokens.length - tokens.length };
    });
}

/**
 * What became of them, in a sentence or two. A block whose first guess was too unsure has no tokens.
 * @param {Predraft[]} predrafts
 */
export function branchWords(predrafts) {
  const drafts = predrafts.filter(({ tokens }) => tokens.length);
  const numNone = predrafts.length - drafts.length;
  const none = numNone
    ? `${countOf(numNone, "block")} of masks read ahead gave no draft: the first guess was too unsure.`
    : "";
  if (!drafts.length) return none || "No draft was made ahead in this forward pass.";
  const count = countOf(drafts.length, "draft");
  const became = drafts.some(({ isUsed }) => isUsed)
    ? `${count} made ahead; a token was thrown away where one was ready: it is the draft now.`
    : `${count} made ahead in case a token is thrown away; not needed this time.`;
  return none ? `${became} ${none}` : became;
}
