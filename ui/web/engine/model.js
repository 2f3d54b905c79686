// A Llama-shaped model in the kernel: forward passes over one text, and what their logits say. The
// counterpart of the C files in kernel/ and of compute_logit_stats() in sbd_core/sampling.py.

import { ModelError } from "./errors.js";
import { Scratch } from "./kernel.js";
import { LogitStats } from "./stats.js";

/** @import { Shape } from "./checkpoint/shape.js" */
/** @import { Weights } from "./checkpoint/weights.js" */
/** @import { Kernel } from "./kernel.js" */
/** @import { StatsSpec } from "./stats.js" */

const FLOAT_BYTES = 4;
const ALIGNED = 32; // as forward.c
const CAPACITY_STEP = 128;
/** Rows read at once of a prompt: more would need more room, and gain nothing. */
const LONGEST_PASS = 48;
const NUM_BEST = 2; // the margin is between two

/**
 * Behind the first causal tokens. isAlternative: its first token is another for what stands there,
 * read causally.
 * @typedef {{ numCausal: number, tokenIds: number[], isAlternative: boolean }} PredraftBlock
 */

/**
 * One text's forward pass; see ForwardRequest in sbd_core/models/protocol.py.
 * @typedef {object} ForwardRequest
 * @property {Cache} cache
 * @property {number[]} causalIds
 * @property {number[]} blockIds
 * @property {number} numCausalLogits
 * @property {PredraftBlock[]} predraftBlocks
 */

/** Rows of logits in the kernel, there until the next forward pass. */
export class Logits {
  /**
   * @param {Model} model
   * @param {number} place
   * @param {number} numRows
   */
  constructor(model, place, numRows) {
    this.model = model;
    this.place = place;
    this.numRows = numRows;
  }

  /** @param {number} index */
  row(index) {
    const size = this.model.shape.vocabulary;
    return this.model.kernel.floats(this.place + index * size * FLOAT_BYTES, size);
  }
}

/** Keys and values of the causal tokens read so far. */
export class Cache {
  /**
   * @param {Model} model
   * @param {number} capacity in positions
   */
  constructor(model, capacity) {
    const { numLayers, numKvHeads, headSize } = model.shape;
    this.kernel = model.kernel;
    this.capacity = Math.ceil(capacity / CAPACITY_STEP) * CAPACITY_STEP;
    this.length = 0;
    const layer = numKvHeads * headSize * this.capacity;
    this.bytes = 2 * numLayers * layer * FLOAT_BYTES;
    this.keys = this.kernel.allocate(this.bytes);
    this.values = this.keys + this.bytes / 2;
    this.place = this.kernel.allocate(4 * FLOAT_BYTES);
    this.kernel.writeIntegers(this.place, [this.keys, this.values, this.capacity, layer]);
  }

  /** @param {number} length forget every token from this position on */
  truncate(length) {
    this.length = Math.min(this.length, length);
  }

  /** Give the memory back; the cache is of no use any more. */
  release() {
    this.kernel.release(this.keys, this.bytes);
    this.kernel.release(this.place, 4 * FLOAT_BYTES);
  }
}

/**
 * Causal tokens seen and size of each block that the kernel is to know. An alternative is a block of
 * its own, as it sees nothing behind it; its masks' block begins at it again, one row back.
 * @param {PredraftBlock} block
 * @param {number} numRead causal tokens that the forward pass does not read any more
 */
function seenBlocks({ numCausal, tokenIds, isAlternative }, numRead) {
  const seen = numCausal - numRead;
  const whole = [seen, tokenIds.length];
  return isAlternative ? [[seen, 1], [seen, -1], whole] : [whole]; // biome-ignore format: a row
}

export class Model {
  /**
   * @param {Kernel} kernel
   * @param {Shape} shape
   * @param {Weights} weights
   */
  constructor(kernel, shape, weights) {
    this.kernel = kernel;
    this.shape = shape;
    this.weights = weights;
    const { hidden, numHeads, numKvHeads, headSize, width } = shape;
    this.rowFloats = 2 * hidden + Math.max((numHeads + 2 * numKvHeads) * headSize, 2 * width);
    this.scratch = new Scratch(kernel);
    this.logits = new Scratch(kernel);
    this.numbers = new Scratch(kernel);
    this.layout = new Scratch(kernel);
  }

