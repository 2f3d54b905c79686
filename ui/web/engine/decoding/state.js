// The state that all strategies share: one model, one cache, one random stream, one answer so far. A port of
// sbd_core/decoding/state.py; an event is one of a trace file.

import { NOTHING } from "../../core/trace.js";
import { Generator, measureRows, probabilityOf } from "../sampling.js";

/** @import { EventData } from "../../core/run.js" */
/** @import { Checkpoint } from "../export.js" */
/** @import { Cache, ForwardRequest, Logits, PredraftBlock } from "../model.js" */
/** @import { Row } from "../sampling.js" */
/** @import { Settings } from "./settings.js" */

/** Positions of the answer. @typedef {{ start: number, size: number }} Span */
/** The event of one forward pass. @typedef {Required<EventData>} StepEvent */
/** @typedef {StepEvent["masked"][number]} MaskedPosition */
/** @typedef {StepEvent["hindsight"][number]} Hindsight */
/** @typedef {StepEvent["reveals"][number]} Reveal */

/** A way to decode; the two are called in turns. @typedef {{ nextRequest: () => ForwardRequest | null, finish: (logits: Logits) => StepEvent }} Strategy */

/** The repetition penalty: tokens that stand before a row become less likely in it. */
class SeenTokens {
  /** @param {number} penalty */
  constructor(penalty) {
    this.penalty = Math.fround(penalty);
    /** @type {Set<number>} */
    this.ids = new Set();
  }

  /** Add tokens that stand before every row from now on. @param {number[]} tokenIds */
  add(tokenIds) {
    for (const id of tokenIds) this.ids.add(id);
  }

  /**
   * Change a row of logits in place, once.
   * @param {Float32Array} row
   * @param {number[]} later the tokens before it that were not added yet
   */
  penalise(row, later) {
    for (const id of new Set([...this.ids, ...later])) {
      row[id] = row[id] < 0 ? row[id] * this.penalty : row[id] / this.penalty;
    }
  }
}

export class DecodingState {
  /**
   * @param {Checkpoint} checkpoint
   * @param {Cache} cache
   * @param {number[]} promptIds
   * @param {Settings} settings
   */
  constructor(checkpoint, cache, promptIds, settings) {
    const { maskId, endIds, samplerHead, calibration } = checkpoint;
    this.cache = cache;
    this.promptIds = promptIds;
    this.settings = settings;
    this.maskId = maskId ?? -1; // strategies that need one are refused without
    this.endIds = endIds;
    this.calibration = calibration;
    const generator = new Generator(settings.seed);
    this.shuffle = generator.permutation.bind(generator);
    /** @type {number[]} */
    this.answer = [];
    this.samplerHead = samplerHead;
    this.forbiddenIds = maskId === null ? [] : [maskId];
    const penalty = settings.repetition_penalty;
    /** The tokens in the cache; null without a penalty. */
    this.seen = penalty === 1 ? null : new SeenTokens(penalty);
    this.numSeen = 0;
    /** Causal tokens of this forward pass that the cache may not keep. @type {number[]} */
    this.unsure = [];
    this.began = 0;
    /** @type {[cached: number, causal: number]} */
    this.context = [0, 0];
  }

  /** The number of tokens that the answer may still grow by. */
  get numLeft() {
    return this.settings.max_new_tokens - this.answer.length;
  }

  /** True once the answer ends with an end-of-sequence or has its full length. */
  get isFinished() {
    const last = this.answer.at(-1);
    return (last !== undefined && this.endIds.has(last)) || this.numLeft <= 0;
  }

  /**
   * The forward pass to make next.
   * @param {number[]} causalIds
   * @param {number[]} blockIds
   * @param {number} numCausalLogits
   * @param {PredraftBlock[]} predraftBlocks
   * @returns {ForwardRequest}
   */
  request(causalIds, blockIds, numCausalLogits, predraftBlocks = []) {
    this.began = performance.now();
    this.context = [this.cache.length, causalIds.length];
    if (this.seen) {
      this.seen.add(this.unsure.slice(0, this.cache.length - this.numSeen));
      const numSure = causalIds.length - Math.max(0, numCausalLogits - 1);
      this.seen.add(causalIds.slice(0, numSure));
      this.unsure = causalIds.slice(numSure);
      this.numSeen = this.cache.length + numSure;
    }
    return { cache: this.cache, causalIds, blockIds, numCausalLogits, predraftBlocks };
  }

  /**
   * Measure the causal rows before `stop`.
   * @param {Logits} logits
   * @param {number} stop
   * @param {number} [numTop] tokens listed a row
   */
  causalRows(logits, stop, numTop = 0) {
    return this.rows(logits, 0, stop, numTop, (row) => this.unsure.slice(0, row));
  }

