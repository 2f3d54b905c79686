// Runs ONNX Runtime, compiled to WebAssembly as onnxruntime-web ships it, on the processor or the visitor's GPU: its
// memory, tensors and sessions. Does without that package's JavaScript API, which copies every input into the memory
// and every output out of it, the KV cache included. Knows no models.

import { EngineError } from "./errors.js";

export const NOT_ENOUGH = "This browser has not enough memory left for the model.";
const NO_WEBASSEMBLY = "This browser has no WebAssembly, which decoding here needs.";
const NO_SIMD =
  "This browser’s WebAssembly has no 128-bit SIMD, which decoding here needs; a newer one has.";

/** For each type of elements, its number in ONNX and its bytes. */
const TYPES = /** @type {const} */ ({
  float32: [1, 4],
  uint8: [2, 1],
  int32: [6, 4],
  int64: [7, 8],
});
const [ON_CPU, ON_GPU] = [1, 4];
const POINTER_BYTES = 4;
/** STORAGE, COPY_SRC and COPY_DST of GPUBufferUsage. */
const BUFFER_USAGE = 0x80 | 0x04 | 0x08;
const ERRORS_ONLY = 3;
const ALL_OPTIMIZATIONS = 99;

/** @typedef {keyof typeof TYPES} Type */
/** A tensor in the memory of the device that computes. @typedef {{ tensor: number, release: () => void }} Resident */
/** Handles of tensors by the names of a graph's inputs or outputs. @typedef {Record<string, number>} Tensors */

/**
 * The functions of onnxruntime-web's module that are called here.
 * @typedef {object} Module
 * @property {Uint8Array<ArrayBuffer>} HEAPU8 its memory; another array after it has grown
 * @property {(bytes: number) => number} _malloc
 * @property {(address: number) => void} _free
 * @property {(address: number) => string} UTF8ToString
 * @property {(text: string, address: number, bytes: number) => void} stringToUTF8
 * @property {(path: string, data: Uint8Array) => void} mountExternalData
 * @property {() => void} unmountExternalData
 * @property {(threads: number, level: number) => number} _OrtInit
 * @property {(code: number, message: number) => void} _OrtGetLastError
 * @property {(...settings: (number | boolean)[]) => number} _OrtCreateSessionOptions
 * @property {(options: number) => number} _OrtReleaseSessionOptions
 * @property {(options: number, name: number, keys: number, values: number, count: number) => number | Promise<number>} _OrtAppendExecutionProvider
 * @property {(address: number, bytes: number, options: number) => number | Promise<number>} _OrtCreateSession
 * @property {(type: number, address: number, bytes: number, sizes: number, rank: number, location: number) => number} _OrtCreateTensor
 * @property {(tensor: number) => number} _OrtReleaseTensor
 * @property {() => void} asyncInit exists only in the build for GPUs, like the webgpu functions
 * @property {(setDevice: () => void) => void} webgpuInit
 * @property {(device: GPUDevice) => [id: number, instance: number, device: number]} webgpuRegisterDevice
 * @property {(session: number) => void} webgpuOnCreateSession
 * @property {(buffer: GPUBuffer, session: number) => number} webgpuRegisterBuffer
 * @property {(buffer: GPUBuffer) => void} webgpuUnregisterBuffer
 * @property {(session: number, inputNames: number, inputs: number, numInputs: number, outputNames: number, numOutputs: number, outputs: number, options: number) => number | Promise<number>} _OrtRun
 */

/** A WebAssembly module whose only function uses i32x4.dot_i16x8_s, an instruction of 128-bit SIMD. */
const SIMD = Uint8Array.from(
  [
    [0, 97, 115, 109, 1, 0, 0, 0], // the format and its version
    [1, 4, 1, 96, 0, 0], // one type: a function of nothing
    [3, 2, 1, 0], // one function of that type
    [10, 30, 1, 28, 0, 65, 0, 253, 15, 253, 12, ...new Array(16).fill(0), 253, 186, 1, 26, 11],
  ].flat(),
);

/** Check that this browser can run the runtime. Raises EngineError. */
export function checkWebAssembly() {
  if (typeof WebAssembly !== "object") throw new EngineError(NO_WEBASSEMBLY);
  if (!WebAssembly.validate(SIMD)) throw new EngineError(NO_SIMD);
}

/** Return the size of a tensor's values in bytes. @param {Type} type @param {number[]} sizes */
export function bytesOf(type, sizes) {
  return sizes.reduce((product, size) => product * size, TYPES[type][1]);
}

