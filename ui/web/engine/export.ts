// Opens a model that `python -m sbd_core export web` wrote: its graph, and the graph's weights, which are made from the
// stored tensors. The operations and their order are those of sbd_core/models/backends/onnx/web_graph.py, so that both
// compute with the same numbers.

import constants from "../constants.json" with { type: "json" };
import { requireSetting } from "./decoding/settings.ts";
import type { Calibration } from "./decoding/verify_rows.ts";
import { EngineError } from "./errors.ts";
import type { Files, Graph, Initializer, Manifest, Stored } from "./files.ts";
import { Model, type Shape } from "./model.ts";
import type { Runtime } from "./runtime.ts";
import { SamplerHead } from "./sampling.ts";
import { Tokenizer } from "./tokenizer.ts";

const WEIGHTS_FILE = "weights.bin";
const EMBEDDING = "model.embed_tokens.weight";
const HEAD = "lm_head.weight";
const TEMPLATE = "chat_template.jinja";
/** Number of parts to fetch at the same time. */
const AT_ONCE = 4;
/** Graph that tests products of 8-bit integers; see products_graph() in sbd_core/models/backends/onnx/build.py. */
const PRODUCTS = "products.onnx";
const NUM_PRODUCTS = 576;
const INEXACT = "This browser’s products of 8-bit integers are not exact, which the model needs.";

/** A model, its tokenizer, and what else decoding needs. */
export interface Checkpoint {
  name: string;
  model: Model;
  tokenizer: Tokenizer;
  maskId: number | null; // null if the tokenizer has no mask token
  endIds: Set<number>; // tokens that end an answer
  repetitionPenalty: number; // for decodes that set none
  calibration: Calibration;
  samplerHead: SamplerHead | null;
  numParameters: number;
  usualRows: number; // largest number of rows of a verify pass, unless the form says otherwise
}

/**
 * Open an export. Raises EngineError with what is wrong.
 * @param engine the engine whose graph to use
 */
export async function openExport(
  runtime: Runtime,
  manifest: Manifest,
  files: Files,
  engine: string = "wasm",
): Promise<Checkpoint> {
  const { name, config, tensors, graphs } = manifest;
  const graph = graphs[engine] ?? missing("graph for this engine");
  const read = (file: string) => files.read(file, manifest.files[file] ?? missing(file));
  const textOf = async (file: string) => new TextDecoder().decode(await read(file));
  const settings = jsonOf(await textOf("tokenizer_config.json"), "tokenizer_config.json");
  const own = TEMPLATE in manifest.files ? await textOf(TEMPLATE) : settings.chat_template;
  const vocabulary = jsonOf(await textOf("tokenizer.json"), "tokenizer.json");
  const tokenizer = new Tokenizer(vocabulary, settings, own ?? null);
  const { intermediate_size: width } = jsonOf(await textOf("config.json"), "config.json");
  if (engine === "wasm" && PRODUCTS in manifest.files)
    await testProducts(runtime, await read(PRODUCTS));
  const code = await read(graph.file);
  const weights = new Weights(tensors, await partsOf(manifest, files));
  const session = await runtime.session(code, { [WEIGHTS_FILE]: weights.fileOf(graph) });
  requireSetting("repetition_penalty", config.repetition_penalty, "config.repetition_penalty");
  const shape = { ...config, width } as Shape;
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
    usualRows: constants.usualRows[engine === "webgpu" ? "GPU" : "WebAssembly"],
  };
}

