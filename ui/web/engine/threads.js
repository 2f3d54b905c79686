// The kernel with helping threads, where the page may share memory with them: its host must send two
// headers for that (see docs/static-site.md). Tokens are the same with and without.

import { canFuseMultiplyAdd, Kernel } from "./kernel.js";

const PAGE_BYTES = 65536;
/** As scripts/build_wasm.py. */
const MOST_BYTES = 2 ** 30;
const FIRST_BYTES = 2 ** 20;
const STACK_BYTES = PAGE_BYTES;
const MOST_THREADS = 4;

/**
 * What a thread needs to help: the compiled code, the memory they share, the top of its stack.
 * @typedef {{ module: WebAssembly.Module, memory: WebAssembly.Memory, stackTop: number }} Help
 */
/**
 * @typedef {object} HelperFunctions
 * @property {WebAssembly.Global} __stack_pointer
 * @property {() => void} help
 * @property {(count: number) => void} set_num_helpers
 * @property {() => number} num_helped
 */

/** How many threads may help here: none where memory cannot be shared. */
export function numHelpers() {
  if (!globalThis.crossOriginIsolated || !canFuseMultiplyAdd()) return 0;
  return Math.max(0, Math.min(navigator.hardwareConcurrency, MOST_THREADS) - 1);
}

/**
 * The kernel of the bytes of sbd-threads.wasm. It computes all by itself until helpers come.
 * @param {ArrayBuffer | Uint8Array<ArrayBuffer>} bytes
 * @param {number} count of helpers
 * @param {(help: Help) => void} start has helpUntilEnded() called in a thread of its own
 */
export async function makeSharedKernel(bytes, count, start) {
  const memory = new WebAssembly.Memory({
    initial: FIRST_BYTES / PAGE_BYTES,
    maximum: MOST_BYTES / PAGE_BYTES,
    shared: true,
  });
  const module = await WebAssembly.compile(bytes);
  const instance = await WebAssembly.instantiate(module, { env: { memory } });
  const kernel = new Kernel(instance);
  for (let i = 0; i < count; i += 1) {
    start({ module, memory, stackTop: kernel.allocate(STACK_BYTES) + STACK_BYTES });
  }
  functionsOf(instance).set_num_helpers(count);
  return { kernel, numHelped: functionsOf(instance).num_helped };
}

/**
 * Help the kernel; comes to no end but that of the thread.
 * @param {Help} help
 */
export async function helpUntilEnded({ module, memory, stackTop }) {
  const instance = await WebAssembly.instantiate(module, { env: { memory } });
  const functions = functionsOf(instance);
  functions.__stack_pointer.value = stackTop;
  functions.help();
}

/** @param {WebAssembly.Instance} instance @returns {HelperFunctions} */
function functionsOf(instance) {
  return /** @type {HelperFunctions} */ (/** @type {unknown} */ (instance.exports));
}
