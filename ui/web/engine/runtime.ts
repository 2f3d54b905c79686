// Runs ONNX Runtime, compiled to WebAssembly as onnxruntime-web ships it, on the processor or the visitor's GPU: its
// memory, tensors and sessions. Does without that package's JavaScript API, which copies every input into the memory
// and every output out of it, the KV cache included. Knows no models.

import { EngineError } from "./errors.ts";

export const NOT_ENOUGH = "This browser has not enough memory left for the model.";
const NO_WEBASSEMBLY = "This browser has no WebAssembly, which decoding here needs.";
const NO_SIMD =
  "This browser’s WebAssembly has no 128-bit SIMD, which decoding here needs; a newer one has.";

/** For each type of elements, its number in ONNX and the array of its values. */
const TYPES = {
  float32: [1, Float32Array],
  uint8: [2, Uint8Array],
  int32: [6, Int32Array],
  int64: [7, BigInt64Array],
} as const;
const [ON_CPU, ON_GPU] = [1, 4];
const POINTER_BYTES = 4;
/** STORAGE, COPY_SRC and COPY_DST of GPUBufferUsage. */
const BUFFER_USAGE = 0x80 | 0x04 | 0x08;
const ERRORS_ONLY = 3;
const ALL_OPTIMIZATIONS = 99;

export type Type = keyof typeof TYPES;
/**
 * A tensor. values: returns its values, to read and write until the memory grows; none of a tensor on a GPU. release:
 * frees it and, if resident() made it, the memory of its values.
 */
export type Tensor = {
  handle: number;
  sizes: number[];
  values: <Values = Float32Array>() => Values;
  release: () => void;
};
/** Tensors by the names of a graph's inputs or outputs. */
export type Tensors = Record<string, Tensor>;

/** onnxruntime-web's own module, which has no types: its functions take and return numbers and addresses. */
type Module = Record<string, any>;

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

/** Return the size of a tensor's values in bytes. */
export function bytesOf(type: Type, sizes: number[]) {
  return sizes.reduce((product, size) => product * size, TYPES[type][1].BYTES_PER_ELEMENT);
}

export class Runtime {
  /** Addresses of the names in memory, which are never freed. */
  names: Map<string, number> = new Map();

  /** @param device null to compute on the processor */
  constructor(
    readonly module: Module,
    readonly device: GPUDevice | null,
  ) {}

