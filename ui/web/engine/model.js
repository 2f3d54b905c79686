// A model's graph in ONNX Runtime: forward passes over one text, and the places of its KV cache. The
// graph and its inputs are described in sbd_core/models/backends/onnx/web_graph.py.

import { visibleRows } from "../core/forward/mask.js";
import { EngineError } from "./errors.js";

/** @import { SeenBlock } from "../core/forward/mask.js" */
/** @import { Resident, Runtime, Type } from "./runtime.js" */

const FLOAT_BYTES = 4;
/** Capacity is a multiple of this, so that sums over positions keep their order. */
const CAPACITY_STEP = 64;
/** Rows read at once of a prompt: scores grow with their square. */
const LONGEST_PASS = 128;
/** Added to the score of what a row does not see. */
const UNSEEN = -1e30;
/** A GPU's passes have one of these numbers of rows, or a multiple of the last. */
export const ROW_COUNTS = [4, 8, 16, 32, 48, 64];

/**
 * Sizes of a model, as its forward passes need them.
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
  /** @param {Model} model @param {number} numRows */
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
  /** @param {Model} model @param {number} capacity in positions */
  constructor({ runtime, session, shape, fewestRows }, capacity) {
    const { numLayers, numKvHeads, headSize } = shape;
    const padding = fewestRows > 1 ? /** @type {number} */ (ROW_COUNTS.at(-1)) : 0;
    this.capacity = Math.ceil((capacity + padding) / CAPACITY_STEP) * CAPACITY_STEP;
    this.length = 0;
    /** @type {Resident[]} */
    this.residents = [];
    /** @type {Record<string, number>} */
    this.inputs = {};
    /** @type {Record<string, number>} */
    this.outputs = {};
    try {
      for (let index = 0; index < 2 * numLayers; index += 1) {
        const name = `${index % 2 ? "values" : "keys"}.${index >> 1}`;
        // What lies behind the length must be finite, so that a weight of zero takes it out.
        const made = runtime.resident(session, [numKvHeads * this.capacity, headSize]);
        this.residents.push(made);
        this.inputs[name] = this.outputs[`${name}.new`] = made.tensor;
      }
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** @param {number} length forget every token from this position on */
  truncate(length) {
    this.length = Math.min(this.length, length);
  }

  /** Give the memory back; the cache is of no use any more. */
  release() {
    for (const each of this.residents.splice(0)) each.release();
  }
}

/**
 * Cosines and sines of every position, each (positions, half a head); in fp32 as transformers has
 * them.
 * @param {Shape} shape
 */
function rotaryTables({ rotary: { frequencies, scaling }, maxPositions }) {
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
    /** Rows that a pass has at least: with fewer, a row's numbers may depend on those beside it. */
    this.fewestRows = runtime.device ? Number(ROW_COUNTS[0]) : 1;
    /** Logits come in multiples of this many rows. */
    this.wantedStep = this.fewestRows;
  }

  /** With how many rows a pass of so many is made. @param {number} numRows */
  padded(numRows) {
    if (this.fewestRows === 1) return numRows;
    const longest = Number(ROW_COUNTS.at(-1));
    const asked = Math.max(numRows, this.fewestRows);
    return ROW_COUNTS.find((count) => count >= asked) ?? Math.ceil(asked / longest) * longest;
  }

  /**
   * One forward pass; the causal keys and values stay in the cache, those of blocks are dropped.
   * @param {ForwardRequest} request
   * @returns {Promise<Logits>} of the last numCausalLogits causal tokens and of every block position
   */
  async forward({ cache, causalIds, blockIds, numCausalLogits, predraftBlocks }) {
    const numQuiet = causalIds.length - numCausalLogits;
    // A long prompt is read piece by piece: nobody asks for logits but the last token's.
    let start = 0;
    for (; numQuiet - start > LONGEST_PASS; start += LONGEST_PASS) {
      await this.pass(cache, causalIds.slice(start, start + LONGEST_PASS), [], [], 1);
    }
    const numRead = causalIds.length - start;
    const blocks = predraftBlocks.map(({ numCausal, tokenIds, isAlternative }) => ({
      seen: numCausal - start,
      size: tokenIds.length,
      numCausal: Number(isAlternative),
    }));
    if (blockIds.length) blocks.unshift({ seen: numRead, size: blockIds.length, numCausal: 0 });
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
    const numRead = ids.length;
    const numRows = this.padded(numRead);
    const numWanted = Math.ceil(numLogits / this.wantedStep) * this.wantedStep;
    if (length + numRows > capacity) throw new EngineError("The text is longer than its cache.");
    const half = shape.rotary.frequencies.length;
    const logits = this.logits.atLeast(numWanted * vocabulary * FLOAT_BYTES);
    // The widest first, as each must begin where its elements may.
    const counts = [numRows * numKvHeads * 2, numRows * capacity, numRows * half, numRows * half];
    const all = [...counts, numRows, numWanted, numRows];
    let place = this.scratch.atLeast(all.reduce((sum, count) => sum + count, 0) * FLOAT_BYTES);
    const [places = 0, bias = 0, cosines = 0, sines = 0, tokens = 0, wanted = 0, isOfBlock = 0] =
      all.map((count) => {
        const own = place;
        place += count * FLOAT_BYTES;
        return own;
      });
    runtime.integers(tokens, numRows).fill(0).set(ids);
    runtime.integers(wanted, numWanted).forEach((_, index, rows) => {
      rows[index] = Math.min(numRead - numLogits + index, numRead - 1);
    });
    runtime.longs(places, numRows * numKvHeads).forEach((_, index, rows) => {
      const [row, head] = [Math.floor(index / numKvHeads), index % numKvHeads];
      rows[index] = BigInt(head * capacity + length + row);
    });
    const rows = visibleRows(causalIds.length, blocks);
    const padding = { seen: 1 - length, first: 0, stop: 0, position: -length, isCausal: true };
    while (rows.length < numRows) rows.push(padding);
    const kinds = runtime.floats(isOfBlock, numRows);
    const scores = runtime.floats(bias, numRows * capacity).fill(UNSEEN);
    for (const [row, { seen, first, stop, position, isCausal }] of rows.entries()) {
      const own = row * capacity;
      scores.fill(0, own, own + length + seen);
      scores.fill(0, own + length + first, own + length + stop);
      kinds[row] = isCausal ? 0 : 1;
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
      ["wanted", "int32", [numWanted], wanted],
      ["cosines", "float32", [numRows, half], cosines],
      ["sines", "float32", [numRows, half], sines],
      ["places", "int64", [numRows * numKvHeads, 1], places],
      ["bias", "float32", [numRows, capacity], bias],
    ];
    if (shape.hasAdapter) inputs.push(["is_of_block", "float32", [numRows, 1], isOfBlock]);
    /** @type {typeof inputs} */
    const outputs = [["logits", "float32", [numWanted, vocabulary], logits]];
    if (this.samplerSize) {
      const place = this.sampler.atLeast(numWanted * this.samplerSize * FLOAT_BYTES);
      outputs.push(["sampler", "float32", [numWanted, this.samplerSize], place]);
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
