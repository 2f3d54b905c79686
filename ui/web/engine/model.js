// A model's graph in ONNX Runtime: forward passes over one text, and the places of its KV cache. The
// graph and its inputs are described in sbd_core/models/backends/onnx/web.py.

import { ModelError } from "./errors.js";

/** @import { Runtime, Type } from "./runtime.js" */

const FLOAT_BYTES = 4;
/** Capacity is a multiple of this, so that sums over positions keep their order. */
const CAPACITY_STEP = 64;
/** Rows read at once of a prompt: scores grow with their square. */
const LONGEST_PASS = 128;

/**
 * What forward passes need to know of a model.
 * @typedef {object} Shape
 * @property {number} numLayers
 * @property {number} hidden
 * @property {number} numHeads
 * @property {number} numKvHeads
 * @property {number} headSize
 * @property {number} width of the feed-forward part
 * @property {number} vocabulary
 * @property {number} maxPositions
 * @property {{ frequencies: number[], scaling: number }} rotary
 * @property {boolean} hasAdapter
 * @property {[low: number, high: number] | null} blockRange block sizes it was trained on
 */

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

/** @typedef {{ numSeen: number, size: number, numCausal: number }} SeenBlock as in sbd_core/masks.py */

/** A place that grows with what is asked of it; what it held is lost then. */
class Scratch {
  /** @param {Runtime} runtime */
  constructor(runtime) {
    this.runtime = runtime;
    this.place = 0;
    this.bytes = 0;
  }

  /** @param {number} bytes */
  atLeast(bytes) {
    if (bytes > this.bytes) {
      if (this.bytes) this.runtime.release(this.place);
      this.bytes = 0; // nothing is here if there is no more memory
      this.place = this.runtime.allocate(bytes);
      this.bytes = bytes;
    }
    return this.place;
  }
}

/** Rows of logits in the runtime's memory, there until the next forward pass. */
export class Logits {
  /**
   * @param {Model} model
   * @param {number} numRows
   */
  constructor(model, numRows) {
    this.model = model;
    this.numRows = numRows;
  }

  /** @param {number} index */
  row(index) {
    const { runtime, shape, logits } = this.model;
    return runtime.floats(logits.place + index * shape.vocabulary * FLOAT_BYTES, shape.vocabulary);
  }

  /** The share of the hidden state in what a sampler head sums up. @param {number} index */
  ofHidden(index) {
    const { runtime, samplerSize, sampler } = this.model;
    return runtime.floats(sampler.place + index * samplerSize * FLOAT_BYTES, samplerSize);
  }
}

/** Keys and values of the causal tokens read so far, input and output of every forward pass. */
export class Cache {
  /**
   * @param {Model} model
   * @param {number} capacity in positions
   */
  constructor({ runtime, shape }, capacity) {
    const { numLayers, numKvHeads, headSize } = shape;
    this.runtime = runtime;
    this.capacity = Math.ceil(capacity / CAPACITY_STEP) * CAPACITY_STEP;
    this.length = 0;
    const sizes = [numKvHeads * this.capacity, headSize];
    const count = numKvHeads * this.capacity * headSize;
    this.place = runtime.allocate(2 * numLayers * count * FLOAT_BYTES);
    // What lies behind the length must be finite, so that a weight of zero takes it out.
    runtime.floats(this.place, 2 * numLayers * count).fill(0);
    /** @type {Record<string, number>} */
    this.inputs = {};
    /** @type {Record<string, number>} */
    this.outputs = {};
    for (let index = 0; index < 2 * numLayers; index += 1) {
      const name = `${index % 2 ? "values" : "keys"}.${index >> 1}`;
      const place = this.place + index * count * FLOAT_BYTES;
      const tensor = runtime.tensor("float32", sizes, place);
      this.inputs[name] = this.outputs[`${name}.new`] = tensor;
    }
  }

  /** @param {number} length forget every token from this position on */
  truncate(length) {
    this.length = Math.min(this.length, length);
  }

  /** Give the memory back; the cache is of no use any more. */
  release() {
    for (const tensor of Object.values(this.inputs)) this.runtime.releaseTensor(tensor);
    this.runtime.release(this.place);
  }
}

/**
 * Cosines and sines of every position, each (positions, half a head); in fp32 as transformers has
 * them.
 * @param {Shape} shape
 */
export function rotaryTables({ rotary: { frequencies, scaling }, maxPositions }) {
  const half = frequencies.length;
  const cosines = new Float32Array(maxPositions * half);
  const sines = new Float32Array(maxPositions * half);
  for (let place = 0; place < cosines.length; place += 1) {
    const angle = Math.fround(Math.floor(place / half) * (frequencies[place % half] ?? 0));
    cosines[place] = Math.fround(Math.cos(angle)) * scaling;
    sines[place] = Math.fround(Math.sin(angle)) * scaling;
  }
  return { cosines, sines };
}

export class Model {
  /**
   * @param {Runtime} runtime
   * @param {number} session of the graph
   * @param {Shape} shape
   * @param {number} samplerSize numbers a row that the graph gives a sampler head, 0 without one
   */
  constructor(runtime, session, shape, samplerSize) {
    this.runtime = runtime;
    this.session = session;
    this.shape = shape;
    this.samplerSize = samplerSize;
    this.rotary = rotaryTables(shape);
    this.logits = new Scratch(runtime);
    this.sampler = new Scratch(runtime);
    this.scratch = new Scratch(runtime);
  }

