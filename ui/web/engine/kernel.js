// The C code compiled to WebAssembly, and the memory it works in. Knows floats and places, no
// models: see the C files in kernel/ for what its functions compute.

import { EngineError } from "./errors.js";

const PAGE_BYTES = 65536;
const ALIGNMENT = 64;
const NOT_ENOUGH = "This browser has not enough memory left for the model.";

/**
 * @typedef {object} Functions
 * @property {WebAssembly.Memory} memory
 * @property {WebAssembly.Global} __heap_base
 * @property {(...numbers: number[]) => void} forward
 * @property {(...numbers: number[]) => number} logit_stats
 * @property {(count: number, place: number) => void} exponentials
 */

export class Kernel {
  /** @param {WebAssembly.Instance} instance of sbd.wasm */
  constructor(instance) {
    this.functions = /** @type {Functions} */ (/** @type {unknown} */ (instance.exports));
    this.next = aligned(this.functions.__heap_base.value);
    /** @type {Map<number, number[]>} places that were given back, by their size in bytes */
    this.free = new Map();
  }

  get memory() {
    return this.functions.memory;
  }

  /**
   * A place for `bytes` bytes. Raises EngineError if there is no memory left.
   * @param {number} bytes
   */
  allocate(bytes) {
    const size = aligned(bytes);
    const kept = this.free.get(size)?.pop();
    if (kept !== undefined) return kept;
    const place = this.next;
    const missing = place + size - this.memory.buffer.byteLength;
    if (missing > 0) {
      try {
        this.memory.grow(Math.ceil(missing / PAGE_BYTES));
      } catch {
        throw new EngineError(NOT_ENOUGH);
      }
    }
    this.next = place + size;
    return place;
  }

  /**
   * Give a place back; the next one of that size is the same. What it holds stays.
   * @param {number} place
   * @param {number} bytes
   */
  release(place, bytes) {
    const size = aligned(bytes);
    const places = this.free.get(size) ?? [];
    places.push(place);
    this.free.set(size, places);
  }

  /**
   * What lies at a place, until memory grows.
   * @param {number} place
   * @param {number} count
   */
  floats(place, count) {
    return new Float32Array(this.memory.buffer, place, count);
  }

  /**
   * @param {number} place
   * @param {number} count
   */
  integers(place, count) {
    return new Int32Array(this.memory.buffer, place, count);
  }

  /**
   * @param {number} place
   * @param {ArrayLike<number>} values
   */
  writeIntegers(place, values) {
    this.integers(place, values.length).set(values);
  }
}

/** @param {number} bytes */
function aligned(bytes) {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

/** A place that grows with what is asked of it; what it held is lost then. */
export class Scratch {
  /** @param {Kernel} kernel */
  constructor(kernel) {
    this.kernel = kernel;
    this.place = 0;
    this.bytes = 0;
  }

  /** @param {number} bytes */
  atLeast(bytes) {
    if (bytes > this.bytes) {
      if (this.bytes) this.kernel.release(this.place, this.bytes);
      this.bytes = 0; // nothing is here if there is no more memory
      // A power of two, so that few sizes are ever given back.
      const size = 2 ** Math.ceil(Math.log2(bytes));
      this.place = this.kernel.allocate(size);
      this.bytes = size;
    }
    return this.place;
  }
}

/** A module with one function that uses f32x4.relaxed_madd. */
const RELAXED = Uint8Array.from(
  [
    [0, 97, 115, 109, 1, 0, 0, 0], // the format and its version
    [1, 5, 1, 96, 0, 1, 123], // one type: a function that gives a vector
    [3, 2, 1, 0], // one function of that type
    [10, 19, 1, 17, 0], // its code: three vectors of zeros, one instruction, end
    ...[1, 2, 3].map(() => [65, 0, 253, 15]),
    [253, 133, 2, 11],
  ].flat(),
);

/** Whether fused multiply-add runs here, as sbd-fma.wasm needs it. */
export function canFuseMultiplyAdd() {
  return typeof WebAssembly === "object" && WebAssembly.validate(RELAXED);
}

/**
 * The kernel of the bytes of sbd.wasm. Raises EngineError where it cannot run.
 * @param {ArrayBuffer | Uint8Array<ArrayBuffer>} bytes
 */
export async function makeKernel(bytes) {
  if (typeof WebAssembly !== "object") {
    throw new EngineError("This browser has no WebAssembly, which decoding here needs.");
  }
  try {
    const { instance } = await WebAssembly.instantiate(bytes);
    return new Kernel(instance);
  } catch (error) {
    if (error instanceof WebAssembly.CompileError) {
      throw new EngineError(
        "This browser’s WebAssembly has no 128-bit SIMD, which decoding here needs; a newer one has.",
      );
    }
    throw error instanceof EngineError ? error : new EngineError(NOT_ENOUGH);
  }
}
