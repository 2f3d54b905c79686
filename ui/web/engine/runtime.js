// ONNX Runtime compiled to WebAssembly, as onnxruntime-web ships it: its memory, tensors in it, and
// sessions, on the processor or a GPU. Called without that package's own wrapper, which copies every
// input into the memory and every output out of it, the KV cache too. Knows no models.

import { EngineError } from "./errors.js";

export const NOT_ENOUGH = "This browser has not enough memory left for the model.";
const NO_WEBASSEMBLY = "This browser has no WebAssembly, which decoding here needs.";
const NO_SIMD =
  "This browser’s WebAssembly has no 128-bit SIMD, which decoding here needs; a newer one has.";

/** ONNX's numbers of the types of elements. */
const TYPES = /** @type {const} */ ({ float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7 });
const [ON_CPU, ON_GPU] = [1, 4];
const POINTER_BYTES = 4;
const FLOAT_BYTES = 4;
/** STORAGE, COPY_SRC and COPY_DST of GPUBufferUsage. */
const BUFFER_USAGE = 0x80 | 0x04 | 0x08;
const ERRORS_ONLY = 3;
const ALL_OPTIMIZATIONS = 99;

/** @typedef {keyof typeof TYPES} Type */
/** A tensor that stays where sessions compute. @typedef {{ tensor: number, release: () => void }} Resident */
/** @typedef {Record<string, number>} Tensors handles by the names of a graph's inputs or outputs */

/**
 * The part that is used here of what onnxruntime-web's own wrapper calls.
 * @typedef {object} Module
 * @property {Uint8Array<ArrayBuffer>} HEAPU8 replaced when memory grows
 * @property {(bytes: number) => number} _malloc
 * @property {(place: number) => void} _free
 * @property {(place: number) => string} UTF8ToString
 * @property {(text: string, place: number, bytes: number) => void} stringToUTF8
 * @property {(path: string, data: Uint8Array) => void} mountExternalData
 * @property {() => void} unmountExternalData
 * @property {(threads: number, level: number) => number} _OrtInit
 * @property {(code: number, message: number) => void} _OrtGetLastError
 * @property {(...settings: (number | boolean)[]) => number} _OrtCreateSessionOptions
 * @property {(options: number) => number} _OrtReleaseSessionOptions
 * @property {(options: number, name: number, keys: number, values: number, count: number) => number | Promise<number>} _OrtAppendExecutionProvider
 * @property {(place: number, bytes: number, options: number) => number | Promise<number>} _OrtCreateSession
 * @property {(type: number, place: number, bytes: number, sizes: number, rank: number, location: number) => number} _OrtCreateTensor
 * @property {(tensor: number) => number} _OrtReleaseTensor
 * @property {() => void} asyncInit in the build for GPUs alone, as those below
 * @property {(setDevice: () => void) => void} webgpuInit
 * @property {(device: GPUDevice) => [id: number, instance: number, device: number]} webgpuRegisterDevice
 * @property {(session: number) => void} webgpuOnCreateSession
 * @property {(buffer: GPUBuffer, session: number) => number} webgpuRegisterBuffer
 * @property {(buffer: GPUBuffer) => void} webgpuUnregisterBuffer
 * @property {(session: number, inputNames: number, inputs: number, numInputs: number, outputNames: number, numOutputs: number, outputs: number, options: number) => number | Promise<number>} _OrtRun
 */

/** A module with one function that uses i32x4.dot_i16x8_s, an instruction of 128-bit SIMD. */
const SIMD = Uint8Array.from(
  [
    [0, 97, 115, 109, 1, 0, 0, 0], // the format and its version
    [1, 4, 1, 96, 0, 0], // one type: a function of nothing
    [3, 2, 1, 0], // one function of that type
    [10, 30, 1, 28, 0, 65, 0, 253, 15, 253, 12, ...new Array(16).fill(0), 253, 186, 1, 26, 11],
  ].flat(),
);