  /**
   * One forward pass; the causal keys and values stay in the cache, those of blocks are dropped.
   * @param {ForwardRequest} request
   * @returns {Promise<Logits>} of the last numCausalLogits causal tokens and of every block position
   */
  async forward({ cache, causalIds, blockIds, numCausalLogits, predraftBlocks }) {
    const numQuiet = causalIds.length - numCausalLogits;
    // Of a long prompt nobody asks for logits but the last token's: it is read piece by piece.
    let start = 0;
    for (; numQuiet - start > LONGEST_PASS; start += LONGEST_PASS) {
      await this.pass(cache, causalIds.slice(start, start + LONGEST_PASS), [], [], 1);
    }
    const numRead = causalIds.length - start;
    const blocks = predraftBlocks.map(({ numCausal, tokenIds, isAlternative }) => ({
      numSeen: numCausal - start,
      size: tokenIds.length,
      numCausal: isAlternative ? 1 : 0,
    }));
    if (blockIds.length) blocks.unshift({ numSeen: numRead, size: blockIds.length, numCausal: 0 });
    const ids = [...blockIds, ...predraftBlocks.flatMap((block) => block.tokenIds)];
    return this.pass(cache, causalIds.slice(start), ids, blocks, numCausalLogits + ids.length);
  }

  /**
   * @param {Cache} cache
   * @param {number[]} causalIds
   * @param {number[]} blockIds of all blocks
   * @param {SeenBlock[]} blocks
   * @param {number} numLogits of the last rows
   */
  async pass(cache, causalIds, blockIds, blocks, numLogits) {
    const { runtime, shape } = this;
    const { numKvHeads, vocabulary } = shape;
    const { length, capacity } = cache;
    const ids = [...causalIds, ...blockIds];
    const numRows = ids.length;
    if (length + numRows > capacity) throw new ModelError("The text is longer than its cache.");
    const half = shape.rotary.frequencies.length;
    const logits = this.logits.atLeast(numLogits * vocabulary * FLOAT_BYTES);
    // The widest first, as each must begin where its elements may.
    const counts = [numRows * numKvHeads * 2, numRows * capacity, numRows * half, numRows * half];
    const all = [...counts, numRows, numLogits, numRows];
    let place = this.scratch.atLeast(all.reduce((sum, count) => sum + count, 0) * FLOAT_BYTES);
    const [places = 0, bias = 0, cosines = 0, sines = 0, tokens = 0, wanted = 0, isOfBlock = 0] =
      all.map((count) => {
        const own = place;
        place += count * FLOAT_BYTES;
        return own;
      });
    runtime.integers(tokens, numRows).set(ids);
    runtime.integers(wanted, numLogits).forEach((_, index, rows) => {
      rows[index] = numRows - numLogits + index;
    });
    runtime.longs(places, numRows * numKvHeads).forEach((_, index, rows) => {
      const [row, head] = [Math.floor(index / numKvHeads), index % numKvHeads];
      rows[index] = BigInt(head * capacity + length + row);
    });
    const rows = visibleRows(causalIds.length, blocks);
    const kinds = runtime.floats(isOfBlock, numRows);
    const scores = runtime.floats(bias, numRows * capacity).fill(-Infinity);
    for (const [row, { seen, first, stop, position, isMask }] of rows.entries()) {
      const own = row * capacity;
      scores.fill(0, own, own + length + seen);
      scores.fill(0, own + length + first, own + length + stop);
      kinds[row] = isMask ? 1 : 0;
      const from = (length + position) * half;
      runtime
        .floats(cosines, numRows * half)
        .set(this.rotary.cosines.subarray(from, from + half), row * half);
      runtime
        .floats(sines, numRows * half)
        .set(this.rotary.sines.subarray(from, from + half), row * half);
    }
    /** @type {[name: string, type: Type, sizes: number[], place: number][]} */
    const inputs = [
      ["token_ids", "int32", [numRows], tokens],
      ["wanted", "int32", [numLogits], wanted],
      ["cosines", "float32", [numRows, half], cosines],
      ["sines", "float32", [numRows, half], sines],
      ["places", "int64", [numRows * numKvHeads, 1], places],
      ["bias", "float32", [numRows, capacity], bias],
    ];
    if (shape.hasAdapter) inputs.push(["is_of_block", "float32", [numRows, 1], isOfBlock]);
    /** @type {typeof inputs} */
    const outputs = [["logits", "float32", [numLogits, vocabulary], logits]];
    if (this.samplerSize) {
      const place = this.sampler.atLeast(numLogits * this.samplerSize * FLOAT_BYTES);
      outputs.push(["sampler", "float32", [numLogits, this.samplerSize], place]);
    }
    const [given, asked] = [inputs, outputs].map((list) =>
      Object.fromEntries(
        list.map(([name, type, sizes, at]) => [name, runtime.tensor(type, sizes, at)]),
      ),
    );
    try {
      await runtime.run(
        this.session,
        { ...given, ...cache.inputs },
        { ...asked, ...cache.outputs },
      );
    } finally {
      for (const tensor of Object.values({ ...given, ...asked })) runtime.releaseTensor(tensor);
    }
    cache.length += causalIds.length;
    return new Logits(this, numLogits);
  }
}

/**
 * Of every row of a forward pass: it sees what is cached, the rows before `seen`, and those from
 * `first` to before `stop`; visible_rows() of sbd_core/masks.py. position: behind what is cached.
 * @param {number} numCausal
 * @param {SeenBlock[]} blocks
 */
export function visibleRows(numCausal, blocks) {
  const rows = Array.from({ length: numCausal }, (_, index) => ({
    seen: index + 1,
    first: 0,
    stop: 0,
    position: index,
    isMask: false,
  }));
  for (const { numSeen, size, numCausal: numOwn } of blocks) {
    const first = rows.length;
    for (let index = 0; index < size; index += 1) {
      const isMask = index >= numOwn;
      const stop = first + (isMask ? size : index + 1);
      rows.push({ seen: numSeen, first, stop, position: numSeen + index, isMask });
    }
  }
  return rows;
}
