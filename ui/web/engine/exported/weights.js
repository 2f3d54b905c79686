// The weights of a graph, made from the tensors that an export stores, in the order of operations that
// sbd_core/models/backends/onnx/web_graph.py has, so that both compute with the same numbers.

import { EngineError } from "../errors.js";

/** @import { Graph, Initializer, Stored } from "./files.js" */

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
    /** @type {({ key: string } & Quantized) | null} what a rule for integers left for the one for their scales */
    this.left = null;
  }

  /** @param {string} name */
  has(name) {
    return Object.hasOwn(this.tensors, name);
  }

  /** Some of the tensors, without the memory of the others. @param {string[]} names */
  only(names) {
    const found = names.map((name) => this.stored(name).view);
    const data = new Uint8Array(found.reduce((sum, { byteLength }) => sum + byteLength, 0));
    let place = 0;
    const tensors = names.map((name, index) => {
      const own = /** @type {DataView<ArrayBuffer>} */ (found[index]);
      data.set(new Uint8Array(own.buffer, own.byteOffset, own.byteLength), place);
      place += own.byteLength;
      const stored = /** @type {Stored} */ (this.tensors[name]);
      return [name, { ...stored, offset: place - own.byteLength }];
    });
    return new Weights(Object.fromEntries(tensors), data);
  }

  /** @param {string} name */
  stored(name) {
    const stored = this.tensors[name];
    if (!stored) throw new EngineError(`The model’s export lacks ${name}.`);
    const { shape, offset, bytes, kind } = stored;
    const columns = shape.at(-1) ?? 1;
    const rows = shape.slice(0, -1).reduce((product, size) => product * size, 1);
    const view = new DataView(this.data.buffer, this.data.byteOffset + offset, bytes);
    return { kind, rows, columns, view };
  }

  /**
   * Some rows of a tensor in fp32; all of them where none are named.
   * @param {string} name
   * @param {number} [first]
   * @param {number} [count]
   * @returns {Matrix}
   */
  matrix(name, first = 0, count) {
    const { kind, rows, columns, view } = this.stored(name);
    const many = count ?? rows;
    const read = READERS[kind];
    if (!read) throw new EngineError(`The model’s export holds ${name} as ${kind}, unknown here.`);
    const values = new Float32Array(many * columns);
    read(view, first * columns, values);
    return { rows: many, columns, values };
  }

  /** A graph's file of weights. @param {Graph} graph */
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

  /** @param {Initializer} weight @returns {Float32Array | Int8Array | Uint8Array} */
  made(weight) {
    const part = weight.rule.endsWith("scales") ? "scales" : "integers";
    switch (weight.rule) {
      case "values":
        return below(this.matrices(weight)).values;
      case "diagonal":
        return diagonal(this.matrices(weight));
      case "integers":
      case "scales":
        return this.once(weight, () => quantized(below(this.matrices(weight)), weight.group ?? 1))[
          part
        ];
      case "blocks.integers":
      case "blocks.scales":
        return this.once(weight, () => quantizedInBlocks(below(this.matrices(weight)).values))[
          part
        ];
      case "rounded.integers":
      case "rounded.scales":
        return this.once(weight, () => this.blocks(weight))[part];
      default:
        throw new EngineError(`The model’s export makes weights by ${weight.rule}, unknown here.`);
    }
  }

  /** @param {Initializer} weight */
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
   * Integers and their scales are asked for one after the other.
   * @param {Initializer} weight
   * @param {() => Quantized} make
   */
  once(weight, make) {
    const key = JSON.stringify([weight.from, weight.group, weight.turns_last, weight.swaps]);
    if (this.left?.key !== key) this.left = { key, ...make() };
    return this.left;
  }

  /** A tensor as it is stored, which is in q8_0. @param {Initializer} weight */
  blocks({ from: [name = ""] }) {
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

/** @type {Record<string, (view: DataView<ArrayBuffer>, start: number, values: Float32Array) => void>} write values from the start-th on; blocks are read whole */
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
        values[first + index] = scale * /** @type {number} */ (bytes[place + 2 + index]);
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
        const byte = /** @type {number} */ (bytes[place + 4 + index]);
        values[first + index] = fround(scale * (byte & 15)) + least;
        values[first + GROUP / 2 + index] = fround(scale * (byte >> 4)) + least;
      }
    }
  },
};

/** @type {Float32Array | null} every number of fp16 by its bits */
let halves = null;

