import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { readCheckpoint } from "../../engine/checkpoint/folder.js";
import { canFuseMultiplyAdd } from "../../engine/kernel.js";
import { Cache } from "../../engine/model.js";
import { numHelpers } from "../../engine/threads.js";
import { kernelOf, threadedKernel } from "./node/kernels.js";

/** @import { Kernel } from "../../engine/kernel.js" */

const MODEL = new URL("../../../../assets/checkpoints/sbd-nano/", import.meta.url);
// Older Nodes fuse only when they are told to; newer ones do not know the flag.
if (!canFuseMultiplyAdd()) setFlagsFromString("--experimental-wasm-relaxed-simd");

/** @param {Kernel} kernel */
async function reader(kernel) {
  const { model } = await readCheckpoint("nano", kernel, async (name) => {
    const data = await readFile(new URL(name, MODEL)).catch(() => null);
    return data ? data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) : null;
  });
  const cache = new Cache(model, 128);
  const count = (/** @type {number} */ size) => Array.from({ length: size }, (_, i) => 3 + i);
  const one = { cache, blockIds: [], predraftBlocks: [], numCausalLogits: 0 };
  model.forward({ ...one, causalIds: count(40), numCausalLogits: 1 });
  /** @param {number} rows logits of a block behind the text */
  return (rows) => {
    const logits = model.forward({ ...one, causalIds: [], blockIds: count(rows) });
    return Array.from({ length: rows }, (_, index) => logits.row(index).slice());
  };
}

test("threads that help change no bit of the logits", async () => {
  const alone = await reader(await kernelOf("sbd-fma.wasm", 1));
  const { kernel, numHelped, end } = await threadedKernel(2);
  const helped = await reader(kernel);
  for (const rows of [1, 2, 5, 16, 33]) {
    const expected = alone(rows);
    for (let had = numHelped(), i = 0; i < 3 || (rows > 4 && numHelped() === had); i += 1) {
      assert.deepEqual(helped(rows), expected);
      await new Promise((go) => setImmediate(go)); // a helper that starts needs this thread
    }
  }
  await end();
});

test("the kernel goes on alone where no helper comes, or when they have gone", async () => {
  const alone = await reader(await kernelOf("sbd-fma.wasm", 1));
  const { kernel, end } = await threadedKernel(1);
  const helped = await reader(kernel);
  await end();
  assert.deepEqual(helped(16), alone(16));
});

test("no threads are asked for where memory cannot be shared", () => {
  const around = (/** @type {boolean} */ isIsolated, /** @type {number} */ cores) => {
    const navigator = { hardwareConcurrency: cores };
    for (const [name, value] of Object.entries({ crossOriginIsolated: isIsolated, navigator }))
      Object.defineProperty(globalThis, name, { value, configurable: true });
    return numHelpers();
  };
  assert.equal(around(false, 8), 0);
  assert.equal(around(true, 1), 0);
  assert.equal(around(true, 2), 1);
  assert.equal(around(true, 64), 3);
});
