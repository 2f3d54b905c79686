// The k positions being decoded, and the revealed tokens that are not in the KV cache yet; both of
// sbd_core/decoding/sbd.py.

import { cutAfterEnd, makeHindsight, sixDigits } from "./state.js";

/** @import { Logits } from "../model.js" */
/** @import { LogitStats } from "../stats.js" */
/** @import { DecodingState, Hindsight, Reveal } from "./state.js" */

/** Revealed tokens that the next forward pass reads, and with it scores. */
export class PendingTokens {
  /** @param {LogitStats} before of the prompt's last token alone */
  constructor(before) {
    /** @type {number[]} */
    this.tokenIds = [];
    this.start = 0;
    this.before = before.kept(0);
  }

  /**
   * What the causal rows say of the tokens, a row for each, which are then in the cache. A token is
   * scored by the row of the token before it.
   * @param {LogitStats} stats
   * @returns {Hindsight[]}
   */
  rescoreAndClear(stats) {
    const last = this.tokenIds.length - 1;
    const hindsight = [
      ...makeHindsight(this.tokenIds.slice(0, 1), this.before, this.start),
      ...makeHindsight(this.tokenIds.slice(1), stats.rows(0, last), this.start + 1),
    ];
    this.start += this.tokenIds.length;
    this.before = stats.kept(last);
    this.tokenIds = [];
    return hindsight;
  }
}

export class Block {
  /**
   * @param {DecodingState} state
   * @param {number} start
   * @param {number} size
   */
  constructor(state, start, size) {
    const { maskId, endIds, settings } = state;
    const pinned = new Map(settings.pinned);
    this.start = start;
    this.size = size;
    this.maskId = maskId;
    this.endIds = endIds;
    this.tokenIds = Array.from(
      { length: size },
      (_, offset) => pinned.get(start + offset) ?? maskId,
    );
    const texts = settings.pinned.filter(([, tokenId]) => !endIds.has(tokenId));
    const furthest = Math.max(0, ...texts.map(([offset]) => offset - start));
    this.numBeforePins = Math.min(furthest, size);
  }

  get span() {
    return { start: this.start, size: this.size };
  }

  /**
   * Make the ends impossible that would cut off a token pinned later.
   * @param {Logits} logits whose rows from `first` on are the block's
   * @param {number} first
   */
  keepOpen(logits, first) {
    for (let offset = 0; offset < this.numBeforePins; offset += 1) {
      const row = logits.row(first + offset);
      for (const id of this.endIds) row[id] = -Infinity;
    }
  }

  /** What the block adds to the answer, null while a mask stands before its end. */
  get finalTokenIds() {
    const known = cutAfterEnd(this.tokenIds, this.endIds);
    return known.includes(this.maskId) ? null : known;
  }

  /** Offsets that are masked and before the first end-of-sequence known. */
  masked() {
    const beforeEnd = cutAfterEnd(this.tokenIds, this.endIds);
    return [...beforeEnd.keys()].filter((offset) => beforeEnd[offset] === this.maskId);
  }

  /**
   * Fix the tokens at offsets `order`, out of one for every position of the block.
   * @param {number[]} order
   * @param {number[]} tokenIds
   * @param {LogitStats} stats
   * @returns {Reveal[]}
   */
  reveal(order, tokenIds, stats) {
    const probabilities = stats.tokenProbabilities(tokenIds);
    return order.map((offset, rank) => {
      const tokenId = tokenIds[offset] ?? 0;
      this.tokenIds[offset] = tokenId;
      const probability = sixDigits(probabilities[offset] ?? 0);
      return { position: this.start + offset, tokenId, rank, probability };
    });
  }
}