  /**
   * One forward pass; the causal keys and values stay in the cache, those of blocks are dropped.
   * @param {ForwardRequest} request
   * @returns {Logits} of the last numCausalLogits causal tokens and of every block position
   */
  forward({ cache, causalIds, blockIds, numCausalLogits, predraftBlocks }) {
    const numQuiet = causalIds.length - numCausalLogits;
    // Of a long prompt nobody asks for logits but the last token's: it is read piece by piece.
    let start = 0;
    for (; numQuiet - start > LONGEST_PASS; start += LONGEST_PASS) {
      this.pass(cache, causalIds.slice(start, start + LONGEST_PASS), [], [], 0);
    }
    const numRead = causalIds.length - start;
    const blocks = [
      [numRead, blockIds.length],
      ...predraftBlocks.flatMap((block) => seenBlocks(block, start)),
    ];
    const ids = [...blockIds, ...predraftBlocks.flatMap((block) => block.tokenIds)];
    return this.pass(
      cache,
      causalIds.slice(start),
      ids,
      blocks.flat(),
      numCausalLogits + ids.length,
    );
  }

  /**
   * @param {Cache} cache
   * @param {number[]} causalIds
   * @param {number[]} blockIds
   * @param {number[]} blocks causal tokens seen and size of each
   * @param {number} numLogits
   */
  pass(cache, causalIds, blockIds, blocks, numLogits) {
    const { kernel, weights, shape } = this;
    const ids = [...causalIds, ...blockIds];
    const start = cache.length;
    const stop = start + ids.length;
    if (stop > cache.capacity) throw new ModelError("The text is longer than its cache.");
    const rowFloats = this.rowFloats + Math.ceil(stop / ALIGNED) * ALIGNED;
    const space = this.scratch.atLeast(ids.length * rowFloats * FLOAT_BYTES);
    const logits = this.logits.atLeast(Math.max(1, numLogits) * shape.vocabulary * FLOAT_BYTES);
    const layout = this.layout.atLeast((ids.length + blocks.length) * FLOAT_BYTES);
    kernel.writeIntegers(layout, [...ids, ...blocks]);
    kernel.functions.forward(
      ...[weights.model, weights.layers, cache.place, weights.cosines, weights.sines],
      ...[layout, start, ids.length, causalIds.length, numLogits],
      ...[layout + ids.length * FLOAT_BYTES, space, logits],
    );
    cache.length += causalIds.length;
    return new Logits(this, logits, numLogits);
  }

  /**
   * What rows of logits say. The forbidden token's logits are -infinity in them afterwards.
   * Raises ModelError for logits that are no numbers.
   * @param {Logits} logits
   * @param {number} start
   * @param {number} stop
   * @param {StatsSpec} spec
   */
  stats(logits, start, stop, spec) {
    const { kernel, shape } = this;
    const numRows = stop - start;
    const numBest = Math.min(Math.max(spec.numTop, NUM_BEST), shape.vocabulary);
    const size = numRows * numBest;
    const place = this.numbers.atLeast((2 * size + 2 * numRows) * FLOAT_BYTES);
    const numbersPlace = place + size * FLOAT_BYTES;
    const rows = logits.place + start * shape.vocabulary * FLOAT_BYTES;
    const isFine = kernel.functions.logit_stats(
      ...[rows, numRows, shape.vocabulary, spec.forbiddenId ?? -1, numBest, place, numbersPlace],
    );
    if (!isFine)
      throw new ModelError("The model gave logits that are NaN, infinite or all -infinity.");
    const row = (/** @type {number} */ index) => logits.row(start + index);
    const ids = [...kernel.integers(place, size)];
    const numbers = [...kernel.floats(numbersPlace, size + 2 * numRows)];
    const numTop = Math.min(spec.numTop, shape.vocabulary);
    const firsts = Array.from({ length: numRows }, (_, index) => index * numBest);
    const listed = numTop ? firsts : [];
    return new LogitStats({
      probability: firsts.map((first) => numbers[first] ?? 0),
      margin: numbers.slice(size + numRows),
      entropy: numbers.slice(size, size + numRows),
      bestIds: firsts.map((first) => ids[first] ?? 0),
      topIds: listed.map((first) => ids.slice(first, first + numTop)),
      topProbabilities: listed.map((first) => numbers.slice(first, first + numTop)),
      row,
    });
  }
}
