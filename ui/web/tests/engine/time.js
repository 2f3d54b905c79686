// Times forward passes of a model folder in the engine: a round for each line read, answered with one
// JSON line {rows: best milliseconds}. Run by scripts/browser/time_forward.py.

import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { readCheckpoint } from "../../engine/checkpoint/folder.js";
import { Cache } from "../../engine/model.js";
import { kernelOf } from "./node/kernels.js";

const [folder = "", compiled = "", setting = "{}"] = process.argv.slice(2);
/** @type {{ rows: number[], numCached: number, repeats: number, numThreads: number }} */
const { rows, numCached, repeats, numThreads } = JSON.parse(setting);

const kernel = await kernelOf(compiled, numThreads);
const { model } = await readCheckpoint("timed", kernel, async (name) => {
  const data = await readFile(`${folder}/${name}`).catch(() => null);
  return data ? data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) : null;
});
const ids = (/** @type {number} */ count) => Array.from({ length: count }, (_, i) => 3 + i);
const cache = new Cache(model, numCached + 64);
const none = { cache, blockIds: [], earlyBlocks: [] };
model.forward({ ...none, causalIds: ids(numCached), numCausalLogits: 1 });

for await (const _ of createInterface({ input: process.stdin })) {
  /** @type {Record<string, number>} */
  const best = {};
  for (const count of rows) {
    for (let i = 0; i < repeats; i += 1) {
      const began = performance.now();
      model.forward({ ...none, causalIds: [], blockIds: ids(count), numCausalLogits: 0 });
      best[count] = Math.min(best[count] ?? Infinity, performance.now() - began);
    }
  }
  console.log(JSON.stringify(best));
}