/** Test products of 8-bit integers. Raises EngineError if sums of the largest ones are not exact. */
async function testProducts(runtime: Runtime, graph: Uint8Array) {
  const session = await runtime.session(graph, {});
  for (const numRows of [1, 5, 17]) {
    const size = numRows * NUM_PRODUCTS;
    const address = runtime.allocate(size + 4);
    runtime.floats(address, 1).fill(Number.NaN);
    const isLargest = (i: number) => i < NUM_PRODUCTS || (i * 7919) % 13 < 6;
    const values = Array.from({ length: size }, (_, index) => (isLargest(index) ? 255 : 0));
    runtime.bytes(address + 4, size).set(values);
    const x = runtime.tensor("uint8", [numRows, NUM_PRODUCTS], address + 4);
    const error = runtime.tensor("float32", [], address);
    await runtime.run(session, { x }, { error });
    const isExact = runtime.floats(address, 1)[0] === 0;
    for (const tensor of [x, error]) runtime.releaseTensor(tensor);
    runtime.release(address);
    if (!isExact) throw new EngineError(INEXACT);
  }
}

/** Fetch the parts, a few at a time, and join them. */
async function partsOf({ parts }: Manifest, files: Files) {
  const data = new Uint8Array(parts.reduce((sum, { size }) => sum + size, 0));
  const waiting = parts.values(); // one iterator for all workers, so that each part is read once
  let next = 0;
  const work = async () => {
    for (const part of waiting) {
      const offset = next;
      next += part.size;
      data.set(await files.read(part.file, part), offset);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return data;
}

/** Make the sampler head from its stored tensors. */
function samplerHead(weights: Weights, hidden: number) {
  const ofToken = between(weights.matrix("sampler.into"), [hidden, 2 * hidden]).values;
  const out = weights.matrix("sampler.out").values;
  const embedding = weights.rowsOf(EMBEDDING);
  const head = HEAD in weights.tensors ? weights.rowsOf(HEAD) : embedding;
  return new SamplerHead({ ofToken, out, embedding, head }, hidden);
}

/** Count the parameters of the model without adapter and sampler head. */
function numParameters({ tensors }: Manifest) {
  const own = Object.entries(tensors).filter(([name]) => /^(model|lm_head)\./.test(name));
  const sizes = own.map(([, { shape }]) => shape.reduce((product, size) => product * size, 1));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function missing(file: string): never {
  throw new EngineError(`The model’s export has no ${file}.`);
}

/** Return the JSON object in a file's text. */
function jsonOf(text: string, name: string): Record<string, any> {
  try {
    const found = JSON.parse(text);
    if (typeof found === "object" && found !== null && !Array.isArray(found)) return found;
  } catch {
    // Text that is not JSON gets the same error as JSON that is not an object.
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

type Quantized = { integers: Int8Array | Uint8Array; scales: Float32Array };
/** A matrix of fp32, row by row. */
type Matrix = { rows: number; columns: number; values: Float32Array };

export class Weights {
  /** The integers and scales that lastOrMake() made last. */
  lastQuantized: ({ key: string } & Quantized) | null = null;

  /** @param data the joined parts */
  constructor(
    readonly tensors: Record<string, Stored>,
    readonly data: Uint8Array<ArrayBuffer>,
  ) {}

  /** Find a stored tensor, as a matrix with the last size as columns. */
  stored(name: string) {
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

  /** Return a tensor in fp32. */
  matrix(name: string): Matrix {
    const { read, rows, columns, view } = this.stored(name);
    const values = new Float32Array(rows * columns);
    read(view, 0, values);
    return { rows, columns, values };
  }

  /** Return a function that reads a row of a tensor, from a copy of its bytes. */
  rowsOf(name: string) {
    const { read, columns, view } = this.stored(name);
    const own = new DataView(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
    return (row: number) => {
      const values = new Float32Array(columns);
      read(own, row * columns, values);
      return values;
    };
  }

  /** Make the file of a graph's weights. */
  fileOf({ bytes, weights }: Graph) {
    const file = new Uint8Array(bytes);
    for (const weight of weights) {
      const made = this.makeWeight(weight);
      if (made.byteLength !== weight.bytes) {
        throw new EngineError(`The model’s export makes ${weight.name} of another size.`);
      }
      file.set(new Uint8Array(made.buffer, made.byteOffset, made.byteLength), weight.offset);
    }
    return file;
  }

  /** Make a weight by its rule. */
  makeWeight(weight: Initializer): Float32Array | Int8Array | Uint8Array {
    const part = weight.rule.endsWith("scales") ? "scales" : "integers";
    switch (weight.rule.replace(part, "")) {
      case "values":
        return joined(this.matrices(weight)).values;
      case "diagonal":
        return joined(this.matrices(weight), true).values;
      case "":
        return this.lastOrMake(weight, () => quantized(joined(this.matrices(weight)), weight))[
          part
        ];
      case "blocks.":
        return this.lastOrMake(weight, () => quantizedInBlocks(joined(this.matrices(weight))))[
          part
        ];
      case "rounded.":
        return this.lastOrMake(weight, () => this.blocks(weight))[part];
      default:
        throw new EngineError(`The model’s export makes weights by ${weight.rule}, unknown here.`);
    }
  }

  /** Return the tensors of a weight, cut, rotated and reordered as the weight says. */
  matrices({ from, turns_last: turnsLast, columns, swaps }: Initializer) {
    const whole = from.map((name) => this.matrix(name));
    const found = columns ? whole.map((matrix) => between(matrix, columns)) : whole;
    const last = found.at(-1);
    if (turnsLast && last) rotateRows(last, turnsLast);
    if (swaps) {
      const [axis, kvHeads, group, place] = swaps;
      const swapped = axis === "rows" ? found.slice(place, place + 1) : found;
      for (const matrix of swapped) swapHeads(matrix, axis, kvHeads, group);
    }
    return found;
  }

  /** Return the integers and scales of a matrix: two successive weights, which are made together. */
  lastOrMake(weight: Initializer, make: () => Quantized) {
    const key = JSON.stringify([weight.from, weight.group, weight.turns_last, weight.swaps]);
    if (this.lastQuantized?.key !== key) this.lastQuantized = { key, ...make() };
    return this.lastQuantized;
  }

  /** Return the integers and scales of a tensor that is stored in q8_0. */
  blocks({ from: [name] }: Initializer) {
    const { rows, columns, view } = this.stored(name);
    const count = (rows * columns) / GROUP;
    const integers = new Int8Array(rows * columns);
    const scales = new Float32Array(count);
    for (let block = 0; block < count; block += 1) {
      const offset = block * Q8_BYTES;
      scales[block] = half(view.getUint16(offset, true));
      integers.set(new Int8Array(view.buffer, view.byteOffset + offset + 2, GROUP), block * GROUP);
    }
    return { integers, scales };
  }
}

/**
 * For each kind of storage, a function that fills `values` with a tensor's values from the start-th on. Of q8_0 and
 * q4_1 it reads only whole blocks.
 */
const READERS: Record<
  string,
  (view: DataView<ArrayBuffer>, start: number, values: Float32Array) => void
> = {
  f32: (view, start, values) => {
    const offset = view.byteOffset + 4 * start;
    values.set(new Float32Array(view.buffer.slice(offset, offset + values.byteLength)));
  },
  bf16: (view, start, values) => {
    const bits = new Uint32Array(values.buffer);
    for (let index = 0; index < bits.length; index += 1) {
      bits[index] = view.getUint16(2 * (start + index), true) << 16;
    }
  },
  q8_0: (view, start, values) => {
    let offset = (start / GROUP) * Q8_BYTES;
    const bytes = new Int8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let first = 0; first < values.length; first += GROUP, offset += Q8_BYTES) {
      const scale = half(view.getUint16(offset, true));
      for (let index = 0; index < GROUP; index += 1) {
        values[first + index] = scale * bytes[offset + 2 + index];
      }
    }
  },
  q4_1: (view, start, values) => {
    let offset = (start / GROUP) * Q4_BYTES;
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let first = 0; first < values.length; first += GROUP, offset += Q4_BYTES) {
      const scale = half(view.getUint16(offset, true));
      const least = half(view.getUint16(offset + 2, true));
      for (let index = 0; index < GROUP / 2; index += 1) {
        const byte = bytes[offset + 4 + index];
        values[first + index] = fround(scale * (byte & 15)) + least;
        values[first + GROUP / 2 + index] = fround(scale * (byte >> 4)) + least;
      }
    }
  },
};

/** All fp16 numbers by their bits; made on first use. */
let halves: Float32Array | null = null;

/** Return the fp16 number that has these bits. */
function half(bits: number) {
  halves ??= Float32Array.from({ length: 65536 }, (_, each) => {
    const sign = each & 0x8000 ? -1 : 1;
    const exponent = (each >> 10) & 31;
    const fraction = each & 1023;
    if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
    return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
  });
  return halves[bits];
}

/** Copy columns [start, stop). */
function between(
  { rows, columns: width, values }: Matrix,
  [start, stop]: [number, number],
): Matrix {
  const found = new Float32Array(rows * (stop - start));
  for (let row = 0; row < rows; row += 1) {
    found.set(values.subarray(row * width + start, row * width + stop), row * (stop - start));
  }
  return { rows, columns: stop - start, values: found };
}

/** Stack matrices one below the other or, with isDiagonal, join them to a block-diagonal matrix. */
function joined(matrices: Matrix[], isDiagonal: boolean = false): Matrix {
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
 * Multiply a group of values by the normalized Hadamard matrix, in place: this is the rotation.
 * @param first index of the group's first value
 * @param step distance from one value of the group to the next
 * @param group number of values, a power of two
 */
function rotate(values: Float32Array, first: number, step: number, group: number) {
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
  for (let index = first; index < end; index += step) values[index] *= scale;
}

/** Rotate a matrix's columns in groups of rows. @param group number of rows in one */
function rotateRows({ rows, columns, values }: Matrix, group: number) {
  for (let row = 0; row < rows; row += group) {
    for (let column = 0; column < columns; column += 1) {
      rotate(values, row * columns + column, columns, group);
    }
  }
}

/**
 * Reorder heads, which are rows or columns: `group` successive heads share a KV head before; afterwards the first head
 * of every KV head comes first, then the second of every KV head, and so on.
 */
function swapHeads(
  { rows, columns, values }: Matrix,
  axis: "rows" | "columns",
  kvHeads: number,
  group: number,
) {
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

/** Round a matrix to integers around 128, with a scale per 32 values. */
function quantizedInBlocks({ values }: Matrix) {
  const integers = new Uint8Array(values.length);
  return { integers, scales: round(values, GROUP, integers, GROUP, 1, MIDDLE) };
}

/** Rotate a matrix (out, in) in groups of columns, and round it to integers (in, out) with a scale per row. */
function quantized({ rows, columns, values }: Matrix, { group = 1 }: Initializer) {
  for (let first = 0; group > 1 && first < values.length; first += group) {
    rotate(values, first, 1, group);
  }
  const integers = new Int8Array(values.length);
  return { integers, scales: round(values, columns, integers, 1, rows, 0) };
}

/**
 * Round values to integers around `middle`. Return a scale per `size` values, which makes the largest of them the
 * largest integer.
 * @param integers where to write them
 * @param scaleStride distance in `integers` from one scale's values to the next scale's
 * @param valueStride distance in `integers` between successive values of a scale
 */
function round(
  values: Float32Array,
  size: number,
  integers: Int8Array | Uint8Array,
  scaleStride: number,
  valueStride: number,
  middle: number,
) {
  const scales = new Float32Array(values.length / size);
  for (let index = 0; index < scales.length; index += 1) {
    const own = values.subarray(index * size, (index + 1) * size);
    let most = TINY;
    for (const value of own) most = Math.max(most, Math.abs(value));
    const scale = fround(most / LARGEST);
    scales[index] = scale;
    for (let i = 0; i < size; i += 1) {
      // The sum rounds halves to the even integer, as all fp32 numbers of its size are integers.
      const integer = fround(fround(own[i] / scale) + EVEN) - EVEN;
      integers[index * scaleStride + i * valueStride] = integer + middle;
    }
  }
  return scales;
}
