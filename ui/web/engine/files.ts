// Fetches the files of an exported model, checks them against its manifest, and stores them in this browser under the
// manifest's digest, so that a later visit fetches only the manifest.

import { parseObject } from "../core/json.ts";
import { EngineError, shown } from "./errors.ts";

const FORMAT = 2;
const MANIFEST = "manifest.json";
const UNREACHED = "The model’s files cannot be reached.";
/** Name of what stands in a store that has every file. */
const WHOLE = "notes/whole";
/** Longest wait for a file that another tab is fetching, as browsers may suspend that tab. */
const OTHER_TAB_MS = 60_000;

/** What the manifest says of a file; size in bytes. */
type Promised = { size: number; sha256: string };
/** What computes: WebAssembly on the processor, or the GPU. */
export type Engine = "wasm" | "webgpu";

/** The manifest of an export; sbd_core/models/web_export.py writes it. */
export interface Manifest {
  format: number; // version of the format
  name: string;
  config: Record<string, any>;
  trial: [id: number, logit: number][]; // the largest logits, in order, after the tokens 0 to 23
  part_bytes: number; // bytes of weights in every part of a graph but the last
  graphs: Record<Engine, Graph>;
  files: Record<string, Promised>; // all files by name
  download: Record<Engine, number>; // bytes to download
}
/** A graph. parts: files that unpacked and joined hold its weights. bytes: of all its weights. */
export type Graph = { file: string; parts: string[]; bytes: number; sampler: Tables | null };
/** Where a graph's weights have the tables of a sampler head, see Weights in sampling.ts; in bytes. */
type Tables = { of_token: number; out: number; embedding: Rows; head: Rows };
/** Where the rows of all tokens are: values in fp32, or integers of 8 bits with an fp32 scale for every 32. */
export type Rows =
  | { values: number; integers?: undefined; scales?: undefined }
  | { values?: undefined; integers: number; scales: number };

export class Files {
  /** False once this browser has failed to store a file. */
  canStore = true;
  store: Cache | null = null;
  storeName = "";

  /** @param storePrefix name of the model's stores, before the manifest's digest */
  constructor(
    readonly base: string,
    readonly storePrefix: string,
    readonly progress: (bytes: number) => void,
  ) {}

  /** Fetch the manifest, and open the export's store. Raises EngineError. */
  async manifest(): Promise<Manifest> {
    const data = await this.fetchFile(MANIFEST, { cache: "no-cache" });
    const found = parseObject(new TextDecoder().decode(data)) as Manifest | null;
    if (!found) throw new EngineError(`${MANIFEST} is not JSON.`);
    if (!(Number(found.format) >= 1)) {
      throw new EngineError(`${MANIFEST} is not that of a model exported for browsers.`);
    }
    if (found.format !== FORMAT) {
      const [age, advice] =
        found.format > FORMAT ? ["a newer", ""] : ["an older", " Export it again."];
      throw new EngineError(
        `The model was exported by ${age} version: format ${shown(found.format)}, and this page reads ${FORMAT}.${advice}`,
      );
    }
    await this.openStore(data);
    return found;
  }

  /** Open the store of the export with this manifest, and delete the stores of the model's other exports. */
  async openStore(manifest: Uint8Array<ArrayBuffer>) {
    if (!("caches" in globalThis)) return; // missing on a page loaded over plain http
    const own = `${this.storePrefix} ${await hashOf(manifest)}`;
    this.storeName = own;
    try {
      this.store = await caches.open(own);
      const old = (await storesOf(this.storePrefix)).filter((each) => each !== own);
      await Promise.all(old.map((each) => caches.delete(each)));
    } catch {
      this.canStore = false;
    }
  }

  /**
   * Read a file that the manifest names, from the store or the network. Raises EngineError if the file is missing, cut
   * off or another one.
   */
  async read(name: string, promised: Promised) {
    if (!/^[\w.-]+$/.test(name))
      throw new EngineError(`${MANIFEST} names a file outside the folder.`);
    const read = () => this.readOrFetch(name, promised);
    const locks = this.store && globalThis.navigator?.locks;
    if (!locks) return read();
    const signal = AbortSignal.timeout(OTHER_TAB_MS);
    return locks.request(`${this.storeName} ${name}`, { signal }, read).catch((error) => {
      if (error instanceof EngineError) throw error;
      return read();
    });
  }

  /** Read a file from the store if intact there, else fetch it. */
  async readOrFetch(name: string, promised: Promised) {
    const address = this.addressOf(name);
    const found = await this.store?.match(address).catch(() => undefined);
    const kept = found && new Uint8Array(await found.arrayBuffer());
    if (kept && !(await mismatchOf(kept, promised))) {
      this.progress(kept.length);
      return kept;
    }
    const data = await this.fetchFile(name, {}, promised.size);
    const reason = await mismatchOf(data, promised);
    if (reason) throw new EngineError(`${name} ${reason}`);
    if (!this.canStore) return data;
    await this.store?.put(address, new Response(data)).catch(() => {
      this.canStore = false; // no space left, which the page then says
    });
    return data;
  }

  /** Record in the store that it has every file. */
  async finish() {
    if (!this.canStore) return;
    await this.store?.put(this.addressOf(WHOLE), new Response()).catch(() => {});
  }

  addressOf(name: string) {
    return new URL(name, this.base).href;
  }

  /**
   * Fetch a file as a whole. Raises EngineError.
   * @param size expected bytes: a longer file, which is another one or endless, is not read to its end
   */
  async fetchFile(name: string, settings: RequestInit, size: number = 4_000_000) {
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

/** Find the stores of a model in this browser, and whether one of them has every file. */
export async function findStores(storePrefix: string) {
  try {
    const stores = await storesOf(storePrefix);
    const marks = stores.map(async (each) => {
      const files = await (await caches.open(each)).keys();
      return files.some(({ url }) => url.endsWith(`/${WHOLE}`));
    });
    return { stores, isWhole: (await Promise.all(marks)).includes(true) };
  } catch {
    return { stores: [], isWhole: false }; // access refused, or a page loaded over plain http
  }
}

/** Return the names of the stores of all exports of a model. */
async function storesOf(storePrefix: string) {
  const before = `${storePrefix} `;
  const isOfModel = (each: string) =>
    each.startsWith(before) && /^[0-9a-f]{64}$/.test(each.slice(before.length));
  return (await caches.keys()).filter(isOfModel);
}

/** Say why data is not the promised file; "" if it is. On pages loaded over plain http only the size can be checked. */
async function mismatchOf(data: Uint8Array<ArrayBuffer>, { size, sha256 }: Promised) {
  if (data.length < size) return `is cut off: it has ${data.length} bytes of ${size}.`;
  if (data.length > size) return `is of another export: it has more than its ${size} bytes.`;
  if (!globalThis.crypto?.subtle || (await hashOf(data)) === sha256) return "";
  return "was altered, or is of another export: its SHA-256 is another.";
}

async function hashOf(data: Uint8Array<ArrayBuffer>) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Decompress a gzip file, unless the host has already done so. Raises EngineError. @param name for the error */
export async function decompress(
  data: Uint8Array<ArrayBuffer>,
  name: string = "The engine’s code",
) {
  if (data[0] !== 0x1f || data[1] !== 0x8b) return data.slice().buffer;
  if (!("DecompressionStream" in globalThis)) {
    throw new EngineError(
      "This browser has no DecompressionStream, which decoding here needs; a newer one has.",
    );
  }
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer().catch(() => {
    throw new EngineError(`${name} is cut off.`);
  });
}
