// How the files of a model's folder are read: from below an address, or from those that the visitor
// gave. What no browser can hold is refused before it is read.

import { ModelError } from "../errors.js";

/** @import { ReadFile } from "./folder.js" */

const MAX_FILE_BYTES = 450_000_000;
const UNREACHED = "The model’s files cannot be reached.";
/** The service worker takes from there what need not be fetched twice: ui/web/site/sw.js. */
const ARRIVED = "sbd-arrived";

/**
 * @param {string} name
 * @param {number} size
 */
function checkSize(name, size) {
  if (size <= MAX_FILE_BYTES) return;
  throw new ModelError(`${name} has ${(size / 1e6).toFixed(0)} MB, too much for a browser.`);
}

/**
 * @param {string} base address of the folder
 * @param {string[] | undefined} names of the files there, where that is known
 * @param {(bytes: number) => void} progress bytes that came since it was called last
 * @returns {ReadFile}
 */
export function readerBelow(base, names, progress) {
  return async (name) => {
    if (names && !names.includes(name)) return null;
    const response = await fetch(new URL(name, base)).catch(() => null);
    if (!response) throw new ModelError(UNREACHED);
    if (!response.ok) return null;
    checkSize(name, Number(response.headers.get("content-length") ?? 0));
    return bodyOf(name, response, progress);
  };
}

/**
 * A whole body, piece by piece: a host need not say, nor know, how long it is.
 * @param {string} name
 * @param {Response} response
 * @param {(bytes: number) => void} progress
 */
async function bodyOf(name, { body }, progress) {
  const reader = body?.getReader();
  /** @type {Uint8Array[]} */
  const parts = [];
  let size = 0;
  for (;;) {
    const part = await reader?.read().catch(() => {
      throw new ModelError(UNREACHED);
    });
    if (!part?.value) break;
    size += part.value.byteLength;
    if (size > MAX_FILE_BYTES) reader?.cancel().catch(() => {});
    checkSize(name, size);
    parts.push(part.value);
    progress(part.value.byteLength);
  }
  const whole = new Uint8Array(size);
  let place = 0;
  for (const part of parts) {
    whole.set(part, place);
    place += part.byteLength;
  }
  return whole.buffer;
}

/**
 * The same reader, which also leaves what it read for the service worker.
 * @param {ReadFile} read
 * @param {string} base address of the folder
 * @returns {ReadFile}
 */
export function leaving(read, base) {
  return async (name) => {
    const data = await read(name);
    if (data && "caches" in globalThis) {
      // A browser that has no room for it fetches it again later.
      await caches
        .open(ARRIVED)
        .then((store) => store.put(new URL(name, base), new Response(data)))
        .catch(() => {});
    }
    return data;
  };
}

/** @param {[name: string, file: Blob][]} files @returns {ReadFile} */
export function readerOf(files) {
  const known = new Map(files);
  return async (name) => {
    const file = known.get(name);
    if (!file) return null;
    checkSize(name, file.size);
    return file.arrayBuffer();
  };
}