/** Raises EngineError where the runtime cannot run. */
export function checkWebAssembly() {
  if (typeof WebAssembly !== "object") throw new EngineError(NO_WEBASSEMBLY);
  if (!WebAssembly.validate(SIMD)) throw new EngineError(NO_SIMD);
}

export class Runtime {
  /** @param {Module} module @param {GPUDevice | null} device on which sessions compute */
  constructor(module, device) {
    this.module = module;
    this.device = device;
    /** @type {Map<string, number>} places of names, which stay */
    this.names = new Map();
  }

  /**
   * Raises EngineError where it cannot run.
   * @param {(settings: object) => Promise<Module>} makeModule what onnxruntime-web's .mjs exports
   * @param {ArrayBuffer} wasmBinary
   * @param {number} numThreads
   * @param {GPUDevice | null} [device] for which it is the build for GPUs
   */
  static async start(makeModule, wasmBinary, numThreads, device = null) {
    const locateFile = (/** @type {string} */ name) => name;
    const module = await makeModule({ numThreads, wasmBinary, locateFile }).catch(() => {
      throw new EngineError(NOT_ENOUGH);
    });
    const runtime = new Runtime(module, device);
    runtime.check(module._OrtInit(numThreads, ERRORS_ONLY));
    if (device) {
      module.asyncInit();
      module.webgpuInit(() => {});
    }
    return runtime;
  }

  /** Raises an Error with the runtime's own words unless the code is 0. @param {number} code */
  check(code) {
    if (code === 0) return;
    const place = this.allocate(2 * POINTER_BYTES);
    this.module._OrtGetLastError(place, place + POINTER_BYTES);
    const [, message = 0] = this.integers(place, 2);
    this.release(place);
    const words = message ? this.module.UTF8ToString(message) : `code ${code}`;
    if (/bad_alloc|Failed to allocate/i.test(words)) throw new EngineError(NOT_ENOUGH);
    throw new Error(words);
  }

  /**
   * A place for `bytes` bytes. Raises EngineError if there is no memory left.
   * @param {number} bytes
   */
  allocate(bytes) {
    const place = this.module._malloc(bytes) >>> 0;
    if (!place) throw new EngineError(NOT_ENOUGH);
    return place;
  }

  /** @param {number} place */
  release(place) {
    this.module._free(place);
  }

  /** Bytes at a place. @param {number} place @param {number} count */
  floats(place, count) {
    return new Float32Array(this.module.HEAPU8.buffer, place, count);
  }

  /** @param {number} place @param {number} count */
  bytes(place, count) {
    return new Uint8Array(this.module.HEAPU8.buffer, place, count);
  }

  /** @param {number} place @param {number} count */
  integers(place, count) {
    return new Int32Array(this.module.HEAPU8.buffer, place, count);
  }

  /** @param {number} place @param {number} count */
  longs(place, count) {
    return new BigInt64Array(this.module.HEAPU8.buffer, place, count);
  }

  /**
   * A tensor of what lies at a place.
   * @param {Type} type
   * @param {number[]} sizes
   * @param {number} place
   * @param {number} [where] ON_CPU or ON_GPU
   */
  tensor(type, sizes, place, where = ON_CPU) {
    const sizesPlace = this.allocate(POINTER_BYTES * Math.max(1, sizes.length));
    this.integers(sizesPlace, sizes.length).set(sizes);
    const width = { float32: 4, uint8: 1, int8: 1, int32: 4, int64: 8 }[type];
    const bytes = width * sizes.reduce((product, size) => product * size, 1);
    const { module } = this;
    const rank = sizes.length;
    const tensor = module._OrtCreateTensor(TYPES[type], place, bytes, sizesPlace, rank, where);
    this.release(sizesPlace);
    if (!tensor) this.check(1);
    return tensor;
  }

  /** @param {number} tensor */
  releaseTensor(tensor) {
    this.module._OrtReleaseTensor(tensor);
  }

