// Opens an exported folder under Node: reads its files from the disk, and uses the runtime of assets/dist.

import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { openExport } from "../../engine/export.js";
import { decompress, Files } from "../../engine/files.js";
import { Runtime } from "../../engine/runtime.js";

export const DIST = new URL("../../../../assets/dist/", import.meta.url);

/** The folder of an exported model, which the caller of these tests sets. */
export const NANO = process.env.SBD_WEB_MODEL ?? "";

/** Do as fetch() does, but read from the disk. @param {string | URL | Request} address */
export async function fetchFile(address) {
  const data = await readFile(new URL(String(address).split("?")[0] ?? "")).catch(() => null);
  return new Response(data, { status: data ? 200 : 404 });
}

/** @param {number} numThreads */
export async function startRuntime(numThreads) {
  const data = await readFile(new URL("onnxruntime.wasm.gz", DIST));
  const code = await decompress(new Uint8Array(data));
  const { default: makeModule } = await import(new URL("onnxruntime.mjs", DIST).href);
  return Runtime.start(makeModule, code, numThreads);
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
    const files = new Files(`${pathToFileURL(folder).href}/`, () => {});
    return await openExport(runtime, await files.manifest(), files);
  } finally {
    globalThis.fetch = fetched;
  }
}