  /**
   * Start the runtime. Raises EngineError if memory is short.
   * @param makeModule the export of onnxruntime-web's .mjs
   */
  static async start(
    makeModule: (settings: object) => Promise<Module>,
    wasmBinary: ArrayBuffer,
    numThreads: number,
    device: GPUDevice | null = null,
  ) {
    const locateFile = (name: string) => name;
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

  /** Raise an Error with the runtime's message unless the code is 0. */
  check(code: number) {
    if (code === 0) return;
    const address = this.allocate(2 * POINTER_BYTES);
    this.module._OrtGetLastError(address, address + POINTER_BYTES);
    const [, message] = this.integers(address, 2);
    this.release(address);
    const words = message ? this.module.UTF8ToString(message) : `code ${code}`;
    if (/bad_alloc|Failed to allocate/i.test(words)) throw new EngineError(NOT_ENOUGH);
    throw new Error(words);
  }

  /** Allocate memory and return its address. Raises EngineError if there is none left. */
  allocate(bytes: number) {
    const address = this.module._malloc(bytes) >>> 0;
    if (!address) throw new EngineError(NOT_ENOUGH);
    return address;
  }

  release(address: number) {
    this.module._free(address);
  }

  integers(address: number, count: number) {
    return new Int32Array(this.module.HEAPU8.buffer, address, count);
  }

  /** Make a tensor of the values at an address. */
  tensor(type: Type, sizes: number[], address: number, where: number = ON_CPU): Tensor {
    const { module } = this;
    const [number, Values] = TYPES[type];
    const rank = sizes.length;
    const sizesAddress = this.allocate(POINTER_BYTES * Math.max(1, rank));
    this.integers(sizesAddress, rank).set(sizes);
    const bytes = bytesOf(type, sizes);
    const handle = module._OrtCreateTensor(number, address, bytes, sizesAddress, rank, where);
    this.release(sizesAddress);
    if (!handle) this.check(1);
    const count = bytes / Values.BYTES_PER_ELEMENT;
    return {
      handle,
      sizes,
      values: <Array = Float32Array>() => new Values(module.HEAPU8.buffer, address, count) as Array,
      release: () => module._OrtReleaseTensor(handle),
    };
  }

  /** Make an fp32 tensor of zeros in the memory where a session computes. */
  resident(session: number, sizes: number[]): Tensor {
    const { device, module } = this;
    const bytes = bytesOf("float32", sizes);
    const buffer = device?.createBuffer({ size: bytes, usage: BUFFER_USAGE });
    const address = buffer ? module.webgpuRegisterBuffer(buffer, session) : this.allocate(bytes);
    const tensor = this.tensor("float32", sizes, address, buffer ? ON_GPU : ON_CPU);
    if (!buffer) tensor.values().fill(0);
    const release = () => {
      tensor.release();
      if (!buffer) return this.release(address);
      module.webgpuUnregisterBuffer(buffer);
      buffer.destroy();
    };
    return { ...tensor, release };
  }

  nameOf(name: string) {
    const known = this.names.get(name);
    if (known !== undefined) return known;
    const bytes = new TextEncoder().encode(name).length + 1;
    const address = this.allocate(bytes);
    this.module.stringToUTF8(name, address, bytes);
    this.names.set(name, address);
    return address;
  }

  /** Make a session, which is never freed. @param files of weights, by the graph's names for them */
  async session(graph: Uint8Array, files: Record<string, Uint8Array>) {
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

  /** Make a session compute on a GPU. @param options the session's */
  async chooseDevice(options: number, device: GPUDevice) {
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

  /** Run a session on tensors that exist; one may be both input and output. */
  async run(session: number, inputs: Tensors, outputs: Tensors) {
    const lists = [inputs, outputs].flatMap((tensors) => [
      Object.keys(tensors).map((name) => this.nameOf(name)),
      Object.values(tensors).map(({ handle }) => handle),
    ]);
    const list = lists.flat();
    const address = this.allocate(list.length * POINTER_BYTES);
    this.integers(address, list.length).set(list);
    const [numInputs, , numOutputs] = lists.map(({ length }) => length);
    const at = (index: number) => address + POINTER_BYTES * index;
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

export type Gpu = { device: GPUDevice; name: string };

const LIMITS = [
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxStorageBuffersPerShaderStage",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
  "maxComputeWorkgroupSizeY",
  "maxComputeWorkgroupSizeZ",
  "maxComputeWorkgroupsPerDimension",
] as const;
/** Least size of a subgroup: the runtime's code for subgroups always reads this many keys at once. */
const LEAST_SUBGROUP = 8;

/** Return the name of an adapter. @param info missing in older browsers */
function nameOf({ description, vendor, architecture }: Partial<GPUAdapterInfo> = {}) {
  return description || [vendor, architecture].filter(Boolean).join(" ") || "unnamed";
}

/** Find the adapter of this machine's GPU; null for none. @param takesSoftware whether an emulated one will do */
export async function findAdapter(takesSoftware: boolean) {
  const asked = navigator.gpu?.requestAdapter({ powerPreference: "high-performance" });
  const adapter = await asked?.catch(() => null);
  return adapter && (takesSoftware || !adapter.info?.isFallbackAdapter) ? adapter : null;
}

/** Open the GPU with all limits of its adapter; null for none. @param takesSoftware see findAdapter() */
export async function openGpu(takesSoftware: boolean): Promise<Gpu | null> {
  const adapter = await findAdapter(takesSoftware);
  if (!adapter) return null;
  const requiredLimits = Object.fromEntries(LIMITS.map((name) => [name, adapter.limits[name]]));
  const hasSubgroups = adapter.features.has("subgroups");
  const isWide = hasSubgroups && adapter.info?.subgroupMinSize >= LEAST_SUBGROUP;
  const requiredFeatures: GPUFeatureName[] = isWide ? ["subgroups"] : [];
  const device = await adapter.requestDevice({ requiredFeatures, requiredLimits });
  // After such an error, as when memory runs out, everything computed would be wrong.
  device.addEventListener("uncapturederror", () => device.destroy());
  return { device, name: nameOf(adapter.info) };
}
