// A draft: guesses for the positions after the exact tokens; sbd_core/decoding/drafts.py.

import { cutAfterEnd } from "./state.js";

/** @import { Row } from "../sampling.js" */

/**
 * Guesses for the positions after the exact tokens.
 * @typedef {object} Draft
 * @property {number[]} tokenIds
 * @property {number[]} probabilities the most likely token's at each position
 * @property {[tokenId: number, probability: number][][]} alternatives for each token others that could
 *   stand there, likeliest first
 * @property {number} numSure number of leading tokens that the causal head gave behind an alternative
 */

/** @type {Draft} */
export const EMPTY_DRAFT = { tokenIds: [], probabilities: [], alternatives: [], numSure: 0 };

/**
 * The same draft behind tokens that are nearly sure.
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
 * The draft that a block's rows make; another row gives the token of its first position exactly. An end
 * is no alternative: where the answer ends the check says so, and nothing stands behind it.
 * @param {Row[]} rows
 * @param {number} length tokens to draft, unless the text ends before
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
    alternatives: own.map(({ top }) => top.slice(1).filter(([id]) => !endIds.has(id))),
    numSure: 0,
  };
}
