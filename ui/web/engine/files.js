// Fetches the files of an exported model, checks them against the manifest, and keeps them in this browser by
// the export's digest, so that a later visit fetches none.

import { EngineError, shown } from "./errors.js";

const FORMAT = 1;
const MANIFEST = "manifest.json";
const UNREACHED = "The model’s files cannot be reached.";
/** The beginning of the names of models' stores, before the model's name. */
const KEPT = "sbd-model-";
const WHOLE = "whole";
/** The longest wait for a file that another tab fetches: that tab may sleep. */
const OTHER_TAB_MS = 60_000;

/** The manifest's facts of a file. @typedef {{ size: number, sha256: string }} Promised */
/** The place of a tensor in the parts put together. @typedef {{ kind: string, shape: number[], offset: number, bytes: number }} Stored */

/**
 * The manifest that sbd_core/models/web_export.py writes.
 * @typedef {object} Manifest
 * @property {number} format
 * @property {string} name
 * @property {string} digest
 * @property {Record<string, any>} config
 * @property {(Promised & { file: string })[]} parts
 * @property {Record<string, Promised>} files
 * @property {Record<string, Stored>} tensors
 * @property {Record<string, Graph>} graphs each by its engine
 * @property {number} download bytes
 */
/** A graph. trial: the largest logits behind the tokens 0 to 23. @typedef {{ file: string, bytes: number, weights: Initializer[], trial: [id: number, logit: number][] }} Graph */
/**
 * The rule by which an initializer of a graph is made from stored tensors, and its place.
 * @typedef {object} Initializer
 * @property {string} name
 * @property {string} rule
 * @property {string[]} from
 * @property {number} offset
 * @property {number} bytes
 * @property {number} [group]
 * @property {number} [turns_last]
 * @property {[number, number]} [columns]
 * @property {[axis: "rows" | "columns", kvHeads: number, group: number, place: number]} [swaps]
 */

export class Files {
  /**
   * @param {string} base address of the folder, with a slash at its end
   * @param {(bytes: number) => void} progress called with the bytes that came since the last call
   */
  constructor(base, progress) {
    this.base = base;
    this.progress = progress;
    /** Whether this browser had room for what was fetched. */
    this.isKept = true;
    /** @type {Cache | null} */
    this.store = null;
  }

  /**
   * Read the manifest, which the other files need. Raises EngineError.
   * @returns {Promise<Manifest>}
   */
  async manifest() {
    const data = await this.fetched(MANIFEST, { cache: "no-cache" });
    /** @type {Manifest} */
    let found;
    try {
      found = JSON.parse(new TextDecoder().decode(data));
    } catch {
      throw new EngineError(`${MANIFEST} is not JSON.`);
    }
    if (!(Number(found?.format) >= 1)) {
      throw new EngineError(`${MANIFEST} is not that of a model exported for browsers.`);
    }
    if (found.format > FORMAT) {
      throw new EngineError(
        `The model was exported by a newer version: format ${shown(found.format)}, and this page reads ${FORMAT}.`,
      );
    }
    await this.openStore(found);
    return found;
  }

  /**
   * Open the store of this export, and delete those of the model's other exports.
   * @param {Manifest} manifest
   */
  async openStore({ name, digest }) {
    if (!("caches" in globalThis)) return; // a page that came over plain http
    const own = `${KEPT}${name}-${digest}`;
    try {
      this.store = await caches.open(own);
      const old = (await storesOf(name)).filter((each) => each !== own);
      await Promise.all(old.map((each) => caches.delete(each)));
    } catch {
      this.isKept = false;
    }
  }

  /**
   * Read a file that the manifest names, from this browser or from the network. Raises EngineError for
   * one that is missing, cut off, or another.
   * @param {string} name
   * @param {Promised} promised
   */
  async read(name, promised) {
    if (!/^[\w.-]+$/.test(name))
      throw new EngineError(`${MANIFEST} names a file outside the folder.`);
    const read = () => this.keptOrFetched(name, promised);
    const locks = this.store && globalThis.navigator?.locks;
    if (!locks) return read();
    const signal = AbortSignal.timeout(OTHER_TAB_MS);
    return locks.request(this.addressOf(name), { signal }, read).catch((error) => {
      if (error instanceof EngineError) throw error;
      return read();
    });
  }

