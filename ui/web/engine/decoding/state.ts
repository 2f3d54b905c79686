// The state that all strategies share: model, cache, random generator, and the answer so far; see
// sbd_core/decoding/state.py. Its events are those of a trace.

import type { EventData } from "../../core/run.ts";
import { NOTHING } from "../../core/trace.ts";
import type { Checkpoint } from "../export.ts";
import type { Cache, ForwardRequest, Logits, PredraftBlock } from "../model.ts";
import { Generator, measureRow, probabilityOf, type Row } from "../sampling.ts";
import type { Settings } from "./settings.ts";

/** Positions of the answer. */
export type Span = { start: number; size: number };
/** The event of one forward pass. */
export type StepEvent = Required<EventData>;
export type MaskedPosition = StepEvent["masked"][number];
type Hindsight = StepEvent["hindsight"][number];
type Reveal = StepEvent["reveals"][number];

/** A decode in progress. The caller calls nextRequest(), which is null at the end, and update() in turn. */
export type Strategy = {
  nextRequest: () => ForwardRequest | null;
  update: (logits: Logits) => StepEvent;
};

export class DecodingState {
  maskId = this.checkpoint.maskId ?? -1; // without one there is next-token prediction only
  generator = new Generator(this.settings.seed);
  answer: number[] = [];
  penalty = Math.fround(this.settings.repetition_penalty);
  /** The tokens before every later row, which the repetition penalty counts; null without a penalty. */
  seen: Set<number> | null = this.penalty === 1 ? null : new Set();
  numSeen = 0;
  /** Causal tokens of this forward pass that the cache may drop again. */
  unsure: number[] = [];
  began = 0;
  context: [cached: number, causal: number] = [0, 0];

  constructor(
    readonly checkpoint: Checkpoint,
    readonly cache: Cache,
    readonly promptIds: number[],
    readonly settings: Settings,
  ) {}

  /** Return the numbers from 0 to count - 1 in random order. */
  shuffle = (count: number) => this.generator.permutation(count);

  /** The number of tokens by which the answer may still grow. */
  get numLeft() {
    return this.settings.max_new_tokens - this.answer.length;
  }

  /** Whether the answer ends with an end-of-sequence token or has its full length. */
  get isFinished() {
    return this.checkpoint.endIds.has(this.answer.at(-1) ?? -1) || this.numLeft <= 0;
  }

  request(
    causalIds: number[],
    blockIds: number[],
    numCausalLogits: number,
    predraftBlocks: PredraftBlock[] = [],
  ): ForwardRequest {
    this.began = performance.now();
    this.context = [this.cache.length, causalIds.length];
    if (this.seen) {
      const kept = this.unsure.slice(0, this.cache.length - this.numSeen);
      const numSure = causalIds.length - Math.max(0, numCausalLogits - 1);
      for (const id of [...kept, ...causalIds.slice(0, numSure)]) this.seen.add(id);
      this.unsure = causalIds.slice(numSure);
      this.numSeen = this.cache.length + numSure;
    }
    return { cache: this.cache, causalIds, blockIds, numCausalLogits, predraftBlocks };
  }

  /** Measure the causal rows with logits, up to before `stop`. */
  causalRows(logits: Logits, stop: number, numTop: number = 0) {
    return this.rows(logits, 0, stop, numTop, (row) => this.unsure.slice(0, row));
  }

  /**
   * Measure a block's rows, the first of which is `start`, for the solver and the event.
   * @param blockIds as the model read them: the penalty of a row counts the known ones to its left
   */
  blockRows(logits: Logits, start: number, blockIds: number[]) {
    const before = (row: number) => [
      ...this.unsure,
      ...blockIds.slice(0, row).filter((id) => id !== this.maskId),
    ];
    const { top_k_recorded: numTop } = this.settings;
    return this.rows(logits, start, start + blockIds.length, numTop, before);
  }

