// Opens a model that `python -m sbd_core export web` wrote: its graph, and the weights made for it from the tensors
// stored, in the order of operations that sbd_core/models/backends/onnx/web_graph.py has, so that both compute with the
// same numbers.

import { PENALTIES, requireNumber } from "./decoding/settings.js";
import { EngineError } from "./errors.js";
import { Model } from "./model.js";
import { SamplerHead } from "./sampling.js";
import { Tokenizer } from "./tokenizer.js";

/** @import { Calibration, RowCosts } from "./decoding/verify_rows.js" */
/** @import { Files, Graph, Initializer, Manifest, Stored } from "./files.js" */
/** @import { Shape } from "./model.js" */
/** @import { Runtime } from "./runtime.js" */

const WEIGHTS_FILE = "weights.bin";
const EMBEDDING = "model.embed_tokens.weight";
const HEAD = "lm_head.weight";
const TEMPLATE = "chat_template.jinja";
/** The number of parts fetched at once. */
const AT_ONCE = 4;
/** The graph of an export in int8 that tries out the products; see sbd_core/models/backends/onnx/build.py. */
const PRODUCTS = "products.onnx";
const NUM_PRODUCTS = 576;
const INEXACT = "This browser’s products of 8-bit integers are not exact, which the model needs.";

/**
 * A model, its tokenizer, and what else decoding needs.
 * @typedef {object} Checkpoint
 * @property {string} name
 * @property {Model} model
 * @property {Tokenizer} tokenizer
 * @property {number | null} maskId
 * @property {Set<number>} endIds
 * @property {number} repetitionPenalty the penalty of a decode that names none
 * @property {Calibration} calibration
 * @property {SamplerHead | null} samplerHead
 * @property {number} numParameters
 * @property {RowCosts | null} rowCosts costs on this device, once they were measured
 * @property {(costs: RowCosts) => void} keepCosts keeps them for a later visit
 */

/**
 * Open an export. Raises EngineError, which says what is wrong with it.
 * @param {Runtime} runtime
 * @param {Manifest} manifest
 * @param {Files} files
 * @param {string} [engine] the engine whose graph is taken
 * @returns {Promise<Checkpoint>}
 */
export async function openExport(runtime, manifest, files, engine = "wasm") {
  const { name, config, tensors, graphs } = manifest;
  const graph = graphs[engine] ?? missing("graph for this engine");
  /** @param {string} file */
  const read = (file) => files.read(file, manifest.files[file] ?? missing(file));
  /** @param {string} file */
  const textOf = async (file) => new TextDecoder().decode(await read(file));
  const settings = jsonOf(await textOf("tokenizer_config.json"), "tokenizer_config.json");
  const own = TEMPLATE in manifest.files ? await textOf(TEMPLATE) : settings.chat_template;
  const vocabulary = jsonOf(await textOf("tokenizer.json"), "tokenizer.json");
  const tokenizer = new Tokenizer(vocabulary, settings, own ?? null);
  const { intermediate_size: width } = jsonOf(await textOf("config.json"), "config.json");
  if (engine === "wasm" && PRODUCTS in manifest.files)
    await tryProducts(runtime, await read(PRODUCTS));
  const code = await read(graph.file);
  const weights = new Weights(tensors, await partsOf(manifest, files));
  const session = await runtime.session(code, { [WEIGHTS_FILE]: weights.fileOf(graph) });
  requireNumber("config.repetition_penalty", config.repetition_penalty, ...PENALTIES);
  const shape = /** @type {Shape} */ ({ ...config, width });
  const model = new Model(runtime, session, shape, 2 * (config.sampler?.width ?? 0));
  return {
    name,
    model,
    tokenizer,
    maskId: config.mask_token_id,
    endIds: new Set(config.end_token_ids),
    repetitionPenalty: config.repetition_penalty,
    calibration: config.calibration,
    samplerHead: config.sampler ? samplerHead(weights, shape.hidden) : null,
    numParameters: numParameters(manifest),
    rowCosts: null,
    keepCosts: () => {},
  };
}

/**
 * Try products of 8-bit integers. Raises EngineError where sums of the largest ones are cut off.
 * @param {Runtime} runtime
 * @param {Uint8Array} graph
 */
async function tryProducts(runtime, graph) {
  const session = await runtime.session(graph, {});
  for (const numRows of [1, 5, 17]) {
    const size = numRows * NUM_PRODUCTS;
    const place = runtime.allocate(size + 4);
    runtime.floats(place, 1).fill(Number.NaN);
    const isLargest = (/** @type {number} */ i) => i < NUM_PRODUCTS || (i * 7919) % 13 < 6;
    const values = Array.from({ length: size }, (_, index) => (isLargest(index) ? 255 : 0));
    runtime.bytes(place + 4, size).set(values);
    const x = runtime.tensor("uint8", [numRows, NUM_PRODUCTS], place + 4);
    const told = runtime.tensor("float32", [], place);
    await runtime.run(session, { x }, { error: told });
    const isExact = runtime.floats(place, 1)[0] === 0;
    for (const tensor of [x, told]) runtime.releaseTensor(tensor);
    runtime.release(place);
    if (!isExact) throw new EngineError(INEXACT);
  }
}