/** @param {number} bits of fp16 */
function half(bits) {
  halves ??= Float32Array.from({ length: 65536 }, (_, each) => {
    const sign = each & 0x8000 ? -1 : 1;
    const exponent = (each >> 10) & 31;
    const fraction = each & 1023;
    if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
    return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
  });
  return /** @type {number} */ (halves[bits]);
}

/** Some columns of a matrix. @param {Matrix} matrix @param {[number, number]} columns the first, and the one to stop before @returns {Matrix} */
export function between({ rows, columns: width, values }, [start, stop]) {
  const found = new Float32Array(rows * (stop - start));
  for (let row = 0; row < rows; row += 1) {
    found.set(values.subarray(row * width + start, row * width + stop), row * (stop - start));
  }
  return { rows, columns: stop - start, values: found };
}

/** One below the other. @param {Matrix[]} matrices @returns {Matrix} */
function below(matrices) {
  const [first] = matrices;
  if (matrices.length === 1 && first) return first;
  const rows = matrices.reduce((sum, each) => sum + each.rows, 0);
  const columns = first?.columns ?? 0;
  const values = new Float32Array(rows * columns);
  let place = 0;
  for (const each of matrices) {
    values.set(each.values, place);
    place += each.values.length;
  }
  return { rows, columns, values };
}

/** One beside and below the other, zeros elsewhere. @param {Matrix[]} matrices */
function diagonal(matrices) {
  const columns = matrices.reduce((sum, each) => sum + each.columns, 0);
  const rows = matrices.reduce((sum, each) => sum + each.rows, 0);
  const values = new Float32Array(rows * columns);
  let [row, column] = [0, 0];
  for (const each of matrices) {
    for (let index = 0; index < each.rows; index += 1) {
      const own = each.values.subarray(index * each.columns, (index + 1) * each.columns);
      values.set(own, (row + index) * columns + column);
    }
    row += each.rows;
    column += each.columns;
  }
  return values;
}

/**
 * Turn values that stand `step` apart by Hadamard's matrix, in groups of so many.
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
        const a = /** @type {number} */ (values[low]);
        const b = /** @type {number} */ (values[low + apart]);
        values[low] = a + b;
        values[low + apart] = a - b;
      }
    }
  }
  const scale = fround(1 / Math.sqrt(group));
  for (let place = first; place < end; place += step) {
    values[place] = /** @type {number} */ (values[place]) * scale;
  }
}

/** @param {Matrix} matrix @param {number} group of rows */
function turnRows({ rows, columns, values }, group) {
  for (let row = 0; row < rows; row += group) {
    for (let column = 0; column < columns; column += 1) {
      turn(values, row * columns + column, columns, group);
    }
  }
}

/**
 * The first head of every group, then the second of every group, and so on: where rows or columns
 * are heads of `group` after each other for each KV head.
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

/** By which the largest of some values becomes the largest integer. @param {Float32Array} values */
function scaleOf(values) {
  let most = TINY;
  for (const value of values) most = Math.max(most, Math.abs(value));
  return fround(most / LARGEST);
}

/** Blocks of 32 as integers around 128 and a scale a block. @param {Float32Array} values */
function quantizedInBlocks(values) {
  const integers = new Uint8Array(values.length);
  const scales = new Float32Array(values.length / GROUP);
  for (let block = 0; block < scales.length; block += 1) {
    const own = values.subarray(block * GROUP, (block + 1) * GROUP);
    const scale = scaleOf(own);
    scales[block] = scale;
    for (let index = 0; index < GROUP; index += 1) {
      const share = fround(/** @type {number} */ (own[index]) / scale);
      integers[block * GROUP + index] = fround(share + EVEN) - EVEN + MIDDLE;
    }
  }
  return { integers, scales };
}

/**
 * A matrix (out, in), turned in groups of columns, as integers (in, out) and a scale a row.
 * @param {Matrix} matrix
 * @param {number} group
 */
function quantized({ rows, columns, values }, group) {
  for (let first = 0; group > 1 && first < values.length; first += group) {
    turn(values, first, 1, group);
  }
  const integers = new Int8Array(values.length);
  const scales = new Float32Array(rows);
  for (let row = 0; row < rows; row += 1) {
    const own = values.subarray(row * columns, (row + 1) * columns);
    const scale = scaleOf(own);
    scales[row] = scale;
    for (let column = 0; column < columns; column += 1) {
      const share = fround(/** @type {number} */ (own[column]) / scale);
      // Of two integers as near the even one: fp32 has none between integers at this size.
      integers[column * rows + row] = fround(share + EVEN) - EVEN;
    }
  }
  return { integers, scales };
}