  /**
   * A tensor of zeros in fp32 that stays where a session computes.
   * @param {number} session
   * @param {[rows: number, columns: number]} sizes
   * @returns {Resident}
   */
  resident(session, sizes) {
    const { device, module } = this;
    const bytes = FLOAT_BYTES * sizes[0] * sizes[1];
    const buffer = device?.createBuffer({ size: bytes, usage: BUFFER_USAGE });
    const place = buffer ? module.webgpuRegisterBuffer(buffer, session) : this.allocate(bytes);
    if (!buffer) this.floats(place, bytes / FLOAT_BYTES).fill(0);
    const tensor = this.tensor("float32", sizes, place, buffer ? ON_GPU : ON_CPU);
    const release = () => {
      this.releaseTensor(tensor);
      if (!buffer) return this.release(place);
      module.webgpuUnregisterBuffer(buffer);
      buffer.destroy();
    };
    return { tensor, release };
  }

  /** @param {string} name */
  nameOf(name) {
    const known = this.names.get(name);
    if (known !== undefined) return known;
    const bytes = new TextEncoder().encode(name).length + 1;
    const place = this.allocate(bytes);
    this.module.stringToUTF8(name, place, bytes);
    this.names.set(name, place);
    return place;
  }

  /**
   * Sessions stay as long as the runtime.
   * @param {Uint8Array} graph
   * @param {Record<string, Uint8Array>} files of weights, by the names that the graph has for them
   */
  async session(graph, files) {
    const { module, device } = this;
    // Memory is not planned ahead on a GPU.
    const settings = [ALL_OPTIMIZATIONS, true, !device, 0, false, 0, 0, ERRORS_ONLY, 0, 0];
    const options = module._OrtCreateSessionOptions(...settings);
    const place = this.allocate(graph.length);
    try {
      module.HEAPU8.set(graph, place);
      for (const [name, data] of Object.entries(files)) module.mountExternalData(name, data);
      if (device) await this.chooseDevice(options, device);
      const session = await module._OrtCreateSession(place, graph.length, options);
      if (device) module.webgpuOnCreateSession(session);
      if (!session) this.check(1);
      return session;
    } finally {
      module.unmountExternalData();
      module._OrtReleaseSessionOptions(options);
      this.release(place);
    }
  }

  /** @param {number} options of a session to come @param {GPUDevice} device */
  async chooseDevice(options, device) {
    const { module } = this;
    const names = ["deviceId", "webgpuInstance", "webgpuDevice"];
    const values = module.webgpuRegisterDevice(device).map(String);
    const list = [...names, ...values].map((text) => this.nameOf(text));
    const place = this.allocate(list.length * POINTER_BYTES);
    this.integers(place, list.length).set(list);
    const valuesPlace = place + names.length * POINTER_BYTES;
    const provider = this.nameOf("WebGPU");
    const code = await module._OrtAppendExecutionProvider(
      ...[options, provider, place, valuesPlace, names.length],
    );
    this.release(place);
    this.check(code);
  }

  /**
   * Compute outputs from inputs, each a tensor that is there; one may be input and output.
   * @param {number} session
   * @param {Tensors} inputs
   * @param {Tensors} outputs
   */
  async run(session, inputs, outputs) {
    const lists = [inputs, outputs].flatMap((tensors) => [
      Object.keys(tensors).map((name) => this.nameOf(name)),
      Object.values(tensors),
    ]);
    const place = this.allocate(lists.flat().length * POINTER_BYTES);
    this.integers(place, lists.flat().length).set(lists.flat());
    const [numInputs = 0, , numOutputs = 0] = lists.map(({ length }) => length);
    const at = (/** @type {number} */ index) => place + POINTER_BYTES * index;
    try {
      const code = await this.module._OrtRun(
        ...[session, place, at(numInputs), numInputs],
        ...[at(2 * numInputs), numOutputs, at(2 * numInputs + numOutputs), 0],
      );
      this.check(code);
    } finally {
      this.release(place);
    }
  }
}
