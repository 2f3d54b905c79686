import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, test } from "node:test";

/** @import { Reply, Wish } from "../../engine/worker.js" */

const ASSETS = new URL("../../../../assets/", import.meta.url);
const SOURCE = { name: "sbd-nano", base: new URL("checkpoints/sbd-nano/", ASSETS).href };
const WASM = { plain: new URL("dist/sbd.wasm", ASSETS).href, fma: "", threads: "" };

const globals = /** @type {Record<string, any>} */ (/** @type {unknown} */ (globalThis));
const { setTimeout: timer, MessageChannel: Channel, WebAssembly: assembly } = globals;

/** @type {Reply[]} what the worker told its page */
const told = [];
/** @type {(event: { data: Wish }) => void} */
let hand = () => assert.fail("the worker does not listen");
/** @type {MessagePort[]} */
const ports = [];

// A worker of a browser whose tab is behind others: its timers do not fire.
Object.assign(globals, {
  self: {
    /** @param {string} _ @param {typeof hand} listener */
    addEventListener: (_, listener) => {
      hand = listener;
    },
    /** @param {Reply} reply */
    postMessage: (reply) => told.push(reply),
  },
  /** @param {string | URL} address */
  fetch: async (address) => {
    const data = await readFile(new URL(address)).catch(() => null);
    return new Response(data, { status: data ? 200 : 404 });
  },
  setTimeout: () => assert.fail("a tab that is put to sleep has no timers"),
  MessageChannel: class extends Channel {
    constructor() {
      super();
      ports.push(this.port1, this.port2);
    }
  },
});

await new Response("").text(); // Node's own needs WebAssembly once
await import("../../engine/worker.js");

after(() => {
  for (const port of ports) port.close();
  Object.assign(globals, { setTimeout: timer });
});

/** @param {Wish} wish @param {(reply: Reply) => boolean} isAwaited */
async function ask(wish, isAwaited) {
  told.length = 0;
  hand({ data: wish });
  while (!told.some(isAwaited)) await new Promise((go) => setImmediate(go));
  return told.find(isAwaited);
}

/** @param {Reply} reply */
const isSettled = ({ kind }) => kind === "ready" || kind === "failed";
/** @type {Wish} */
const LOAD = { kind: "load", source: SOURCE, wasm: { ...WASM, fma: WASM.plain } };

test("a browser without 128-bit SIMD, or without room, says so", async () => {
  const without = (/** @type {Error} */ error) =>
    Object.create(assembly, { instantiate: { value: () => Promise.reject(error) } });
  globals.WebAssembly = without(new assembly.CompileError("wasm simd unsupported"));
  const noSimd = await ask(LOAD, isSettled);
  assert.match(noSimd?.kind === "failed" ? noSimd.text : "", /has no 128-bit SIMD/);
  globals.WebAssembly = without(new RangeError("could not allocate memory"));
  const noRoom = await ask(LOAD, isSettled);
  assert.match(noRoom?.kind === "failed" ? noRoom.text : "", /not enough memory left/);
  globals.WebAssembly = assembly;
});

test("a folder that holds no model is a sentence", async () => {
  const source = { name: "none", base: new URL("dist/", ASSETS).href };
  const said = await ask({ ...LOAD, source }, isSettled);
  assert.match(said?.kind === "failed" ? said.text : "", /has no config\.json\.$/);
});

test("a decode goes on while the tab is asleep, and says how much came", async () => {
  const ready = await ask(LOAD, isSettled);
  assert.equal(ready?.kind, "ready");
  const bytes = told.map((reply) => (reply.kind === "progress" ? reply.bytes : 0));
  assert.ok(bytes.reduce((sum, one) => sum + one, 0) > 10e6);
  const form = { prompt: "What is 12 + 30?", max_new_tokens: 60 };
  const isOver = (/** @type {Reply} */ reply) =>
    reply.kind === "news" && reply.news.isRunning === false;
  const over = await ask({ kind: "decode", form }, isOver);
  assert.deepEqual(over?.kind === "news" && over.news.text, "");
});
