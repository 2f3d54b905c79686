// Set Block Decoding, Algorithms 2-3 of the paper; sbd_core/decoding/sbd.py. The first forward pass
// of a block also reads the block before it causally, which puts it in the KV cache;
// CausalFirstDecoding takes the block's first token from the last of those causal rows.

import { kept } from "../stats.js";
import { CAUSAL_FIRST } from "./settings.js";
import { ranked } from "./solvers.js";
import { cutAfterEnd, makeHindsight, maskedPositions, sixDigits } from "./state.js";

/** @import { Logits } from "../model.js" */
/** @import { Row } from "../stats.js" */
/** @import { DecodingState, Hindsight, Reveal, Span, Strategy } from "./state.js" */

/** Revealed tokens that the next forward pass reads, and with it scores. */
class PendingTokens {
  /** @param {Row} before of the prompt's last token */
  constructor(before) {
    /** @type {number[]} */
    this.tokenIds = [];
    this.start = 0;
    this.before = kept(before);
  }

  /**
   * Rescore the tokens by the causal rows, a row for each; they are then in the cache. A token is
   * scored by the row of the token before it.
   * @param {Row[]} rows
   */
  rescoreAndClear(rows) {
    const hindsight = makeHindsight(this.tokenIds, [this.before, ...rows], this.start);
    this.start += this.tokenIds.length;
    this.before = kept(rows.at(-1) ?? this.before);
    this.tokenIds = [];
    return hindsight;
  }
}

class Block {
  /** @param {DecodingState} state @param {number} start @param {number} size */
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

  /** Tokens that the block adds to the answer, null while a mask stands before its end. */
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
   * @param {Row[]} rows
   * @returns {Reveal[]}
   */
  reveal(order, rows) {
    return order.flatMap((offset, rank) =>
      rows.slice(offset, offset + 1).map(({ bestId, probability }) => {
        this.tokenIds[offset] = bestId;
        return [this.start + offset, bestId, rank, sixDigits(probability)];
      }),
    );
  }
}

class SetBlockDecoding {
  /** @param {DecodingState} state */
  constructor(state) {
    this.state = state;
    /** @type {PendingTokens | null} null before the prompt has been read */
    this.pending = null;
    /** @type {Block | null} */
    this.block = null;
    /** @type {number[]} tokens of wholly pinned blocks: committed by the next event */
    this.waiting = [];
  }

  nextRequest() {
    const { state, pending } = this;
    if (!pending) return state.request(state.promptIds, [], 1);
    if (!this.block) {
      if (state.isFinished) return null;
      this.block = this.nextBlock(pending);
    }
    return state.request([...pending.tokenIds], [...this.block.tokenIds], pending.tokenIds.length);
  }

  /**
   * The next block with a mask in it; of size 0 where nothing is left to predict.
   * @param {PendingTokens} pending
   */
  nextBlock(pending) {
    const { state, waiting } = this;
    for (;;) {
      const start = state.answer.length + waiting.length;
      const size = Math.min(state.settings.block_size, state.settings.max_new_tokens - start);
      const last = waiting.at(-1);
      if (last !== undefined && (!size || state.endIds.has(last))) {
        return new Block(state, state.answer.length, 0);
      }
      const block = new Block(state, start, size);
      const known = block.finalTokenIds;
      if (!known) return block;
      waiting.push(...known);
      pending.tokenIds.push(...known);
    }
  }

  /** @param {Logits} logits */
  finish(logits) {
    const { state, pending, block } = this;
    if (!pending || !block) {
      const [last] = state.causalRows(logits, 1);
      if (last) this.pending = new PendingTokens(last);
      return state.event({ start: 0, size: 0 });
    }
    const numPending = pending.tokenIds.length;
    /** @type {Hindsight[]} */
    let hindsight = [];
    if (numPending) hindsight = pending.rescoreAndClear(state.causalRows(logits, numPending));
    const revealed = block.size ? this.revealed(block, logits, numPending) : {};
    const final = block.finalTokenIds;
    const committed = [...this.waiting, ...(final ?? [])];
    this.waiting = [];
    if (final) {
      pending.tokenIds.push(...final);
      this.block = null;
    }
    return state.event(block, { ...revealed, committed, hindsight });
  }

  /**
   * Reveal what the solver picks: what was masked before, and the reveals.
   * @param {Block} block
   * @param {Logits} logits whose rows from `first` on are the block's
   * @param {number} first
   */
  revealed(block, logits, first) {
    const { state } = this;
    block.keepOpen(logits, first);
    const rows = state.blockRows(logits, first, block.tokenIds);
    const offsets = block.masked();
    const masked = maskedPositions(rows, block.start, undefined, offsets);
    const order = ranked(state.settings.solver, rows, offsets, state.generator);
    return { masked, reveals: block.reveal(order, rows) };
  }
}

/** Every forward pass starts a block behind the tokens known and commits what it reveals. */
class CausalFirstDecoding {
  /** @param {DecodingState} state */
  constructor(state) {
    this.state = state;
    /** @type {PendingTokens | null} null before the prompt has been read */
    this.pending = null;
    /** @type {Span} */
    this.block = { start: 0, size: 0 };
  }

  nextRequest() {
    const { state, pending } = this;
    if (state.isFinished) return null;
    const size = Math.min(state.settings.block_size, state.numLeft);
    this.block = { start: state.answer.length, size };
    const masks = new Array(size).fill(state.maskId);
    if (!pending) return state.request(state.promptIds, masks, 1);
    return state.request([...pending.tokenIds], masks, pending.tokenIds.length);
  }

  /** @param {Logits} logits */
  finish(logits) {
    const { state, block } = this;
    const read = this.pending?.tokenIds ?? [];
    const numCausal = read.length || 1;
    const causal = state.causalRows(logits, numCausal, true);
    const first = causal.slice(numCausal - 1);
    const hindsight = this.pending ? this.pending.rescoreAndClear(causal) : [];
    for (const row of first) this.pending ??= new PendingTokens(row);
    const exact = [...read.slice(1), ...first.map(({ bestId }) => bestId)];
    const stop = numCausal + block.size;
    const rows = [...first, ...state.draft(logits, numCausal, stop, exact, true).slice(1)];
    const order = ranked(state.settings.solver, rows, [...rows.keys()], state.generator);
    const chosen = rows.slice(0, order.length);
    const ids = chosen.map(({ bestId }) => bestId);
    const committed = cutAfterEnd(ids, state.endIds);
    this.pending?.tokenIds.push(...committed);
    /** @type {Reveal[]} */
    const reveals = chosen
      .slice(0, committed.length)
      .map(({ bestId, probability }, rank) => [
        block.start + rank,
        bestId,
        rank,
        sixDigits(probability),
      ]);
    const masked = maskedPositions(rows, block.start);
    return state.event(block, { masked, reveals, committed, hindsight });
  }
}

/** The way of the settings' solver. @param {DecodingState} state @returns {Strategy} */
export function setBlockDecoding(state) {
  const isCausal = state.settings.solver.name === CAUSAL_FIRST;
  return isCausal ? new CausalFirstDecoding(state) : new SetBlockDecoding(state);
}