  /**
   * Measure a block's rows. With a penalty or a sampler head, each row's token depends on the tokens chosen before it,
   * so that rows are measured from left to right.
   * @param exact the tokens that this forward pass adds; the last one stands at the block's first position
   */
  draft(logits: Logits, start: number, stop: number, exact: number[], numTop: number) {
    const { samplerHead } = this.checkpoint;
    if (!this.seen && !samplerHead) return this.rows(logits, start, stop, numTop, () => []);
    const before = [...exact];
    const second = start + 1;
    const follow = samplerHead?.begin(logits, second, stop);
    const rows = this.rows(logits, start, second, numTop, () => exact.slice(0, -1));
    for (let row = second; row < stop; row += 1) {
      follow?.(row - second, before[before.length - 1]);
      const [own] = this.rows(logits, row, row + 1, numTop, () => before);
      before.push(own.bestId);
      rows.push(own);
    }
    return rows;
  }

  /**
   * Measure rows of logits, after applying the repetition penalty.
   * @param before returns the tokens that the penalty of a row counts besides `seen`
   */
  rows(
    logits: Logits,
    start: number,
    stop: number,
    numTop: number,
    before: (row: number) => number[],
  ) {
    return Array.from({ length: stop - start }, (_, row) => {
      if (this.seen) this.penalise(logits.row(start + row), [...this.seen, ...before(row)]);
      return measureRow(logits, start + row, this.maskId, numTop);
    });
  }

  /** Make tokens less likely in a row of logits, by the repetition penalty. */
  penalise(row: Float32Array, tokenIds: number[]) {
    for (const id of new Set(tokenIds)) {
      row[id] = row[id] < 0 ? row[id] * this.penalty : row[id] / this.penalty;
    }
  }

  /** Return the event of the forward pass just made, and add its committed tokens to the answer. */
  event({ start, size }: Span, fields: Partial<StepEvent> = {}): StepEvent {
    const kind = this.context[0] ? "decode" : "prefill";
    this.answer.push(...(fields.committed ?? []));
    const seconds = roundTo6Digits((performance.now() - this.began) / 1000);
    return { ...NOTHING, ...fields, kind, context: this.context, block: [start, size], seconds };
  }
}

/**
 * Return the guesses at some offsets of the block that begins at position `start`.
 * @param numTop how many of the listed tokens to take; all by default
 */
export function maskedPositions(
  rows: Row[],
  start: number,
  numTop?: number,
  offsets: number[] = [...rows.keys()],
): MaskedPosition[] {
  return offsets.map((offset) => {
    const top = rows[offset].top.slice(0, numTop);
    const chances = top.map(([, probability]) => roundTo6Digits(probability));
    return [start + offset, roundTo6Digits(rows[offset].entropy), top.map(([id]) => id), chances];
  });
}

/**
 * Return what next-token prediction says of tokens of the answer from position `start` on.
 * @param rows a causal row for each token, that of the token before it
 */
export function makeHindsight(tokenIds: number[], rows: Row[], start: number): Hindsight[] {
  return tokenIds.map((tokenId, index) => {
    const row = rows[index];
    const probability = roundTo6Digits(probabilityOf(row, tokenId));
    return [start + index, tokenId, probability, row.bestId, roundTo6Digits(row.probability)];
  });
}

/** Return the reveals of the likeliest tokens at some offsets of the block that begins at position `start`. */
export function revealsOf(
  rows: Row[],
  start: number,
  offsets: number[] = [...rows.keys()],
): Reveal[] {
  return offsets.map((offset, rank) => {
    const { bestId, probability } = rows[offset];
    return [start + offset, bestId, rank, roundTo6Digits(probability)];
  });
}

/** Return the tokens up to and including the first one that ends the answer; all of them without one. */
export function cutAfterEnd(tokenIds: number[], endIds: Set<number>) {
  const end = tokenIds.findIndex((tokenId) => endIds.has(tokenId));
  return end < 0 ? [...tokenIds] : tokenIds.slice(0, end + 1);
}

/** Round to the six significant digits that events have. */
function roundTo6Digits(value: number) {
  return Number(value.toPrecision(6));
}
