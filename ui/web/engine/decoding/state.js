// The state that all strategies share: model, cache, random generator, and the answer so far; see
// sbd_core/decoding/state.py. Its events are those of a trace.

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

/**
 * A decode in progress. The caller calls nextRequest(), which is null at the end, and update() in turn.
 * @typedef {{ nextRequest: () => ForwardRequest | null, update: (logits: Logits) => StepEvent }} Strategy
 */

/** Applies the repetition penalty, which makes tokens that stand before a row less likely in it. */
class SeenTokens {
  /** @param {number} penalty */
  constructor(penalty) {
    this.penalty = Math.fround(penalty);
    /** @type {Set<number>} */
    this.ids = new Set();
  }

  /** Add tokens that stand before every later row. @param {number[]} tokenIds */
  add(tokenIds) {
    for (const id of tokenIds) this.ids.add(id);
  }

  /**
   * Apply the penalty to a row of logits, in place.
   * @param {Float32Array} row
   * @param {number[]} notAdded tokens before the row that have not been added
   */
  penalise(row, notAdded) {
    for (const id of new Set([...this.ids, ...notAdded])) {
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
    /** The tokens that the repetition penalty counts; null without a penalty. */
    this.seen = penalty === 1 ? null : new SeenTokens(penalty);
    this.numSeen = 0;
    /** Causal tokens of this forward pass that the cache may drop again. @type {number[]} */
    this.unsure = [];
    this.began = 0;
    /** @type {[cached: number, causal: number]} */
    this.context = [0, 0];
  }

  /** The number of tokens by which the answer may still grow. */
  get numLeft() {
    return this.settings.max_new_tokens - this.answer.length;
  }

  /** Whether the answer ends with an end-of-sequence token or has its full length. */
  get isFinished() {
    const last = this.answer.at(-1);
    return (last !== undefined && this.endIds.has(last)) || this.numLeft <= 0;
  }

  /**
   * Begin a forward pass and return its request.
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
   * Measure the causal rows with logits, up to before `stop`.
   * @param {Logits} logits
   * @param {number} stop
   * @param {number} [numTop] likeliest tokens to list per row
   */
  causalRows(logits, stop, numTop = 0) {
    return this.rows(logits, 0, stop, numTop, (row) => this.unsure.slice(0, row));
  }

  /**
   * Measure a block's rows, the first of which is `start`, for the solver and the event.
   * @param {Logits} logits
   * @param {number} start
   * @param {number[]} blockIds as the model read them: the penalty of a row counts the known ones to its left
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
   * Measure a block's rows. With a penalty or a sampler head, each row's token depends on the tokens chosen before it,
   * so that rows are measured from left to right.
   * @param {Logits} logits
   * @param {number} start
   * @param {number} stop
   * @param {number[]} exact the tokens that this forward pass adds; the last one stands at the block's first position
   * @param {number} numTop likeliest tokens to list per row
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
   * Measure rows of logits, after applying the repetition penalty.
   * @param {Logits} logits
   * @param {number} start
   * @param {number} stop
   * @param {number} numTop likeliest tokens to list per row
   * @param {(row: number) => number[]} before returns the tokens that the penalty of a row counts besides `seen`
   */
  rows(logits, start, stop, numTop, before) {
    for (let row = start; this.seen && row < stop; row += 1) {
      this.seen.penalise(logits.row(row), before(row - start));
    }
    return measureRows(logits, start, stop, { forbiddenIds: this.forbiddenIds, numTop });
  }

  /**
   * Return the event of the forward pass just made, and add its committed tokens to the answer.
   * @param {Span} block
   * @param {Partial<StepEvent>} [fields]
   * @returns {StepEvent}
   */
  event({ start, size }, fields = {}) {
    const kind = this.context[0] ? "decode" : "prefill";
    this.answer.push(...(fields.committed ?? []));
    const seconds = roundTo6Digits((performance.now() - this.began) / 1000);
    return { ...NOTHING, ...fields, kind, context: this.context, block: [start, size], seconds };
  }
}

/**
 * Return the guesses at some offsets of the block that begins at position `start`.
 * @param {Row[]} rows
 * @param {number} start
 * @param {number} [numTop] how many of the listed tokens to take; all by default
 * @param {number[]} [offsets]
 * @returns {MaskedPosition[]}
 */
export function maskedPositions(rows, start, numTop, offsets = [...rows.keys()]) {
  return offsets.map((offset) => {
    const top = rows[offset].top.slice(0, numTop);
    const chances = top.map(([, probability]) => roundTo6Digits(probability));
    return [start + offset, roundTo6Digits(rows[offset].entropy), top.map(([id]) => id), chances];
  });
}

/**
 * Return what next-token prediction says of tokens of the answer from position `start` on.
 * @param {number[]} tokenIds
 * @param {Row[]} rows a causal row for each token, that of the token before it
 * @param {number} start
 * @returns {Hindsight[]}
 */
export function makeHindsight(tokenIds, rows, start) {
  return tokenIds.map((tokenId, index) => {
    const row = rows[index];
    const probability = roundTo6Digits(probabilityOf(row, tokenId));
    return [start + index, tokenId, probability, row.bestId, roundTo6Digits(row.probability)];
  });
}

/**
 * Return the reveals of the likeliest tokens at some offsets of the block that begins at position `start`.
 * @param {Row[]} rows
 * @param {number} start
 * @param {number[]} [offsets] in the order of the reveals
 * @returns {Reveal[]}
 */
export function revealsOf(rows, start, offsets = [...rows.keys()]) {
  return offsets.map((offset, rank) => {
    const { bestId, probability } = rows[offset];
    return [start + offset, bestId, rank, roundTo6Digits(probability)];
  });
}

/**
 * Return the tokens up to and including the first one that ends the answer; all of them without one.
 * @param {number[]} tokenIds
 * @param {Set<number>} endIds
 */
export function cutAfterEnd(tokenIds, endIds) {
  const end = tokenIds.findIndex((tokenId) => endIds.has(tokenId));
  return end < 0 ? [...tokenIds] : tokenIds.slice(0, end + 1);
}

/** Round to the six significant digits that events have. @param {number} value */
function roundTo6Digits(value) {
  return Number(value.toPrecision(6));
}
