// The kernel of a compiled file under Node, whose threads are not those of a browser.

import { readFile } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { makeKernel } from "../../../engine/kernel.js";
import { makeSharedKernel } from "../../../engine/threads.js";

export const DIST = new URL("../../../../../assets/dist/", import.meta.url);
const THREADS = "sbd-threads.wasm";

/**
 * A kernel with helping threads; `end` lets them go.
 * @param {number} numHelpers
 */
export async function threadedKernel(numHelpers) {
  /** @type {Worker[]} */
  const helpers = [];
  const bytes = await readFile(new URL(THREADS, DIST));
  const shared = await makeSharedKernel(bytes, numHelpers, (help) => {
    const helper = new Worker(new URL("helper.js", import.meta.url), { workerData: help });
    helper.unref(); // Node ends while they wait
    helpers.push(helper);
  });
  return { ...shared, end: () => Promise.all(helpers.map((helper) => helper.terminate())) };
}

/**
 * @param {string} name of a compiled file
 * @param {number} numThreads of the one that has threads
 */
export async function kernelOf(name, numThreads) {
  if (name === THREADS) return (await threadedKernel(numThreads - 1)).kernel;
  return makeKernel(await readFile(new URL(name, DIST)));
}