/**
 * The parts put together, a few fetched at once.
 * @param {Manifest} manifest
 * @param {Files} files
 */
async function partsOf({ parts }, files) {
  const data = new Uint8Array(parts.reduce((sum, { size }) => sum + size, 0));
  const waiting = parts.values(); // shared, so that each part is read once
  let next = 0;
  const work = async () => {
    for (const part of waiting) {
      const place = next;
      next += part.size;
      data.set(await files.read(part.file, part), place);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return data;
}

/** The sampler head of the stored tensors. @param {Weights} weights @param {number} hidden */
function samplerHead(weights, hidden) {
  const ofToken = between(weights.matrix("sampler.into"), [hidden, 2 * hidden]).values;
  const out = weights.matrix("sampler.out").values;
  const embedding = weights.rowsOf(EMBEDDING);
  const head = HEAD in weights.tensors ? weights.rowsOf(HEAD) : embedding;
  return new SamplerHead({ ofToken, out, embedding, head }, hidden);
}

/** The size of the model itself, without adapter and sampler head. @param {Manifest} manifest */
function numParameters({ tensors }) {
  const own = Object.entries(tensors).filter(([name]) => /^(model|lm_head)\./.test(name));
  const sizes = own.map(([, { shape }]) => shape.reduce((product, size) => product * size, 1));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** @param {string} file @returns {never} */
function missing(file) {
  throw new EngineError(`The model’s export has no ${file}.`);
}

/** The JSON object that a file holds. @param {string} text @param {string} name @returns {Record<string, any>} */
function jsonOf(text, name) {
  try {
    const found = JSON.parse(text);
    if (typeof found === "object" && found !== null && !Array.isArray(found)) return found;
  } catch {
    // Said below: text that is no JSON is no object either.
  }
  throw new EngineError(`${name} is not a JSON object.`);
}

const { fround } = Math;
const [LARGEST, MIDDLE] = [127, 128];
const TINY = fround(1e-30);
const Q8_BYTES = 34;
const Q4_BYTES = 20;
const GROUP = 32;
const EVEN = 1.5 * 2 ** 23;

/** @typedef {{ integers: Int8Array | Uint8Array, scales: Float32Array }} Quantized */
/** A matrix of fp32, row by row. @typedef {{ rows: number, columns: number, values: Float32Array }} Matrix */

export class Weights {
  /**
   * @param {Record<string, Stored>} tensors
   * @param {Uint8Array<ArrayBuffer>} data the parts put together
   */
  constructor(tensors, data) {
    this.tensors = tensors;
    this.data = data;
    /** Integers and scales, kept from the rule of the former to that of the latter. @type {({ key: string } & Quantized) | null} */
    this.left = null;
  }

  /** A tensor as it is stored, rows being all its sizes but the last. @param {string} name */
  stored(name) {
    const stored = this.tensors[name];
    if (!stored) throw new EngineError(`The model’s export lacks ${name}.`);
    const { shape, offset, bytes, kind } = stored;
    const read = READERS[kind];
    if (!read) throw new EngineError(`The model’s export holds ${name} as ${kind}, unknown here.`);
    const columns = shape.at(-1) ?? 1;
    const rows = shape.slice(0, -1).reduce((product, size) => product * size, 1);
    const view = new DataView(this.data.buffer, this.data.byteOffset + offset, bytes);
    return { read, rows, columns, view };
  }

  /** A tensor in fp32. @param {string} name @returns {Matrix} */
  matrix(name) {
    const { read, rows, columns, view } = this.stored(name);
    const values = new Float32Array(rows * columns);
    read(view, 0, values);
    return { rows, columns, values };
  }

  /** A function that reads single rows of a tensor, from memory of its own. @param {string} name */
  rowsOf(name) {
    const { read, columns, view } = this.stored(name);
    const own = new DataView(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
    return (/** @type {number} */ row) => {
      const values = new Float32Array(columns);
      read(own, row * columns, values);
      return values;
    };
  }

  /** The file of weights of a graph. @param {Graph} graph */
  fileOf({ bytes, weights }) {
    const file = new Uint8Array(bytes);
    for (const weight of weights) {
      const made = this.made(weight);
      if (made.byteLength !== weight.bytes) {
        throw new EngineError(`The model’s export makes ${weight.name} of another size.`);
      }
      file.set(new Uint8Array(made.buffer, made.byteOffset, made.byteLength), weight.offset);
    }
    return file;
  }

  /** An initializer, made by its rule. @param {Initializer} weight @returns {Float32Array | Int8Array | Uint8Array} */
  made(weight) {
    const part = weight.rule.endsWith("scales") ? "scales" : "integers";
    switch (weight.rule.replace(part, "")) {
      case "values":
        return joined(this.matrices(weight)).values;
      case "diagonal":
        return joined(this.matrices(weight), true).values;
      case "":
        return this.once(weight, () => quantized(joined(this.matrices(weight)), weight))[part];
      case "blocks.":
        return this.once(weight, () => inBlocks(joined(this.matrices(weight))))[part];
      case "rounded.":
        return this.once(weight, () => this.blocks(weight))[part];
      default:
        throw new EngineError(`The model’s export makes weights by ${weight.rule}, unknown here.`);
    }
  }

  /** The tensors that a weight is made of, turned, cut and swapped as it says. @param {Initializer} weight */
  matrices({ from, turns_last: turnsLast, columns, swaps }) {
    const whole = from.map((name) => this.matrix(name));
    const found = columns ? whole.map((matrix) => between(matrix, columns)) : whole;
    const last = found.at(-1);
    if (turnsLast && last) turnRows(last, turnsLast);
    if (swaps) {
      const [axis, kvHeads, group, place] = swaps;
      const swapped = axis === "rows" ? found.slice(place, place + 1) : found;
      for (const matrix of swapped) swapHeads(matrix, axis, kvHeads, group);
    }
    return found;
  }

  /**
   * Make integers and their scales once: these are asked for one after the other.
   * @param {Initializer} weight
   * @param {() => Quantized} make
   */
  once(weight, make) {
    const key = JSON.stringify([weight.from, weight.group, weight.turns_last, weight.swaps]);
    if (this.left?.key !== key) this.left = { key, ...make() };
    return this.left;
  }

  /** A tensor as it is stored, which is in q8_0. @param {Initializer} weight */
  blocks({ from: [name] }) {
    const { rows, columns, view } = this.stored(name);
    const count = (rows * columns) / GROUP;
    const integers = new Int8Array(rows * columns);
    const scales = new Float32Array(count);
    for (let block = 0; block < count; block += 1) {
      const place = block * Q8_BYTES;
      scales[block] = half(view.getUint16(place, true));
      integers.set(new Int8Array(view.buffer, view.byteOffset + place + 2, GROUP), block * GROUP);
    }
    return { integers, scales };
  }
}

/**
 * Readers of each kind of tensor, which fill `values` from the start-th value on; blocks are read whole.
 * @type {Record<string, (view: DataView<ArrayBuffer>, start: number, values: Float32Array) => void>}
 */
const READERS = {
  f32: (view, start, values) => {
    const place = view.byteOffset + 4 * start;
    values.set(new Float32Array(view.buffer.slice(place, place + values.byteLength)));
  },
  bf16: (view, start, values) => {
    const bits = new Uint32Array(values.buffer);
    for (let index = 0; index < bits.length; index += 1) {
      bits[index] = view.getUint16(2 * (start + index), true) << 16;
    }
  },
  q8_0: (view, start, values) => {
    let place = (start / GROUP) * Q8_BYTES;
    const bytes = new Int8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let first = 0; first < values.length; first += GROUP, place += Q8_BYTES) {
      const scale = half(view.getUint16(place, true));
      for (let index = 0; index < GROUP; index += 1) {
        values[first + index] = scale * bytes[place + 2 + index];
      }
    }
  },
  q4_1: (view, start, values) => {
    let place = (start / GROUP) * Q4_BYTES;
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let first = 0; first < values.length; first += GROUP, place += Q4_BYTES) {
      const scale = half(view.getUint16(place, true));
      const least = half(view.getUint16(place + 2, true));
      for (let index = 0; index < GROUP / 2; index += 1) {
        const byte = bytes[place + 4 + index];
        values[first + index] = fround(scale * (byte & 15)) + least;
        values[first + GROUP / 2 + index] = fround(scale * (byte >> 4)) + least;
      }
    }
  },
};

/** Every number of fp16 by its bits. @type {Float32Array | null} */
let halves = null;

/** The number of fp16 that has these bits. @param {number} bits */
function half(bits) {
  halves ??= Float32Array.from({ length: 65536 }, (_, each) => {
    const sign = each & 0x8000 ? -1 : 1;
    const exponent = (each >> 10) & 31;
    const fraction = each & 1023;
    if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
    return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
  });
  return halves[bits];
}

/** Some columns of a matrix. @param {Matrix} matrix @param {[number, number]} columns the first, and the one to stop before @returns {Matrix} */
function between({ rows, columns: width, values }, [start, stop]) {
  const found = new Float32Array(rows * (stop - start));
  for (let row = 0; row < rows; row += 1) {
    found.set(values.subarray(row * width + start, row * width + stop), row * (stop - start));
  }
  return { rows, columns: stop - start, values: found };
}

/**
 * Matrices one below the other, in a block diagonal also beside it, with zeros elsewhere.
 * @param {Matrix[]} matrices
 * @param {boolean} [isDiagonal]
 * @returns {Matrix}
 */
function joined(matrices, isDiagonal = false) {
  if (matrices.length === 1) return matrices[0];
  const rows = matrices.reduce((sum, each) => sum + each.rows, 0);
  const widths = matrices.map((each) => each.columns);
  const columns = isDiagonal ? widths.reduce((sum, width) => sum + width, 0) : widths[0];
  const values = new Float32Array(rows * columns);
  let [place, column] = [0, 0];
  for (const each of matrices) {
    for (let start = 0; start < each.values.length; start += each.columns) {
      values.set(each.values.subarray(start, start + each.columns), place + column);
      place += columns;
    }
    if (isDiagonal) column += each.columns;
  }
  return { rows, columns, values };
}

/**
 * Turn a group of values that stand `step` apart by Hadamard's matrix.
 * @param {Float32Array} values
 * @param {number} first
 * @param {number} step
 * @param {number} group a power of two
 */
function turn(values, first, step, group) {
  const end = first + group * step;
  for (let apart = step; apart < group * step; apart *= 2) {
    for (let start = first; start < end; start += 2 * apart) {
      for (let low = start; low < start + apart; low += step) {
        const a = values[low];
        const b = values[low + apart];
        values[low] = a + b;
        values[low + apart] = a - b;
      }
    }
  }
  const scale = fround(1 / Math.sqrt(group));
  for (let place = first; place < end; place += step) values[place] *= scale;
}

/** Turn groups of rows, column by column. @param {Matrix} matrix @param {number} group rows of one */
function turnRows({ rows, columns, values }, group) {
  for (let row = 0; row < rows; row += group) {
    for (let column = 0; column < columns; column += 1) {
      turn(values, row * columns + column, columns, group);
    }
  }
}

/**
 * Put the first head of every group first, then the second of every group, and so on: rows or columns
 * are heads, `group` after each other for each KV head.
 * @param {Matrix} matrix
 * @param {"rows" | "columns"} axis
 * @param {number} kvHeads
 * @param {number} group
 */
function swapHeads({ rows, columns, values }, axis, kvHeads, group) {
  const old = values.slice();
  const numParts = axis === "rows" ? 1 : rows;
  const size = values.length / numParts / (kvHeads * group);
  for (let part = 0; part < numParts; part += 1) {
    for (let head = 0; head < kvHeads * group; head += 1) {
      const from = part * columns + ((head % kvHeads) * group + Math.floor(head / kvHeads)) * size;
      values.set(old.subarray(from, from + size), part * columns + head * size);
    }
  }
}

/** Blocks of 32 as integers around 128 and a scale a block. @param {Matrix} matrix */
function inBlocks({ values }) {
  const integers = new Uint8Array(values.length);
  return { integers, scales: round(values, GROUP, integers, GROUP, 1, MIDDLE) };
}

/**
 * A matrix (out, in), turned in groups of columns, as integers (in, out) and a scale a row.
 * @param {Matrix} matrix
 * @param {Initializer} weight
 */
function quantized({ rows, columns, values }, { group = 1 }) {
  for (let first = 0; group > 1 && first < values.length; first += group) {
    turn(values, first, 1, group);
  }
  const integers = new Int8Array(values.length);
  return { integers, scales: round(values, columns, integers, 1, rows, 0) };
}

/**
 * Round values to integers around `middle`; gives the scale of each `size` values, by which the largest
 * of them becomes the largest integer.
 * @param {Float32Array} values
 * @param {number} size
 * @param {Int8Array | Uint8Array} integers
 * @param {number} far distance of the integers of one scale from those of the next
 * @param {number} near distance of an integer from the next of the same scale
 * @param {number} middle
 */
function round(values, size, integers, far, near, middle) {
  const scales = new Float32Array(values.length / size);
  for (let index = 0; index < scales.length; index += 1) {
    const own = values.subarray(index * size, (index + 1) * size);
    let most = TINY;
    for (const value of own) most = Math.max(most, Math.abs(value));
    const scale = fround(most / LARGEST);
    scales[index] = scale;
    for (let i = 0; i < size; i += 1) {
      // Halves go to the even integer: at this size fp32 has no numbers between integers.
      const integer = fround(fround(own[i] / scale) + EVEN) - EVEN;
      integers[index * far + i * near] = integer + middle;
    }
  }
  return scales;
}
