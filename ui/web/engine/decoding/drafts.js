// A draft: guesses for the positions after the exact tokens; sbd_core/decoding/drafts.py.

import { cutAfterEnd } from "./state.js";

/** @import { Row } from "../stats.js" */

/**
 * Guesses for the positions after the exact tokens.
 * @typedef {object} Draft
 * @property {number[]} tokenIds
 * @property {number[]} probabilities of the most likely token at each
 * @property {[tokenId: number, probability: number][][]} alternatives for each token others that could
 *   stand there, likeliest first
 * @property {number} numSure of the first tokens, those that the causal head gave behind an alternative
 */

/** @type {Draft} */
export const EMPTY_DRAFT = {
  tokenIds: [],
  probabilities: [],
  alternatives: [],
  numSure: 0,
};

/**
 * A draft behind tokens that are nearly sure.
 * @param {number[]} sure
 * @param {Draft} draft
 * @returns {Draft}
 */
export function behind(sure, draft) {
  if (!sure.length) return draft;
  return {
    tokenIds: [...sure, ...draft.tokenIds],
    probabilities: [...sure.map(() => 1), ...draft.probabilities],
    alternatives: [...sure.map(() => []), ...draft.alternatives],
    numSure: sure.length,
  };
}

/**
 * The draft that a block's rows make; its first position is known exactly by another row.
 * @param {Row[]} rows
 * @param {number} length of the draft, unless it ends before
 * @param {Set<number>} endIds
 * @returns {Draft}
 */
export function draftOf([, ...rows], length, endIds) {
  const ids = rows.slice(0, length).map(({ bestId }) => bestId);
  const tokenIds = cutAfterEnd(ids, endIds);
  const own = rows.slice(0, tokenIds.length);
  return {
    tokenIds,
    probabilities: own.map(({ probability }) => probability),
    alternatives: own.map((row) => othersOf(row, endIds)),
    numSure: 0,
  };
}

/**
 * The tokens listed of a row but the best. An end is no use: where the answer ends the check says so,
 * and nothing stands behind it.
 * @param {Row} row
 * @param {Set<number>} endIds
 */
function othersOf({ topIds, topProbabilities }, endIds) {
  const listed = topIds.map((id, rank) => {
    return /** @type {[number, number]} */ ([id, topProbabilities[rank] ?? 0]);
  });
  return listed.slice(1).filter(([id]) => !endIds.has(id));
}