  /**
   * Measure a block's rows, those from `start` on, for solver and record.
   * @param {Logits} logits
   * @param {number} start
   * @param {number[]} blockIds as the model read them; a row counts the tokens known at its left
   */
  blockRows(logits, start, blockIds) {
    /** @param {number} row */
    const before = (row) => [
      ...this.unsure,
      ...blockIds.slice(0, row).filter((id) => id !== this.maskId),
    ];
    const { top_k_recorded: numTop } = this.settings;
    return this.rows(logits, start, start + blockIds.length, numTop, before);
  }

  /**
   * Measure a block's rows. With a penalty or a sampler head their tokens are chosen left to right,
   * each by the row that counts those before it.
   * @param {Logits} logits
   * @param {number} start
   * @param {number} stop
   * @param {number[]} exact tokens accepted and brought by the forward pass; the last of them stands at
   *   the block's first position
   * @param {number} numTop tokens listed a row
   */
  draft(logits, start, stop, exact, numTop) {
    if (!this.seen && !this.samplerHead) return this.rows(logits, start, stop, numTop, () => []);
    const before = [...exact];
    const second = start + 1;
    const follow = this.samplerHead?.begin(logits, second, stop);
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
   * Measure rows of logits, less likely those tokens that stand before them.
   * @param {Logits} logits
   * @param {number} start
   * @param {number} stop
   * @param {number} numTop tokens listed a row
   * @param {(row: number) => number[]} before the tokens that a row counts besides those certain in the
   *   cache
   */
  rows(logits, start, stop, numTop, before) {
    for (let row = start; this.seen && row < stop; row += 1) {
      this.seen.penalise(logits.row(row), before(row - start));
    }
    return measureRows(logits, start, stop, { forbiddenIds: this.forbiddenIds, numTop });
  }

  /**
   * The event of the forward pass just made; its committed tokens join the answer.
   * @param {Span} block
   * @param {Partial<StepEvent>} [fields]
   * @returns {StepEvent}
   */
  event({ start, size }, fields = {}) {
    const kind = this.context[0] ? "decode" : "prefill";
    this.answer.push(...(fields.committed ?? []));
    const seconds = sixDigits((performance.now() - this.began) / 1000);
    return { ...NOTHING, ...fields, kind, context: this.context, block: [start, size], seconds };
  }
}

/**
 * The head's guesses at offsets of the block at position `start`.
 * @param {Row[]} rows
 * @param {number} start
 * @param {number} [numTop] how many of the tokens listed are wanted; all if not given
 * @param {number[]} [offsets]
 * @returns {MaskedPosition[]}
 */
export function maskedPositions(rows, start, numTop, offsets = [...rows.keys()]) {
  return offsets.map((offset) => {
    const top = rows[offset].top.slice(0, numTop);
    const chances = top.map(([, probability]) => sixDigits(probability));
    return [start + offset, sixDigits(rows[offset].entropy), top.map(([id]) => id), chances];
  });
}

/**
 * The causal head's probabilities of the answer's tokens from `start`, a row each.
 * @param {number[]} tokenIds
 * @param {Row[]} rows
 * @param {number} start
 * @returns {Hindsight[]}
 */
export function makeHindsight(tokenIds, rows, start) {
  return tokenIds.map((tokenId, index) => {
    const row = rows[index];
    const probability = sixDigits(probabilityOf(row, tokenId));
    return [start + index, tokenId, probability, row.bestId, sixDigits(row.probability)];
  });
}

/**
 * The reveal of the likeliest tokens at offsets of the block at position `start`.
 * @param {Row[]} rows
 * @param {number} start
 * @param {number[]} [offsets] in the order of the reveal
 * @returns {Reveal[]}
 */
export function revealsOf(rows, start, offsets = [...rows.keys()]) {
  return offsets.map((offset, rank) => {
    const { bestId, probability } = rows[offset];
    return [start + offset, bestId, rank, sixDigits(probability)];
  });
}

/**
 * The tokens up to and with the first end-of-sequence; all of them without one.
 * @param {number[]} tokenIds
 * @param {Set<number>} endIds
 */
export function cutAfterEnd(tokenIds, endIds) {
  const end = tokenIds.findIndex((tokenId) => endIds.has(tokenId));
  return end < 0 ? [...tokenIds] : tokenIds.slice(0, end + 1);
}

/** The six significant digits that events carry. @param {number} value */
function sixDigits(value) {
  return Number(value.toPrecision(6));
}
