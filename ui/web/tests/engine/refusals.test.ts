// What the engine refuses, each with its sentence: broken files, a silent host, a worker that dies.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { afterEach, test } from "node:test";
import { gzipSync } from "node:zlib";
import { decompress, Files } from "../../engine/files.ts";
import { checkWebAssembly } from "../../engine/runtime.ts";
import type { News } from "../../engine/session.ts";
import { Decoder } from "../../in_browser.ts";

const globals = globalThis as unknown as Record<string, any>;
const NAMES = ["WebAssembly", "fetch", "Worker", "caches"];
const before = Object.fromEntries(NAMES.map((name) => [name, globals[name]]));
const BASE = "https://models.example/m/";
const DATA = Uint8Array.of(1, 2, 3, 4);
const DIGEST = Buffer.from(await crypto.subtle.digest("SHA-256", DATA)).toString("hex");
const PROMISED = { size: 4, sha256: DIGEST };
const STORES = "sbd /a/ model m";

afterEach(() => {
  for (const name of NAMES) {
    if (before[name] === undefined) delete globals[name];
    else globals[name] = before[name];
  }
});

/** @param data that every address answers with; null: status 404 */
function answerWith(data: Uint8Array<ArrayBuffer> | null) {
  globals.fetch = async () => new Response(data, { status: data ? 200 : 404 });
  return new Files(BASE, STORES, () => {});
}

function manifestOf(manifest: object) {
  return answerWith(new TextEncoder().encode(JSON.stringify(manifest))).manifest();
}

test("a part that is cut off, altered, missing or of another export is a sentence each", async () => {
  const read = (data: Uint8Array<ArrayBuffer> | null) =>
    answerWith(data).read("weights-00.bin", PROMISED);
  assert.deepEqual(await read(DATA), DATA);
  const altered = DATA.with(2, 9);
  for (const [data, words] of [
    [DATA.slice(0, 3), /weights-00\.bin is cut off: it has 3 bytes of 4\.$/],
    [altered, /weights-00\.bin was altered, or is of another export: its SHA-256 is another\.$/],
    [Uint8Array.of(...DATA, 5), /is of another export: it has more than its 4 bytes\.$/],
    [null, /The model’s folder has no weights-00\.bin\. A page open/],
  ] as [Uint8Array<ArrayBuffer> | null, RegExp][]) {
    await assert.rejects(read(data), words);
  }
});

test("a file that has no end is given up once it is longer than was promised", async () => {
  let isCancelled = false;
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(3)),
    cancel: () => {
      isCancelled = true;
    },
  });
  globals.fetch = async () => new Response(body);
  await assert.rejects(
    new Files(BASE, STORES, () => {}).read("a.bin", PROMISED),
    /of another export/,
  );
  assert.ok(isCancelled);
});

test("a host that does not answer, or stops in the middle, is said", async () => {
  const sentence = /^Error: The model’s files cannot be reached\.$/;
  globals.fetch = async () => {
    throw new TypeError("Failed to fetch");
  };
  await assert.rejects(new Files(BASE, STORES, () => {}).manifest(), sentence);
  let numPulled = 0;
  const body = new ReadableStream({
    pull: (controller) => {
      numPulled += 1;
      if (numPulled < 2) controller.enqueue(new Uint8Array(1));
      else controller.error(new TypeError("network error"));
    },
  });
  globals.fetch = async () => new Response(body);
  await assert.rejects(new Files(BASE, STORES, () => {}).read("a.bin", PROMISED), sentence);
});

test("a manifest of another version, of something else or of no JSON is a sentence", async () => {
  await assert.rejects(
    manifestOf({ format: 3 }),
    /exported by a newer version: format 3, .* reads 2\.$/,
  );
  await assert.rejects(
    manifestOf({ format: 1 }),
    /exported by an older version: format 1, .* reads 2\. Export it again\.$/,
  );
  await assert.rejects(manifestOf({ name: "m" }), /is not that of a model exported for browsers/);
  await assert.rejects(answerWith(DATA).manifest(), /manifest\.json is not JSON/);
  await assert.rejects(
    answerWith(null).manifest(),
    /has no manifest\.json\. A page open for long may need a reload\.$/,
  );
});

test("a name outside the folder is not fetched", async () => {
  globals.fetch = async () => assert.fail("was fetched");
  const files = new Files(BASE, STORES, () => {});
  await assert.rejects(files.read("../secret", PROMISED), /names a file outside the folder/);
});

/** A Cache Storage in memory. */
class Storage {
  stores: Map<string, Map<string, Uint8Array>> = new Map();

  async keys() {
    return [...this.stores.keys()];
  }

  async delete(name: string) {
    return this.stores.delete(name);
  }

  async open(name: string) {
    const store = this.stores.get(name) ?? new Map();
    this.stores.set(name, store);
    return {
      match: async (address: string) => {
        const data = store.get(address);
        return data && new Response(data);
      },
      put: async (address: string, response: Response) => {
        store.set(address, new Uint8Array(await response.arrayBuffer()));
      },
    };
  }
}

