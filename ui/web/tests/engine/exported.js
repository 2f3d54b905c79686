// An exported folder opened under Node: its files are read from the disk, the runtime is the committed
// one.

import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { openExport } from "../../engine/export.js";
import { Files, unpacked } from "../../engine/files.js";
import { Runtime } from "../../engine/runtime.js";

export const DIST = new URL("../../../../assets/dist/", import.meta.url);

/** Exported nano, which whoever starts these tests names. */
export const NANO = process.env.SBD_WEB_MODEL ?? "";

/** A fetch() of the disk. @param {string | URL | Request} address */
export async function fetchFile(address) {
  const data = await readFile(new URL(String(address).split("?")[0] ?? "")).catch(() => null);
  return new Response(data, { status: data ? 200 : 404 });
}

/** @param {number} numThreads */
export async function startRuntime(numThreads) {
  const data = await readFile(new URL("onnxruntime.wasm.gz", DIST));
  const code = await unpacked(new Uint8Array(data));
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