export class Runtime {
  /** @param {Module} module @param {GPUDevice | null} device null to compute on the processor */
  constructor(module, device) {
    this.module = module;
    this.device = device;
    /** Addresses of the names in memory, which are never freed. @type {Map<string, number>} */
    this.names = new Map();
  }

  /**
   * Start the runtime. Raises EngineError if memory is short.
   * @param {(settings: object) => Promise<Module>} makeModule the export of onnxruntime-web's .mjs
   * @param {ArrayBuffer} wasmBinary
   * @param {number} numThreads
   * @param {GPUDevice | null} [device] only with the build for GPUs
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

  /** Raise an Error with the runtime's message unless the code is 0. @param {number} code */
  check(code) {
    if (code === 0) return;
    const address = this.allocate(2 * POINTER_BYTES);
    this.module._OrtGetLastError(address, address + POINTER_BYTES);
    const [, message] = this.integers(address, 2);
    this.release(address);
    const words = message ? this.module.UTF8ToString(message) : `code ${code}`;
    if (/bad_alloc|Failed to allocate/i.test(words)) throw new EngineError(NOT_ENOUGH);
    throw new Error(words);
  }

  /**
   * Allocate memory and return its address. Raises EngineError if there is none left.
   * @param {number} bytes
   */
  allocate(bytes) {
    const address = this.module._malloc(bytes) >>> 0;
    if (!address) throw new EngineError(NOT_ENOUGH);
    return address;
  }

  /** Free allocated memory. @param {number} address */
  release(address) {
    this.module._free(address);
  }

  /** Return a view of fp32 numbers in memory. @param {number} address @param {number} count */
  floats(address, count) {
    return new Float32Array(this.module.HEAPU8.buffer, address, count);
  }

  /** Return a view of bytes in memory. @param {number} address @param {number} count */
  bytes(address, count) {
    return new Uint8Array(this.module.HEAPU8.buffer, address, count);
  }

  /** Return a view of 32-bit integers in memory. @param {number} address @param {number} count */
  integers(address, count) {
    return new Int32Array(this.module.HEAPU8.buffer, address, count);
  }

  /** Return a view of 64-bit integers in memory. @param {number} address @param {number} count */
  longs(address, count) {
    return new BigInt64Array(this.module.HEAPU8.buffer, address, count);
  }

  /**
   * Make a tensor of the values at an address.
   * @param {Type} type
   * @param {number[]} sizes
   * @param {number} address
   * @param {number} [where] ON_CPU or ON_GPU
   */
  tensor(type, sizes, address, where = ON_CPU) {
    const rank = sizes.length;
    const sizesAddress = this.allocate(POINTER_BYTES * Math.max(1, rank));
    this.integers(sizesAddress, rank).set(sizes);
    const tensor = this.module._OrtCreateTensor(
      ...[TYPES[type][0], address, bytesOf(type, sizes), sizesAddress, rank, where],
    );
    this.release(sizesAddress);
    if (!tensor) this.check(1);
    return tensor;
  }

  /** Free a tensor, but not the memory of its values. @param {number} tensor */
  releaseTensor(tensor) {
    this.module._OrtReleaseTensor(tensor);
  }

  /**
   * Make an fp32 tensor of zeros in the memory where a session computes.
   * @param {number} session
   * @param {number[]} sizes
   * @returns {Resident}
   */
  resident(session, sizes) {
    const { device, module } = this;
    const bytes = bytesOf("float32", sizes);
    const buffer = device?.createBuffer({ size: bytes, usage: BUFFER_USAGE });
    const address = buffer ? module.webgpuRegisterBuffer(buffer, session) : this.allocate(bytes);
    if (!buffer) this.bytes(address, bytes).fill(0);
    const tensor = this.tensor("float32", sizes, address, buffer ? ON_GPU : ON_CPU);
    const release = () => {
      this.releaseTensor(tensor);
      if (!buffer) return this.release(address);
      module.webgpuUnregisterBuffer(buffer);
      buffer.destroy();
    };
    return { tensor, release };
  }

  /** Return the address of a name in memory. @param {string} name */
  nameOf(name) {
    const known = this.names.get(name);
    if (known !== undefined) return known;
    const bytes = new TextEncoder().encode(name).length + 1;
    const address = this.allocate(bytes);
    this.module.stringToUTF8(name, address, bytes);
    this.names.set(name, address);
    return address;
  }