const MANIFEST = '{"format": 2}';

/** Open a manifest; return its files and the name of their store. */
async function openManifest(hear: (count: number) => void = () => {}, written = MANIFEST) {
  globals.fetch = async () => new Response(written);
  const files = new Files(BASE, STORES, hear);
  await files.manifest();
  return { files, store: `${STORES} ${createHash("sha256").update(written).digest("hex")}` };
}

test("a manifest that says otherwise has a store of its own", async () => {
  globals.caches = new Storage();
  await openManifest();
  const { store } = await openManifest(undefined, '{"format": 2, "more": 1}');
  assert.deepEqual(await globals.caches.keys(), [store]);
});

test("what was fetched is kept by its digest and not fetched again, if it is whole", async (t) => {
  const locked: string[] = [];
  const request = async (name: string, _: object, act: () => Promise<unknown>) => {
    locked.push(name);
    return act();
  };
  const own = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  t.after(() => {
    if (own) Object.defineProperty(globalThis, "navigator", own);
    else Reflect.deleteProperty(globalThis, "navigator");
  });
  Object.defineProperty(globalThis, "navigator", {
    configurable: true,
    value: { locks: { request } },
  });
  const storage = new Storage();
  globals.caches = storage;
  const others = [
    "sbd /a/ model m large",
    "sbd /a/ model https://other.example/m/",
    "sbd /b/ model m",
  ].map((name) => `${name} ${"a".repeat(64)}`);
  for (const name of [`${STORES} ${"a".repeat(64)}`, ...others, "sbd /a/ page"])
    await storage.open(name);
  const bytes: number[] = [];
  const open = () => openManifest((count) => bytes.push(count));
  const { files: first, store: kept } = await open();
  globals.fetch = async () => new Response(DATA);
  await first.read("a.bin", PROMISED);
  assert.deepEqual(locked, [`${kept} a.bin`]);
  const left = [...others, "sbd /a/ page", kept];
  assert.deepEqual(await storage.keys(), left, "older exports of it alone are gone");
  const { files: again } = await open();
  globals.fetch = async () => assert.fail("was fetched again");
  bytes.length = 0;
  assert.deepEqual(await again.read("a.bin", PROMISED), DATA);
  assert.deepEqual([bytes, again.canStore], [[4], true]);
  storage.stores.get(kept)?.set(`${BASE}a.bin`, DATA.with(0, 9));
  globals.fetch = async () => new Response(DATA);
  assert.deepEqual(await again.read("a.bin", PROMISED), DATA, "altered since, so fetched");
});

test("code is unpacked here unless its host did so, and cut-off code is a sentence", async () => {
  const packed = new Uint8Array(gzipSync(DATA));
  assert.deepEqual(new Uint8Array(await decompress(packed)), DATA);
  assert.deepEqual(new Uint8Array(await decompress(DATA)), DATA);
  await assert.rejects(decompress(packed.slice(0, -6)), /^Error: The engine’s code is cut off\.$/);
  await assert.rejects(decompress(packed.slice(0, -6), "a.bin"), /^Error: a\.bin is cut off\.$/);
});

test("without WebAssembly there is a sentence", () => {
  checkWebAssembly();
  globals.WebAssembly = undefined;
  assert.throws(checkWebAssembly, /^Error: This browser has no WebAssembly/);
});

const PLACE = {
  script: "engine.js",
  source: { name: "m", base: BASE, storePrefix: STORES },
};

test("a worker that is blocked, or dies on its way, is a sentence", async () => {
  globals.Worker = class {
    constructor() {
      throw new Error("blocked by the page's policy");
    }
  };
  const sentence = /^Error: This browser does not let the page start a worker/;
  await assert.rejects(new Decoder(PLACE, () => {}).load(), sentence);
  globals.Worker = class extends EventTarget {
    constructor() {
      super();
      queueMicrotask(() => this.dispatchEvent(new Event("error")));
    }
    postMessage() {}
    terminate() {}
  };
  await assert.rejects(new Decoder(PLACE, () => {}).load(), sentence);
});

test("a worker that dies later is a sentence, and the next decode starts another", async () => {
  const workers: EventTarget[] = [];
  globals.Worker = class extends EventTarget {
    constructor() {
      super();
      workers.push(this);
    }
    postMessage() {
      const ready = { kind: "ready", name: "m", numParameters: 1 };
      queueMicrotask(() => this.dispatchEvent(new MessageEvent("message", { data: ready })));
    }
    terminate() {}
  };
  const said: News[] = [];
  const engine = new Decoder(PLACE, (news) => said.push(news));
  await engine.load();
  workers[0]?.dispatchEvent(new Event("error"));
  assert.match(said.at(-1)?.text ?? "", /^The engine in this browser stopped, .* decode again/);
  assert.deepEqual([said.at(-1)?.isError, said.at(-1)?.isRunning], [true, false]);
  await engine.load();
  assert.equal(workers.length, 2);
});
