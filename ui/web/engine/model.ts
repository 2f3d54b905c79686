// Makes forward passes over one text by running a model's graph in ONNX Runtime, and holds the text's KV cache.
// sbd_core/models/backends/onnx/web_graph.py describes the graph and its inputs.

import { type SeenBlock, visibleRows } from "../core/mask.ts";
import { EngineError } from "./errors.ts";
import type { Checkpoint } from "./export.ts";
import type { Manifest } from "./files.ts";
import { bytesOf, type Runtime, type Tensor, type Tensors, type Type } from "./runtime.ts";

type TensorSpec = [name: string, type: Type, sizes: number[]];
/** The capacity is a multiple of this, so that sums over positions are always taken in the same order. */
const CAPACITY_STEP = 64;
/** Largest number of rows of a prompt to read at once: the number of attention scores grows with their square. */
const LONGEST_PASS = 128;
/** Added to the attention score of a key that a row does not see. */
const UNSEEN = -1e30;
/** Numbers of rows to which passes on a GPU are padded; above the last one, to a multiple of it. */
const ROW_COUNTS = [4, 8, 16, 32, 48, 64];
const MOST_ROWS = 64;

/** The sizes of a model, by their names in the manifest. */
export interface Shape {
  num_layers: number;
  hidden: number;
  num_heads: number;
  num_kv_heads: number;
  head_size: number;
  width: number; // of the feed-forward layers
  vocabulary: number;
  max_positions: number;
  rotary: { inverse_frequencies: number[]; scaling: number };
  has_adapter: boolean;
  block_range: [low: number, high: number] | null; // block sizes that it was trained on; null for any
}

/** A block that sees only some of the causal tokens, see SeenBlock. */
export type PredraftBlock = { seen: number; numCausal: number; tokenIds: number[] };

/** A forward pass to make; see ForwardRequest in sbd_core/models/protocol.py. */
export interface ForwardRequest {
  cache: Cache;
  causalIds: number[];
  blockIds: number[];
  numCausalLogits: number; // number of the last causal tokens that need logits
  predraftBlocks: PredraftBlock[];
}

/** Memory for tensors that is used again in every pass. It grows on demand, and then loses its content. */
class Scratch {
  address = 0;
  bytes = 0;

  constructor(readonly runtime: Runtime) {}

  /**
   * Make tensors one after another in this memory.
   * @param specs those of the widest type first, so that each begins at a multiple of its elements' size
   */
  hold(specs: TensorSpec[]) {
    const bytes = specs.reduce((sum, [, type, sizes]) => sum + bytesOf(type, sizes), 0);
    if (bytes > this.bytes) {
      if (this.bytes) this.runtime.release(this.address);
      this.bytes = 0; // in case allocate() fails
      this.address = this.runtime.allocate(bytes);
      this.bytes = bytes;
    }
    const held: Tensors = {};
    let { address } = this;
    for (const [name, type, sizes] of specs) {
      held[name] = this.runtime.tensor(type, sizes, address);
      address += bytesOf(type, sizes);
    }
    return held;
  }
}

/** Rows of logits in the runtime's memory; valid until the next forward pass. */
export class Logits {
  constructor(readonly tensors: Tensors) {}

  row(index: number) {
    return rowOf(this.tensors.logits, index);
  }

  /** Return the hidden state's part of `into @ x`; see Weights in sampling.ts. @param index of the row */
  samplerHiddenPart(index: number) {
    return rowOf(this.tensors.sampler, index);
  }
}

function rowOf({ sizes: [, size], values }: Tensor, index: number) {
  return values().subarray(index * size, (index + 1) * size);
}

/** Keys and values of the causal tokens read so far; every forward pass reads them and adds to them. */
export class Cache {
  capacity: number;
  length = 0;
  inputs: Tensors = {};
  outputs: Tensors = {};

