// The engine's worker: reads a model once, then decodes what it is asked. See client.js.

import { EngineError } from "./errors.js";
import { Files, unpacked } from "./exported/files.js";
import { openExport } from "./exported/open.js";
import { checkWebAssembly, NOT_ENOUGH, Runtime } from "./runtime.js";
import { Session } from "./session/session.js";

/** @import { Form } from "./session/form.js" */
/** @import { News } from "./session/session.js" */

/** An exported model's folder: its address, with a slash at its end. @typedef {{ name: string, base: string }} Source */
/**
 * @typedef {{ kind: "load", source: Source }
 *   | { kind: "decode" | "time", form: Form }
 *   | { kind: "compare", lanes: string[], form: Form }
 *   | { kind: "stop" }} Wish
 */
/** @typedef {{ kind: "ready", name: string, numParameters: number, blockRange: [number, number] | null, isKept: boolean }} Ready isKept: whether this browser keeps the model for later */
/**
 * @typedef {{ kind: "progress", bytes: number }
 *   | Ready
 *   | { kind: "failed", text: string }
 *   | { kind: "news", news: News }} Reply
 */

const MOST_THREADS = 4;
/** ONNX Runtime lies beside this script; another version has another address. */
const RUNTIME = { module: `onnxruntime.mjs?v=${RUNTIME_VERSION}`, code: `onnxruntime.wasm.gz?v=${RUNTIME_VERSION}` }; // biome-ignore format: a row

const channel = new MessageChannel();
/** @type {Session | null} */
let session = null;

/** @param {Reply} reply */
function tell(reply) {
  self.postMessage(reply);
}

/** Let messages in that wait. Timers would be slowed down behind other tabs, this is not. */
function breathe() {
  return new Promise((/** @type {(value: void) => void} */ resolve) => {
    channel.port1.onmessage = () => resolve();
    channel.port2.postMessage(null);
  });
}

/** How many threads decode: one where memory cannot be shared, as the page must be isolated for that. */
export function numThreads() {
  if (!globalThis.crossOriginIsolated) return 1;
  return Math.max(1, Math.min(navigator.hardwareConcurrency, MOST_THREADS));
}

async function startRuntime() {
  checkWebAssembly();
  const here = (/** @type {string} */ name) => new URL(name, import.meta.url).href;
  const response = await fetch(here(RUNTIME.code)).catch(() => null);
  const data = response?.ok ? await response.arrayBuffer().catch(() => null) : null;
  if (!data) throw new EngineError("The engine’s code cannot be reached.");
  const code = await unpacked(new Uint8Array(data));
  const { default: makeModule } = await import(here(RUNTIME.module));
  return Runtime.start(makeModule, code, numThreads());
}

/** @param {Source} source */
async function load({ base }) {
  const files = new Files(base, (bytes) => tell({ kind: "progress", bytes }));
  const [runtime, manifest] = await Promise.all([startRuntime(), files.manifest()]);
  const checkpoint = await openExport(runtime, manifest, files);
  session = new Session(checkpoint, (news) => tell({ kind: "news", news }), breathe);
  const { name, numParameters, model } = checkpoint;
  const { blockRange } = model.shape;
  tell({ kind: "ready", name, numParameters, blockRange, isKept: files.isKept });
}

/** @param {Wish} wish */
async function answer(wish) {
  if (wish.kind === "load") {
    try {
      await load(wish.source);
    } catch (error) {
      if (!(error instanceof EngineError)) console.error(error);
      const isFull = error instanceof RangeError || error instanceof WebAssembly.RuntimeError;
      const unknown = isFull ? NOT_ENOUGH : "The model could not be read in this browser.";
      tell({ kind: "failed", text: error instanceof EngineError ? error.message : unknown });
    }
  } else if (wish.kind === "decode") await session?.decode(wish.form);
  else if (wish.kind === "compare") await session?.compare(wish.lanes, wish.form);
  else if (wish.kind === "time") await session?.time(wish.form);
  else session?.stop();
}

self.addEventListener(
  "message",
  (/** @type {MessageEvent<Wish>} */ event) => void answer(event.data),
);