  /** Read a file from the store or, unless it is whole there, from the network. @param {string} name @param {Promised} promised */
  async keptOrFetched(name, promised) {
    const address = this.addressOf(name);
    const found = await this.store?.match(address).catch(() => undefined);
    const kept = found && new Uint8Array(await found.arrayBuffer());
    if (kept && !(await whyNot(kept, promised))) {
      this.progress(kept.length);
      return kept;
    }
    const data = await this.fetched(name, {}, promised.size);
    const reason = await whyNot(data, promised);
    if (reason) throw new EngineError(`${name} ${reason}`);
    if (!this.isKept) return data;
    await this.store?.put(address, new Response(data)).catch(() => {
      this.isKept = false; // no room, which is said once
    });
    return data;
  }

  /** Note that every file was read. */
  async finish() {
    if (this.isKept) await this.note(WHOLE, true);
  }

  /**
   * Keep a value beside the model, as long as the model itself.
   * @param {string} name
   * @param {unknown} value
   */
  async note(name, value) {
    await this.store?.put(this.addressOf(`notes/${name}`), Response.json(value)).catch(() => {});
  }

  /** The value kept under that name; null without one. @param {string} name */
  async noted(name) {
    const found = await this.store?.match(this.addressOf(`notes/${name}`)).catch(() => undefined);
    return found ? found.json() : null;
  }

  /** The address of a file. @param {string} name */
  addressOf(name) {
    return new URL(name, this.base).href;
  }

  /**
   * Fetch a whole file, piece by piece. Raises EngineError.
   * @param {string} name
   * @param {RequestInit} settings
   * @param {number} [size] bytes at most: a longer one is given up, as it is another file or has no end
   */
  async fetched(name, settings, size = 4_000_000) {
    const response = await fetch(this.addressOf(name), settings).catch(() => null);
    if (!response) throw new EngineError(UNREACHED);
    if (!response.ok) {
      const rest = "A page open for long may need a reload.";
      throw new EngineError(`The model’s folder has no ${name}. ${rest}`);
    }
    const reader = response.body?.getReader();
    const data = new Uint8Array(size + 1);
    let length = 0;
    while (length < data.length) {
      const part = await reader?.read().catch(() => {
        throw new EngineError(UNREACHED);
      });
      if (!part?.value) return data.subarray(0, length);
      const fitting = part.value.subarray(0, data.length - length);
      data.set(fitting, length);
      length += fitting.length;
      this.progress(fitting.length);
    }
    reader?.cancel().catch(() => {});
    return data;
  }
}

/**
 * Find what this browser keeps of a model: the names of its stores, and whether one has every file.
 * @param {string} name
 */
export async function keptOf(name) {
  try {
    const stores = await storesOf(name);
    const marks = stores.map(async (each) => {
      const files = await (await caches.open(each)).keys();
      return files.some(({ url }) => url.endsWith(`/notes/${WHOLE}`));
    });
    return { stores, isWhole: (await Promise.all(marks)).includes(true) };
  } catch {
    return { stores: [], isWhole: false }; // refused, or a page that came over plain http
  }
}

/** The stores of every export of a model that are here. @param {string} name */
async function storesOf(name) {
  const before = `${KEPT}${name}-`;
  const isOfModel = (/** @type {string} */ each) =>
    each.startsWith(before) && /^[0-9a-f]{64}$/.test(each.slice(before.length));
  return (await caches.keys()).filter(isOfModel);
}

/**
 * Says why data is not the file that was promised; "" if it is. Pages that came over plain http can
 * only compare sizes.
 * @param {Uint8Array<ArrayBuffer>} data
 * @param {Promised} promised
 */
async function whyNot(data, { size, sha256 }) {
  if (data.length < size) return `is cut off: it has ${data.length} bytes of ${size}.`;
  if (data.length > size) return `is of another export: it has more than its ${size} bytes.`;
  if (!globalThis.crypto?.subtle) return "";
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
  const hex = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex === sha256 ? "" : "was altered, or is of another export: its SHA-256 is another.";
}

/**
 * Unpack a file compressed by gzip; hosts may have unpacked it on the way. Raises EngineError.
 * @param {Uint8Array<ArrayBuffer>} data
 */
export async function unpacked(data) {
  if (data[0] !== 0x1f || data[1] !== 0x8b) return data.slice().buffer;
  if (!("DecompressionStream" in globalThis)) {
    throw new EngineError(
      "This browser has no DecompressionStream, which decoding here needs; a newer one has.",
    );
  }
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer().catch(() => {
    throw new EngineError("The engine’s code is cut off.");
  });
}