  /**
   * Make a session, which is never freed.
   * @param {Uint8Array} graph
   * @param {Record<string, Uint8Array>} files of weights, by the names that the graph has for them
   */
  async session(graph, files) {
    const { module, device } = this;
    // The third setting plans memory ahead, which is for processors only.
    const settings = [ALL_OPTIMIZATIONS, true, !device, 0, false, 0, 0, ERRORS_ONLY, 0, 0];
    const options = module._OrtCreateSessionOptions(...settings);
    const address = this.allocate(graph.length);
    try {
      module.HEAPU8.set(graph, address);
      for (const [name, data] of Object.entries(files)) module.mountExternalData(name, data);
      if (device) await this.chooseDevice(options, device);
      const session = await module._OrtCreateSession(address, graph.length, options);
      if (device) module.webgpuOnCreateSession(session);
      if (!session) this.check(1);
      return session;
    } finally {
      module.unmountExternalData();
      module._OrtReleaseSessionOptions(options);
      this.release(address);
    }
  }

  /** Make a session compute on a GPU. @param {number} options the session's @param {GPUDevice} device */
  async chooseDevice(options, device) {
    const { module } = this;
    const names = ["deviceId", "webgpuInstance", "webgpuDevice"];
    const values = module.webgpuRegisterDevice(device).map(String);
    const list = [...names, ...values].map((text) => this.nameOf(text));
    const address = this.allocate(list.length * POINTER_BYTES);
    this.integers(address, list.length).set(list);
    const valuesAddress = address + names.length * POINTER_BYTES;
    const provider = this.nameOf("WebGPU");
    const code = await module._OrtAppendExecutionProvider(
      ...[options, provider, address, valuesAddress, names.length],
    );
    this.release(address);
    this.check(code);
  }

  /**
   * Run a session on tensors that exist; one may be both input and output.
   * @param {number} session
   * @param {Tensors} inputs
   * @param {Tensors} outputs
   */
  async run(session, inputs, outputs) {
    const lists = [inputs, outputs].flatMap((tensors) => [
      Object.keys(tensors).map((name) => this.nameOf(name)),
      Object.values(tensors),
    ]);
    const list = lists.flat();
    const address = this.allocate(list.length * POINTER_BYTES);
    this.integers(address, list.length).set(list);
    const [numInputs, , numOutputs] = lists.map(({ length }) => length);
    const at = (/** @type {number} */ index) => address + POINTER_BYTES * index;
    try {
      const code = await this.module._OrtRun(
        ...[session, address, at(numInputs), numInputs],
        ...[at(2 * numInputs), numOutputs, at(2 * numInputs + numOutputs), 0],
      );
      this.check(code);
    } finally {
      this.release(address);
    }
  }
}

/** @typedef {{ device: GPUDevice, name: string }} Gpu */

const LIMITS = /** @type {const} */ ([
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxStorageBuffersPerShaderStage",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
  "maxComputeWorkgroupSizeY",
  "maxComputeWorkgroupSizeZ",
  "maxComputeWorkgroupsPerDimension",
]);
/** Least size of a subgroup: the runtime's code for subgroups always reads this many keys at once. */
const LEAST_SUBGROUP = 8;

/** Return the name of an adapter. @param {Partial<GPUAdapterInfo>} [info] missing in older browsers */
function nameOf({ description, vendor, architecture } = {}) {
  return description || [vendor, architecture].filter(Boolean).join(" ") || "unnamed";
}

/**
 * Find the adapter of this machine's GPU; null if there is none.
 * @param {boolean} takesSoftware whether a GPU emulated on the processor will do
 */
export async function findAdapter(takesSoftware) {
  const asked = navigator.gpu?.requestAdapter({ powerPreference: "high-performance" });
  const adapter = await asked?.catch(() => null);
  return adapter && (takesSoftware || !adapter.info?.isFallbackAdapter) ? adapter : null;
}

/**
 * Open the GPU with all limits of its adapter; null if there is none.
 * @param {boolean} takesSoftware whether a GPU emulated on the processor will do
 * @returns {Promise<Gpu | null>}
 */
export async function openGpu(takesSoftware) {
  const adapter = await findAdapter(takesSoftware);
  if (!adapter) return null;
  const requiredLimits = Object.fromEntries(LIMITS.map((name) => [name, adapter.limits[name]]));
  const hasSubgroups = adapter.features.has("subgroups");
  const isWide = hasSubgroups && adapter.info?.subgroupMinSize >= LEAST_SUBGROUP;
  /** @type {GPUFeatureName[]} */
  const requiredFeatures = isWide ? ["subgroups"] : [];
  const device = await adapter.requestDevice({ requiredFeatures, requiredLimits });
  // After such an error, as when memory runs out, everything computed would be wrong.
  device.addEventListener("uncapturederror", () => device.destroy());
  return { device, name: nameOf(adapter.info) };
}
