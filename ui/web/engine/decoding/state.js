// What every strategy shares: one model, one cache, one random stream, one answer so far. A port of
// sbd_core/decoding/state.py; an event is that of sbd_core/events.py.

import { Generator } from "../random.js";

/** @import { Cache, EarlyBlock, ForwardRequest, Logits, Model } from "../model.js" */
/** @import { LogitStats } from "../stats.js" */
/** @import { Settings } from "./settings.js" */

/** @typedef {{ start: number, size: number }} Span positions of the answer */
/** @typedef {{ position: number, entropy: number, topIds: number[], topProbabilities: number[] }} MaskedPosition */
/** @typedef {{ position: number, tokenId: number, rank: number, probability: number }} Reveal */
/** @typedef {{ position: number, tokenId: number, probability: number, argmaxId: number, argmaxProbability: number }} Hindsight */
/** @typedef {{ block: Span, tokenIds: number[], isUsed: boolean }} Predraft */

/**
 * What one forward pass did.
 * @typedef {object} StepEvent
 * @property {"prefill" | "decode"} kind
 * @property {number} numCached
 * @property {number} numCausal
 * @property {Span} block
 * @property {MaskedPosition[]} masked
 * @property {Reveal[]} reveals
 * @property {number[]} committed
 * @property {number[]} draft
 * @property {Hindsight[]} hindsight
 * @property {Predraft[]} predrafts
 * @property {number} seconds of the engine
 */

/** @typedef {{ nextRequest: () => ForwardRequest | null, finish: (logits: Logits) => StepEvent }} Strategy called in turns */

/** What an event holds unless its strategy says otherwise. */
const NOTHING = { masked: [], reveals: [], committed: [], draft: [], hindsight: [], predrafts: [] };

export class DecodingState {
  /**
   * @param {Model} model
   * @param {Cache} cache
   * @param {number[]} promptIds
   * @param {Settings} settings
   * @param {{ maskId: number | null, endIds: Set<number> }} special
   */
  constructor(model, cache, promptIds, settings, { maskId, endIds }) {
    this.model = model;
    this.cache = cache;
    this.promptIds = promptIds;
    this.settings = settings;
    this.maskId = maskId ?? -1; // strategies that need one are refused without
    this.endIds = endIds;
    this.generator = new Generator(settings.seed);
    /** @type {number[]} */
    this.answer = [];
    const { temperature } = settings;
    this.causalSpec = { forbiddenId: maskId, temperature, numTop: 0 };
    this.blockSpec = { forbiddenId: maskId, temperature, numTop: settings.top_k_recorded };
    this.numForwards = 0;
    this.began = 0;
    this.context = [0, 0];
  }

  /** Tokens the answer may still grow by. */
  get numLeft() {
    return this.settings.max_new_tokens - this.answer.length;
  }

  /** True once the answer ends with an end-of-sequence or has its full length. */
  get isFinished() {
    const last = this.answer.at(-1);
    return (last !== undefined && this.endIds.has(last)) || this.numLeft <= 0;
  }

  /**
   * @param {number[]} causalIds
   * @param {number[]} blockIds
   * @param {number} numCausalLogits
   * @param {EarlyBlock[]} earlyBlocks
   * @returns {ForwardRequest}
   */
  request(causalIds, blockIds, numCausalLogits, earlyBlocks = []) {
    this.context = [this.cache.length, causalIds.length];
    return { cache: this.cache, causalIds, blockIds, numCausalLogits, earlyBlocks };
  }

  /**
   * Of the rows from `start` to before `stop` what a check of tokens needs.
   * @param {Logits} logits
   * @param {number} start
   * @param {number} stop
   */
  causalStats(logits, start, stop) {
    return this.model.stats(logits, start, stop, this.causalSpec);
  }

  /**
   * Of the rows from `start` to before `stop` all that solver and record of a prediction need.
   * @param {Logits} logits
   * @param {number} start
   * @param {number} stop
   */
  blockStats(logits, start, stop = logits.numRows) {
    return this.model.stats(logits, start, stop, this.blockSpec);
  }

  /**
   * The event of the forward pass just made; its committed tokens join the answer.
   * @param {{ block: Span } & Partial<StepEvent>} fields
   * @returns {StepEvent}
   */
  event(fields) {
    const [numCached = 0, numCausal = 0] = this.context;
    const kind = this.numForwards ? "decode" : "prefill";
    this.numForwards += 1;
    this.answer.push(...(fields.committed ?? []));
    const seconds = (performance.now() - this.began) / 1000;
    return { ...NOTHING, ...fields, kind, numCached, numCausal, seconds: sixDigits(seconds) };
  }
}

/**
 * What the head said at block offsets `offsets` of the block at position `start`.
 * @param {LogitStats} stats
 * @param {number[]} offsets
 * @param {number} start
 * @returns {MaskedPosition[]}
 */
export function maskedPositions(stats, offsets, start) {
  return offsets.map((offset) => ({
    position: start + offset,
    entropy: sixDigits(stats.entropy[offset] ?? 0),
    topIds: stats.topIds[offset] ?? [],
    topProbabilities: (stats.topProbabilities[offset] ?? []).map(sixDigits),
  }));
}

/**
 * What the causal head gives the answer's tokens from `start`, a row of stats each.
 * @param {number[]} tokenIds
 * @param {LogitStats} stats
 * @param {number} start
 * @returns {Hindsight[]}
 */
export function makeHindsight(tokenIds, stats, start) {
  const probabilities = stats.tokenProbabilities(tokenIds);
  return tokenIds.map((tokenId, index) => ({
    position: start + index,
    tokenId,
    probability: sixDigits(probabilities[index] ?? 0),
    argmaxId: stats.bestIds[index] ?? 0,
    argmaxProbability: sixDigits(stats.probability[index] ?? 0),
  }));
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
export function sixDigits(value) {
  return Number(value.toPrecision(6));
}
