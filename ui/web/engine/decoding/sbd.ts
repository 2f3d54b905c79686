// Set Block Decoding, Algorithms 2 and 3 of the paper; see sbd_core/decoding/sbd.py. The first forward pass of a block
// also reads the block before it causally, which puts that one into the KV cache. CausalFirstDecoding takes the first
// token of a block from the last of those causal rows.

import { revealOrderFromScores } from "../../core/solvers.ts";
import type { Logits } from "../model.ts";
import { copyOf, type Row } from "../sampling.ts";
import { CAUSAL_FIRST } from "./settings.ts";
import {
  cutAfterEnd,
  type DecodingState,
  makeHindsight,
  maskedPositions,
  revealsOf,
  type Span,
  type Strategy,
} from "./state.ts";

/** Revealed tokens that the next forward pass reads causally, which gives their hindsight. */
class PendingTokens {
  tokenIds: number[] = [];
  start = 0;
  before: Row;

  /** @param before the row of the prompt's last token */
  constructor(before: Row) {
    this.before = copyOf(before);
  }

  /**
   * Return the tokens' hindsight and forget the tokens, as they are in the cache now. A token's hindsight comes from
   * the causal row of the token before it.
   */
  popHindsight(rows: Row[]) {
    const hindsight = makeHindsight(this.tokenIds, [this.before, ...rows], this.start);
    this.start += this.tokenIds.length;
    this.before = copyOf(rows[rows.length - 1]);
    this.tokenIds = [];
    return hindsight;
  }
}

class Block {
  tokenIds: number[];
  numBeforePins: number;

  constructor(
    readonly state: DecodingState,
    readonly start: number,
    readonly size: number,
  ) {
    const { maskId, settings } = state;
    const { endIds } = state.checkpoint;
    const pinned = new Map(settings.pinned);
    const positions = Array.from({ length: size }, (_, offset) => start + offset);
    this.tokenIds = positions.map((position) => pinned.get(position) ?? maskId);
    const furthest = settings.pinned.findLast(([, tokenId]) => !endIds.has(tokenId)) ?? [start];
    this.numBeforePins = Math.min(furthest[0] - start, size);
  }

  /** Rule out tokens that end the answer before the last pinned token. */
  forbidEnds(logits: Logits, first: number) {
    for (let offset = 0; offset < this.numBeforePins; offset += 1) {
      const row = logits.row(first + offset);
      for (const id of this.state.checkpoint.endIds) row[id] = -Infinity;
    }
  }

  /** The tokens that the block adds to the answer; null if a mask is left before the end of the answer. */
  get finalTokenIds() {
    const known = cutAfterEnd(this.tokenIds, this.state.checkpoint.endIds);
    return known.includes(this.state.maskId) ? null : known;
  }

  /** Return the masked offsets before the first known token that ends the answer. */
  masked() {
    const beforeEnd = cutAfterEnd(this.tokenIds, this.state.checkpoint.endIds);
    return [...beforeEnd.keys()].filter((offset) => beforeEnd[offset] === this.state.maskId);
  }

  reveal(order: number[], rows: Row[]) {
    for (const offset of order) this.tokenIds[offset] = rows[offset].bestId;
    return revealsOf(rows, this.start, order);
  }
}

class SetBlockDecoding {
  /** Null before the prompt has been read. */
  pending: PendingTokens | null = null;
  block: Block | null = null;
  /** Tokens of blocks that are pinned as a whole; the next event commits them. */
  waiting: number[] = [];

  constructor(readonly state: DecodingState) {}

  nextRequest() {
    const { state, pending } = this;
    if (!pending) return state.request(state.promptIds, [], 1);
    if (!this.block) {
      if (state.isFinished) return null;
      this.block = this.nextBlock(pending);
    }
    return state.request([...pending.tokenIds], [...this.block.tokenIds], pending.tokenIds.length);
  }

  /** Return the next block with a mask; one of size 0 if nothing is left to predict. */
  nextBlock(pending: PendingTokens) {
    const { state, waiting } = this;
    for (;;) {
      const start = state.answer.length + waiting.length;
      const size = Math.min(state.settings.block_size, state.settings.max_new_tokens - start);
      if (waiting.length && (!size || state.checkpoint.endIds.has(waiting.at(-1) ?? -1)))
        return new Block(state, state.answer.length, 0);
      const block = new Block(state, start, size);
      const known = block.finalTokenIds;
      if (!known) return block;
      waiting.push(...known);
      pending.tokenIds.push(...known);
    }
  }

  update(logits: Logits) {
    const { state, pending, block } = this;
    if (!pending || !block) {
      this.pending = new PendingTokens(state.causalRows(logits, 1)[0]);
      return state.event({ start: 0, size: 0 });
    }
    const numPending = pending.tokenIds.length;
    const read = state.causalRows(logits, numPending);
    const hindsight = numPending ? pending.popHindsight(read) : [];
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

  /** Reveal the positions that the solver picks. Return the masked positions and the reveals. */
  revealed(block: Block, logits: Logits, first: number) {
    const { state } = this;
    block.forbidEnds(logits, first);
    const rows = state.blockRows(logits, first, block.tokenIds);
    const offsets = block.masked();
    const masked = maskedPositions(rows, block.start, undefined, offsets);
    const order = revealOrderFromScores(state.settings.solver, rows, offsets, state.shuffle);
    return { masked, reveals: block.reveal(order, rows) };
  }
}

/** Begins a new block after the known tokens in every forward pass, and commits what it reveals at once. */
class CausalFirstDecoding {
  /** Null before the prompt has been read. */
  pending: PendingTokens | null = null;
  block: Span = { start: 0, size: 0 };

  constructor(readonly state: DecodingState) {}

  nextRequest() {
    const { state, pending } = this;
    if (state.isFinished) return null;
    const size = Math.min(state.settings.block_size, state.numLeft);
    this.block = { start: state.answer.length, size };
    const masks = new Array(size).fill(state.maskId);
    if (!pending) return state.request(state.promptIds, masks, 1);
    return state.request([...pending.tokenIds], masks, pending.tokenIds.length);
  }

  update(logits: Logits) {
    const { state, block } = this;
    const read = this.pending?.tokenIds ?? [];
    const numCausal = read.length || 1;
    const { solver, top_k_recorded: numTop } = state.settings;
    const causal = state.causalRows(logits, numCausal, numTop);
    const first = causal[numCausal - 1];
    const hindsight = this.pending?.popHindsight(causal) ?? [];
    this.pending ??= new PendingTokens(first);
    const exact = [...read.slice(1), first.bestId];
    const stop = numCausal + block.size;
    const rows = [first, ...state.draft(logits, numCausal, stop, exact, numTop).slice(1)];
    const order = revealOrderFromScores(solver, rows, [...rows.keys()], state.shuffle);
    const ids = rows.slice(0, order.length).map(({ bestId }) => bestId);
    const committed = cutAfterEnd(ids, state.checkpoint.endIds);
    this.pending.tokenIds.push(...committed);
    const reveals = revealsOf(rows.slice(0, committed.length), block.start);
    const masked = maskedPositions(rows, block.start);
    return state.event(block, { masked, reveals, committed, hindsight });
  }
}

/** Return the strategy for the solver in the settings. */
export function setBlockDecoding(state: DecodingState): Strategy {
  const isCausal = state.settings.solver.name === CAUSAL_FIRST;
  return isCausal ? new CausalFirstDecoding(state) : new SetBlockDecoding(state);
}
