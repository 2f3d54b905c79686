// Opens an exported folder under Node alone: reads its files from the disk. Uses what visitors run, the bundles of
// assets/dist, so that it needs none of their packages.

import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const DIST = new URL("../../../../assets/dist/", import.meta.url);

/** Import a bundle of assets/dist. @param {string} name */
const bundle = (name) => import(new URL(name, DIST).href);

const worker = /** @type {Record<string, unknown>} */ (globalThis);
worker.self = new EventTarget(); // of a worker, which listens to its page
/** @type {typeof import("../../engine/worker.ts")} */
export const engine = await bundle("engine.js");
delete worker.self; // by which onnxruntime-web would tell a browser
/** @type {typeof import("../../page.ts")} */
export const page = await bundle("page.js");

/** The folder of an exported model, which the caller of these tests sets. */
export const NANO = process.env.SBD_WEB_MODEL ?? "";

/** Do as fetch() does, but read from the disk. @param {string | URL | Request} address */
async function fetchFile(address) {
  const data = await readFile(new URL(String(address).split("?")[0] ?? "")).catch(() => null);
  return new Response(data, { status: data ? 200 : 404 });
}

/** @param {number} numThreads */
async function startRuntime(numThreads) {
  const data = await readFile(new URL("onnxruntime.wasm.gz", DIST));
  const code = await engine.decompress(new Uint8Array(data));
  const { default: makeModule } = await bundle("onnxruntime.mjs");
  return engine.Runtime.start(makeModule, code, numThreads);
}

/**
 * @param {string} folder that `python -m sbd_core export web` wrote
 * @param {number} [numThreads]
 */
export async function openFolder(folder, numThreads = 1) {
  const runtime = await startRuntime(numThreads);
  const fetched = globalThis.fetch;
  globalThis.fetch = fetchFile;
  try {
    const files = new engine.Files(`${pathToFileURL(folder).href}/`, "", () => {});
    return await engine.openExport(runtime, await files.manifest(), files);
  } finally {
    globalThis.fetch = fetched;
  }
}
