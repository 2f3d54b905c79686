// The built worker, without a browser: its module is imported under a page's globals.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { DIST, fetchFile, NANO } from "./node/exported.js";

/** @import { Reply, Wish } from "../../engine/worker.js" */

const SOURCE = { name: "sbd-nano", base: `${pathToFileURL(NANO).href}/` };

const globals = /** @type {Record<string, any>} */ (/** @type {unknown} */ (globalThis));
const { WebAssembly: assembly, DecompressionStream: unpacking, MessageChannel: Channel } = globals;
/** @type {MessagePort[]} */
const ports = [];

/** @type {Reply[]} what the worker told its page */
const told = [];
/** @type {(event: { data: Wish }) => void} */
let hand = () => assert.fail("the worker does not listen");

Object.assign(globals, {
  self: {
    /** @param {string} _ @param {typeof hand} listener */
    addEventListener: (_, listener) => {
      hand = listener;
    },
    /** @param {Reply} reply */
    postMessage: (reply) => told.push(reply),
  },
  fetch: fetchFile,
  MessageChannel: class extends Channel {
    constructor() {
      super();
      ports.push(this.port1, this.port2);
    }
  },
});

await import(new URL("engine.js", DIST).href);
after(() => {
  for (const port of ports) port.close();
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
/** @param {Wish} wish */
async function failure(wish) {
  const said = await ask(wish, isSettled);
  return said?.kind === "failed" ? said.text : "";
}
/** @type {Wish} */
const LOAD = { kind: "load", source: SOURCE };

test("a browser without 128-bit SIMD, or that unpacks nothing, says so", async () => {
  globals.WebAssembly = Object.create(assembly, { validate: { value: () => false } });
  assert.match(await failure(LOAD), /has no 128-bit SIMD/);
  globals.WebAssembly = assembly;
  delete globals.DecompressionStream;
  assert.match(await failure(LOAD), /has no DecompressionStream/);
  globals.DecompressionStream = unpacking;
});

test("a folder that holds no model is a sentence", async () => {
  const source = { name: "none", base: DIST.href };
  assert.match(await failure({ kind: "load", source }), /has no manifest\.json\./);
});

test("a decode goes on while the tab is asleep, and says how much came", async () => {
  const ready = await ask(LOAD, isSettled);
  assert.equal(ready?.kind, "ready");
  const bytes = told.map((reply) => (reply.kind === "progress" ? reply.bytes : 0));
  assert.ok(bytes.reduce((sum, one) => sum + one, 0) > 10e6);
  const { setTimeout: timer } = globals;
  globals.setTimeout = () => assert.fail("a tab that is put to sleep has no timers");
  const form = { prompt: "What is 12 + 30?", max_new_tokens: 60 };
  const isOver = (/** @type {Reply} */ reply) =>
    reply.kind === "news" && reply.news.isRunning === false;
  const over = await ask({ kind: "decode", form }, isOver);
  globals.setTimeout = timer;
  assert.deepEqual(over?.kind === "news" && over.news.text, "");
});
