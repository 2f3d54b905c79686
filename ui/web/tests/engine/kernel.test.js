import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { canFuseMultiplyAdd, makeKernel, Scratch } from "../../engine/kernel.js";

const WASM = new URL("../../../../assets/dist/sbd.wasm", import.meta.url);

test("its own power of e is right to a millionth", async () => {
  const kernel = await makeKernel(await readFile(WASM));
  const count = 100_003;
  const place = kernel.allocate(4 * count);
  for (const [low, high] of /** @type {[number, number][]} */ ([
    [-87, 0],
    [0, 88],
    [-1e-3, 1e-3],
  ])) {
    const exact = Float32Array.from({ length: count }, (_, i) => low + ((high - low) * i) / count);
    kernel.floats(place, count).set(exact);
    kernel.functions.exponentials(count, place);
    kernel.floats(place, count).forEach((found, index) => {
      const expected = Math.exp(exact[index] ?? 0);
      assert.ok(Math.abs(found / expected - 1) < 1e-6, `e^${exact[index]}: ${found}`);
    });
  }
});

test("memory given back is used again, and a scratch place grows", async () => {
  const kernel = await makeKernel(await readFile(WASM));
  const first = kernel.allocate(1000);
  kernel.release(first, 1000);
  assert.equal(kernel.allocate(1000), first);
  const scratch = new Scratch(kernel);
  const small = scratch.atLeast(100);
  assert.equal(scratch.atLeast(90), small);
  assert.notEqual(scratch.atLeast(5_000_000), small);
  assert.ok(kernel.memory.buffer.byteLength > 5_000_000);
});

test("memory that is not there is refused in a sentence", async () => {
  const kernel = await makeKernel(await readFile(WASM));
  assert.throws(() => kernel.allocate(2 ** 33), /not enough memory left/);
  const scratch = new Scratch(kernel);
  const place = scratch.atLeast(1000);
  assert.throws(() => scratch.atLeast(2 ** 33), /not enough memory left/);
  // What it had is free for others now: it must not go on with it.
  assert.equal(kernel.allocate(1024), place);
  assert.notEqual(scratch.atLeast(1000), place);
});

test("bytes that are no WebAssembly are refused in a sentence", async () => {
  await assert.rejects(makeKernel(new Uint8Array([1, 2, 3, 4])), /WebAssembly has no 128-bit SIMD/);
});

test("the compiled file that fuses is one that this engine says it can run, or not", async () => {
  const bytes = await readFile(new URL("sbd-fma.wasm", WASM));
  assert.equal(WebAssembly.validate(bytes), canFuseMultiplyAdd());
  assert.notDeepEqual(bytes, await readFile(WASM));
});
