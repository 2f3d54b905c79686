import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { readerBelow, readerOf } from "../../engine/checkpoint/readers.js";
import { Engine } from "../../engine/client.js";
import { canFuseMultiplyAdd, makeKernel } from "../../engine/kernel.js";
import { droppedModel, holdsModel } from "../../in_browser/mount.js";

/** @import { News } from "../../engine/session/session.js" */

const globals = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (globalThis));
const { WebAssembly: assembly, fetch: fetched, Worker: worker } = globals;

afterEach(() => {
  Object.assign(globals, { WebAssembly: assembly, fetch: fetched, Worker: worker });
});

/** @param {string} name @param {number} size */
function file(name, size) {
  const arrayBuffer = async () => assert.fail(`${name} was read`);
  return /** @type {[string, Blob]} */ (/** @type {unknown} */ ([name, { size, arrayBuffer }]));
}

test("a file of 4 GB is refused before it is read", async () => {
  const sentence = /^Error: model.safetensors has 4000 MB, too much for a browser\.$/;
  await assert.rejects(readerOf([file("model.safetensors", 4e9)])("model.safetensors"), sentence);
  const headers = new Headers({ "content-length": "4000000000" });
  globals.fetch = async () => ({ ok: true, headers, arrayBuffer: () => assert.fail("was read") });
  const reader = readerBelow("https://models.example/m/", undefined, () => {});
  await assert.rejects(reader("model.safetensors"), sentence);
});

/** @param {UnderlyingDefaultSource<Uint8Array<ArrayBuffer>>} source of a body whose length nobody says */
function answerWith(source) {
  globals.fetch = async () => new Response(new ReadableStream(source));
  return readerBelow("https://models.example/m/", undefined, () => {});
}

test("a file that has no end is given up once it is too large", async () => {
  const part = new Uint8Array(50_000_000);
  let isCancelled = false;
  const reader = answerWith({
    pull: (controller) => controller.enqueue(part),
    cancel: () => {
      isCancelled = true;
    },
  });
  await assert.rejects(reader("model.safetensors"), /has 500 MB, too much for a browser/);
  assert.ok(isCancelled);
});

test("a file arrives whole, or it is said that its host cannot be reached", async () => {
  const parts = [Uint8Array.of(1, 2), Uint8Array.of(), Uint8Array.of(3)];
  const whole = await answerWith({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  })("config.json");
  assert.deepEqual([...new Uint8Array(whole ?? assert.fail())], [1, 2, 3]);
  let numPulled = 0;
  const cut = answerWith({
    pull: (controller) => {
      numPulled += 1;
      if (numPulled < 3) controller.enqueue(new Uint8Array(10));
      else controller.error(new TypeError("network error"));
    },
  });
  await assert.rejects(cut("model.safetensors"), /^Error: The model’s files cannot be reached\.$/);
});

test("a host that does not answer is said, a file that is not there is none", async () => {
  globals.fetch = async () => {
    throw new TypeError("Failed to fetch");
  };
  const reader = readerBelow("https://models.example/m/", undefined, () => {});
  await assert.rejects(reader("config.json"), /^Error: The model’s files cannot be reached\.$/);
  globals.fetch = async () => ({ ok: false });
  assert.equal(await reader("config.json"), null);
  assert.equal(await readerOf([])("config.json"), null);
});

test("without WebAssembly there is a sentence", async () => {
  globals.WebAssembly = undefined;
  assert.equal(canFuseMultiplyAdd(), false);
  await assert.rejects(makeKernel(new Uint8Array(8)), /^Error: This browser has no WebAssembly/);
});

test("a worker that is blocked, or dies on its way, is a sentence", async () => {
  const place = {
    script: "engine.js",
    wasm: { plain: "a", fma: "b", threads: "c" },
    source: { name: "m" },
    examples: [],
  };
  globals.Worker = class {
    constructor() {
      throw new Error("blocked by the page's policy");
    }
  };
  const sentence = /^Error: This browser does not let the page start a worker/;
  await assert.rejects(new Engine(place, () => {}).load(), sentence);
  globals.Worker = class extends EventTarget {
    constructor() {
      super();
      queueMicrotask(() => this.dispatchEvent(new Event("error")));
    }
    postMessage() {}
    terminate() {}
  };
  await assert.rejects(new Engine(place, () => {}).load(), sentence);
});

test("a worker that dies later is a sentence, and the next decode starts another", async () => {
  const place = {
    script: "engine.js",
    wasm: { plain: "a", fma: "b", threads: "c" },
    source: { name: "m" },
    examples: [],
  };
  /** @type {EventTarget[]} */
  const workers = [];
  globals.Worker = class extends EventTarget {
    constructor() {
      super();
      workers.push(this);
    }
    postMessage() {
      const ready = { kind: "ready", name: "m", numParameters: 1, blockRange: null };
      queueMicrotask(() => this.dispatchEvent(new MessageEvent("message", { data: ready })));
    }
    terminate() {}
  };
  /** @type {News[]} */
  const said = [];
  const engine = new Engine(place, (news) => said.push(news));
  await engine.load();
  workers[0]?.dispatchEvent(new Event("error"));
  assert.match(said.at(-1)?.text ?? "", /^The engine in this browser stopped, .* decode again/);
  assert.deepEqual([said.at(-1)?.isError, said.at(-1)?.isRunning], [true, false]);
  await engine.load();
  assert.equal(workers.length, 2);
});

/** @param {string[]} names @param {{ name: string, isDirectory: boolean } | null} [entry] */
function drop(names, entry = null) {
  const files = names.map((name) => ({ name }));
  const items = [{ webkitGetAsEntry: () => entry }];
  return /** @type {DataTransfer} */ (/** @type {unknown} */ ({ items, files }));
}

test("weights or a folder are a model, a trace is none", async () => {
  assert.ok(!holdsModel(drop(["run.json"])));
  assert.ok(!holdsModel(drop([])));
  assert.ok(holdsModel(drop(["config.json", "model.safetensors"])));
  const loose = await droppedModel(drop(["config.json", "model.safetensors"]));
  assert.deepEqual(
    loose.files?.map(([name]) => name),
    ["config.json", "model.safetensors"],
  );
  const inside = [["config.json"], ["model.safetensors"], []];
  const folder = {
    name: "tiny",
    isDirectory: true,
    createReader: () => ({
      /** @param {(entries: unknown[]) => void} take */
      readEntries: (take) =>
        take(
          (inside.shift() ?? []).map((name) => ({
            isFile: true,
            /** @param {(file: unknown) => void} give */
            file: (give) => give({ name }),
          })),
        ),
    }),
  };
  assert.ok(holdsModel(drop(["tiny"], folder)));
  const found = await droppedModel(drop(["tiny"], folder));
  assert.equal(found.name, "tiny");
  assert.deepEqual(
    found.files?.map(([name]) => name),
    ["config.json", "model.safetensors"],
  );
});
