// The tensors of a safetensors file, widened to fp32 one by one. The format is eight bytes of
// header length, a JSON header with type, shape and place of each tensor, and the data.

import { ModelError } from "../errors.js";

const MAX_HEADER_BYTES = 10_000_000;
/** @type {Record<string, number>} */
const TYPE_BYTES = { BF16: 2, F16: 2, F32: 4 };

/** @typedef {{ type: string, shape: number[], start: number, stop: number }} Entry */

/**
 * A tensor as it lies in a file.
 * @typedef {object} Tensor
 * @property {number[]} shape
 * @property {() => Uint32Array} bits of its numbers as fp32
 */

export class SafetensorsFile {
  /**
   * Raises ModelError for what is no whole file.
   * @param {ArrayBuffer} buffer
   * @param {string} name
   */
  constructor(buffer, name) {
    this.buffer = buffer;
    this.name = name;
    if (buffer.byteLength < 8) throw this.wrong("is cut off");
    const length = Number(new DataView(buffer).getBigUint64(0, true));
    if (length > MAX_HEADER_BYTES) throw this.wrong("is no safetensors file");
    if (8 + length > buffer.byteLength) throw this.wrong("is cut off");
    this.dataStart = 8 + length;
    /** @type {Map<string, Entry>} */
    this.entries = new Map();
    for (const [key, value] of Object.entries(this.header(length))) {
      if (key !== "__metadata__") this.entries.set(key, this.entry(key, value));
    }
  }

  /** @param {string} what */
  wrong(what) {
    return new ModelError(`${this.name} ${what}.`);
  }

  /**
   * @param {number} length
   * @returns {Record<string, any>}
   */
  header(length) {
    try {
      const found = JSON.parse(new TextDecoder().decode(new Uint8Array(this.buffer, 8, length)));
      if (typeof found === "object" && found !== null) return found;
    } catch {
      // Said below: whatever it is, it is no header.
    }
    throw this.wrong("is no safetensors file");
  }

  /**
   * @param {string} key
   * @param {any} value
   * @returns {Entry}
   */
  entry(key, value) {
    const { dtype, shape, data_offsets: offsets } = value ?? {};
    const isWhole = (/** @type {unknown} */ list) =>
      Array.isArray(list) && list.every((item) => Number.isSafeInteger(item) && item >= 0);
    if (!isWhole(shape) || !isWhole(offsets) || offsets.length !== 2) {
      throw this.wrong("is no safetensors file");
    }
    const [start, stop] = offsets;
    const size = shape.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1);
    const bytes = TYPE_BYTES[dtype];
    if (bytes === undefined)
      throw this.wrong(`holds ${key} as ${dtype}; it must be bf16, fp16 or fp32`);
    if (stop - start !== size * bytes) throw this.wrong("is no safetensors file");
    if (this.dataStart + stop > this.buffer.byteLength) throw this.wrong("is cut off");
    return { type: dtype, shape, start, stop };
  }

  /**
   * @param {string} key
   * @returns {Tensor | null}
   */
  tensor(key) {
    const entry = this.entries.get(key);
    return entry ? { shape: entry.shape, bits: () => this.bits(entry) } : null;
  }

  /** @param {Entry} entry */
  bits({ type, start, stop }) {
    const data = this.buffer.slice(this.dataStart + start, this.dataStart + stop);
    if (type === "F32") return new Uint32Array(data);
    const halves = new Uint16Array(data);
    return type === "BF16" ? Uint32Array.from(halves, (half) => half << 16) : fp16Bits(halves);
  }
}

/** @param {Uint16Array} halves of fp16 */
function fp16Bits(halves) {
  const values = Float32Array.from(halves, (half) => {
    const sign = half & 0x8000 ? -1 : 1;
    const exponent = (half >> 10) & 31;
    const fraction = half & 1023;
    if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
    return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
  });
  return new Uint32Array(values.buffer);
}