  /** @param capacity least number of positions */
  constructor({ runtime, session, shape, fewestRows }: Model, capacity: number) {
    const padding = fewestRows > 1 ? MOST_ROWS : 0;
    this.capacity = Math.ceil((capacity + padding) / CAPACITY_STEP) * CAPACITY_STEP;
    try {
      for (let index = 0; index < 2 * shape.num_layers; index += 1) {
        const name = `${index % 2 ? "values" : "keys"}.${index >> 1}`;
        // What lies after `length` has a weight of 0 in attention, which cancels only finite values.
        const sizes = [shape.num_kv_heads * this.capacity, shape.head_size];
        this.inputs[name] = this.outputs[`${name}.new`] = runtime.resident(session, sizes);
      }
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** Forget all tokens from position `length` on. */
  truncate(length: number) {
    this.length = Math.min(this.length, length);
  }

  /** Free the memory. The cache cannot be used afterwards. */
  release() {
    for (const tensor of Object.values(this.inputs)) tensor.release();
    this.inputs = {};
  }
}

/** Compute the cosines and sines, (positions, half a head) each, in fp32 as transformers does. */
function rotaryTables({ rotary, max_positions }: Shape) {
  const { inverse_frequencies: frequencies, scaling } = rotary;
  const half = frequencies.length;
  const angles = Float32Array.from({ length: max_positions * half }, (_, place) => {
    return Math.floor(place / half) * frequencies[place % half];
  });
  const cosines = angles.map((angle) => Math.fround(Math.cos(angle)) * scaling);
  const sines = angles.map((angle) => Math.fround(Math.sin(angle)) * scaling);
  return { cosines, sines };
}

export class Model {
  rotary = rotaryTables(this.shape);
  inputs = new Scratch(this.runtime);
  outputs = new Scratch(this.runtime);
  /** Least number of rows of a pass: with fewer, a row's values may depend on the rows beside it. */
  fewestRows = this.runtime.device ? ROW_COUNTS[0] : 1;
  /** The number of rows with logits is a multiple of this. */
  logitRowStep = this.fewestRows;

  /** @param samplerSize numbers per row that the graph computes for a sampler head; 0 without one */
  constructor(
    readonly runtime: Runtime,
    readonly session: number,
    readonly shape: Shape,
    readonly samplerSize: number,
  ) {}

  /** Return the number of rows to which a pass is padded. @param numRows rows that it reads */
  paddedRows(numRows: number) {
    if (this.fewestRows === 1) return numRows;
    const numNeeded = Math.max(numRows, this.fewestRows);
    return (
      ROW_COUNTS.find((count) => count >= numNeeded) ?? Math.ceil(numNeeded / MOST_ROWS) * MOST_ROWS
    );
  }

  /**
   * Make a forward pass. The keys and values of causal tokens stay in the cache, those of blocks are dropped.
   * @returns of the last numCausalLogits causal tokens and of every row of a block
   */
  async forward(request: ForwardRequest): Promise<Logits> {
    const { cache, causalIds, blockIds, numCausalLogits, predraftBlocks } = request;
    const numWithoutLogits = causalIds.length - numCausalLogits;
    // A long prompt is read in several calls, as the logits of its first tokens are not needed.
    let start = 0;
    for (; numWithoutLogits - start > LONGEST_PASS; start += LONGEST_PASS) {
      await this.pass(cache, causalIds.slice(start, start + LONGEST_PASS), [], [], 1);
    }
    const numRead = causalIds.length - start;
    const blocks = predraftBlocks.map(({ seen, numCausal, tokenIds }) => {
      return { seen: seen - start, size: tokenIds.length, numCausal };
    });
    if (blockIds.length) blocks.unshift({ seen: numRead, size: blockIds.length, numCausal: 0 });
    const ids = [...blockIds, ...predraftBlocks.flatMap((block) => block.tokenIds)];
    return this.pass(cache, causalIds.slice(start), ids, blocks, numCausalLogits + ids.length);
  }

  /**
   * Run the graph once.
   * @param numLogits number of the last rows that need logits
   */
  async pass(
    cache: Cache,
    causalIds: number[],
    blockIds: number[],
    blocks: SeenBlock[],
    numLogits: number,
  ) {
    const { runtime, shape, rotary } = this;
    const { num_kv_heads: numKvHeads, vocabulary } = shape;
    const { length, capacity } = cache;
    const ids = [...causalIds, ...blockIds];
    const numRead = ids.length;
    const numRows = this.paddedRows(numRead);
    const numLogitRows = Math.ceil(numLogits / this.logitRowStep) * this.logitRowStep;
    if (length + numRows > capacity) throw new EngineError("The text is longer than its cache.");
    const half = shape.rotary.inverse_frequencies.length;
    const outputs: TensorSpec[] = [["logits", "float32", [numLogitRows, vocabulary]]];
    if (this.samplerSize) outputs.push(["sampler", "float32", [numLogitRows, this.samplerSize]]);
    const inputs: TensorSpec[] = [
      ["places", "int64", [numRows * numKvHeads, 1]],
      ["bias", "float32", [numRows, capacity]],
      ["cosines", "float32", [numRows, half]],
      ["sines", "float32", [numRows, half]],
      ["token_ids", "int32", [numRows]],
      ["wanted", "int32", [numLogitRows]],
    ];
    if (shape.has_adapter) inputs.push(["is_of_block", "float32", [numRows, 1]]);
    const made = this.outputs.hold(outputs);
    const read = this.inputs.hold(inputs);
    read.token_ids.values<Int32Array>().fill(0).set(ids);
    read.wanted.values<Int32Array>().forEach((_, index, wanted) => {
      wanted[index] = Math.min(numRead - numLogits + index, numRead - 1);
    });
    read.places.values<BigInt64Array>().forEach((_, index, places) => {
      const [row, head] = [Math.floor(index / numKvHeads), index % numKvHeads];
      places[index] = BigInt(head * capacity + length + row);
    });
    const rows = visibleRows(causalIds.length, blocks);
    const padding = { seen: 1 - length, first: 0, stop: 0, position: -length, isCausal: true };
    while (rows.length < numRows) rows.push(padding);
    const bias = read.bias.values().fill(UNSEEN);
    const [cosines, sines] = [read.cosines.values(), read.sines.values()];
    for (const [row, { seen, first, stop, position }] of rows.entries()) {
      const own = row * capacity;
      bias.fill(0, own, own + length + seen);
      bias.fill(0, own + length + first, own + length + stop);
      const from = (length + position) * half;
      cosines.set(rotary.cosines.subarray(from, from + half), row * half);
      sines.set(rotary.sines.subarray(from, from + half), row * half);
    }
    read.is_of_block?.values().set(rows.map(({ isCausal }) => Number(!isCausal)));
    const [known, kept] = [cache.inputs, cache.outputs];
    try {
      await runtime.run(this.session, { ...read, ...known }, { ...made, ...kept });
    } finally {
      for (const tensor of [read, made].flatMap(Object.values)) tensor.release();
    }
    cache.length += causalIds.length;
    return new Logits(made);
  }
}

/** Number of tokens in an export's trial; see TRIAL in sbd_core/models/web_export.py. */
const NUM_TRIED = 24;
/** Largest error of a logit through 8-bit weights, as a share of the largest logit. */
const NEAR = 0.1;
/** Largest number of rows to pad every pass to: more padding would cost what a GPU gains. */
const MOST_ROWS_AT_LEAST = 32;

/**
 * Test a GPU with passes of all numbers of rows, which also compiles their shaders: whether the logits are right, and
 * from how many rows on a row's logits have the same bits whatever stands beside it. Sets fewestRows to that number.
 * Raises EngineError if logits are wrong or no such number is small enough.
 */
export async function testGpu({ model, maskId }: Checkpoint, trial: Manifest["trial"]) {
  const ids = Array.from({ length: NUM_TRIED }, (_, index) => index);
  const cache = new Cache(model, NUM_TRIED + MOST_ROWS);
  const request = { cache, causalIds: ids.slice(-2), blockIds: [], numCausalLogits: 1 };
  /** Return the logits of the last causal row and of a masked row in a pass of `numRows`. */
  const rowsOf = async (numRows: number) => {
    cache.truncate(NUM_TRIED - 2);
    const other = { seen: 1, numCausal: 0, tokenIds: [maskId ?? 0] };
    const logits = await model.forward({
      ...request,
      blockIds: [maskId ?? 0],
      predraftBlocks: new Array(numRows - 3).fill(other),
    });
    return [...logits.row(0), ...logits.row(1)];
  };
  try {
    await model.forward({ ...request, causalIds: ids.slice(0, -2), predraftBlocks: [] });
    const found = await rowsOf(MOST_ROWS);
    const most = Math.abs(trial[0]?.[1] ?? 0);
    if (!trial.every(([id, logit]) => Math.abs(found[id] - logit) < NEAR * most)) {
      throw new EngineError("Your GPU computes other numbers than it should.");
    }
    let [fewest, isSame] = [MOST_ROWS, true];
    for (const count of ROW_COUNTS.slice(0, -1).toReversed()) {
      const rows = await rowsOf(count);
      isSame &&= rows.every((value, index) => value === found[index]);
      if (isSame) fewest = count;
    }
    model.fewestRows = fewest;
    cache.truncate(NUM_TRIED - 2);
    const alone = (await model.forward({ ...request, predraftBlocks: [] })).row(0);
    if (fewest > MOST_ROWS_AT_LEAST || !alone.every((value, index) => value === found[index])) {
      throw new EngineError("On your GPU a row’s numbers depend on the rows beside it.");
    }
  } finally {
    cache.release();
  }
}
