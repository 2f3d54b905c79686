// Runs the engine in a worker: reads a model once, then does the jobs of the page. See in_browser.js.

import { EngineError } from "./errors.js";
import { openExport } from "./export.js";
import { Files, unpacked } from "./files.js";
import { tryRows } from "./model.js";
import { checkWebAssembly, NOT_ENOUGH, openGpu, Runtime } from "./runtime.js";
import { Session } from "./session.js";

/** @import { Manifest } from "./files.js" */
/** @import { Gpu } from "./runtime.js" */
/** @import { Form, News } from "./session.js" */

/**
 * An exported model: its name, and the address of its folder, with a slash at its end. engine: the only one
 * to use; with "webgpu" also a GPU that a processor plays.
 * @typedef {{ name: string, base: string, engine?: Engine }} Source
 */
/**
 * A visitor's job.
 * @typedef {{ kind: "decode" | "time", form: Form }
 *   | { kind: "compare", lanes: string[], form: Form }
 *   | { kind: "bench" | "stop" }} Job
 */
/** A message of the page. @typedef {Job | { kind: "load", source: Source }} Message */
/**
 * The model was read. isKept: whether this browser keeps it for later. gpu: the name of the GPU that
 * decodes, "" for the processor; why: a sentence if another one was to be expected.
 * @typedef {{ kind: "ready", name: string, numParameters: number, isKept: boolean, gpu: string, why: string }} Ready
 */
/**
 * A message to the page. bytes: those read since the last message of its kind; -Infinity where reading begins
 * anew.
 * @typedef {{ kind: "progress", bytes: number }
 *   | Ready
 *   | { kind: "failed", text: string }
 *   | { kind: "lost" }
 *   | { kind: "news", news: News }} Reply
 */

const MOST_THREADS = 4;
/** The bytes of weights below which a processor ends a pass before a GPU has begun it. */
const LEAST_GPU_BYTES = 50_000_000;
const STOPPED = "Your GPU stopped, perhaps for want of memory.";
/** A build of ONNX Runtime, whose files lie beside this script. @typedef {"wasm" | "webgpu"} Engine */

const channel = new MessageChannel();
/** @type {Session | null} */
let session = null;
let decodedBy = "";

/** Send the page a message. @param {Reply} reply */
function tell(reply) {
  self.postMessage(reply);
}

/** Let waiting messages in. Browsers slow timers down behind other tabs, but not this. */
function breathe() {
  return new Promise((/** @type {(value: void) => void} */ resolve) => {
    channel.port1.onmessage = () => resolve();
    channel.port2.postMessage(null);
  });
}

/** The number of threads that decode: one unless the page is isolated, so that memory can be shared. */
function numThreads() {
  if (!globalThis.crossOriginIsolated) return 1;
  return Math.max(1, Math.min(navigator.hardwareConcurrency, MOST_THREADS));
}

/** The runtime for the GPU or, with null, for the processor. @param {Gpu | null} gpu */
async function startRuntime(gpu) {
  checkWebAssembly();
  const name = gpu ? "onnxruntime-webgpu" : "onnxruntime";
  // Another version has another address.
  const here = (/** @type {string} */ end) =>
    new URL(`${name}.${end}?v=${RUNTIME_VERSION}`, import.meta.url).href;
  const response = await fetch(here("wasm.gz")).catch(() => null);
  const data = response?.ok ? await response.arrayBuffer().catch(() => null) : null;
  if (!data) throw new EngineError("The engine’s code cannot be reached.");
  const code = await unpacked(new Uint8Array(data));
  const { default: makeModule } = await import(here("mjs"));
  return Runtime.start(makeModule, code, gpu ? 1 : numThreads(), gpu?.device);
}

/**
 * The model, on the GPU or, with null, on the processor.
 * @param {Manifest} manifest
 * @param {Files} files
 * @param {Gpu | null} gpu
 */
async function opened(manifest, files, gpu) {
  const runtime = await startRuntime(gpu);
  const checkpoint = await openExport(runtime, manifest, files, gpu ? "webgpu" : "wasm");
  if (gpu) await tryRows(checkpoint, manifest.graphs.webgpu?.trial ?? []);
  return checkpoint;
}

/** Read a model, and tell the page. @param {Source} source */
async function load({ base, engine }) {
  const files = new Files(base, (bytes) => tell({ kind: "progress", bytes }));
  const manifest = await files.manifest();
  const isLarge = Number(manifest.graphs.webgpu?.bytes) > LEAST_GPU_BYTES;
  const isForGpu = engine === "webgpu" || (isLarge && engine !== "wasm");
  const gpu = isForGpu ? await openGpu(engine === "webgpu").catch(() => null) : null;
  const lost = gpu?.device.lost.then(() => Promise.reject(new EngineError(STOPPED)));
  let why = engine === "webgpu" && !gpu ? "This browser gives the page no GPU." : "";
  const found =
    gpu &&
    (await Promise.race([opened(manifest, files, gpu), lost]).catch((error) => {
      why = messageOf(error, "Your GPU cannot run the model.");
      tell({ kind: "progress", bytes: Number.NEGATIVE_INFINITY });
    }));
  if (found) lost?.catch(() => tell({ kind: "lost" }));
  else gpu?.device.destroy();
  const checkpoint = found || (await opened(manifest, files, null));
  await files.finish();
  decodedBy = found ? `WebGPU, ${gpu?.name}` : `WebAssembly, threads: ${numThreads()}`;
  const costs = `row costs, ${RUNTIME_VERSION}, ${decodedBy}`;
  checkpoint.rowCosts = await files.noted(costs);
  checkpoint.keepCosts = (measured) => void files.note(costs, measured);
  session = new Session(checkpoint, (news) => tell({ kind: "news", news }), breathe);
  const { name, numParameters } = checkpoint;
  const { isKept } = files;
  tell({ kind: "ready", name, numParameters, isKept, gpu: (found && gpu?.name) || "", why });
}

/** The sentence for an error. @param {unknown} error @param {string} unknown the one for an error that nobody raised on purpose */
function messageOf(error, unknown = "The model could not be read in this browser.") {
  if (error instanceof EngineError) return error.message;
  console.error(error);
  const isFull = error instanceof RangeError || error instanceof WebAssembly.RuntimeError;
  return isFull ? NOT_ENOUGH : unknown;
}

/** @param {Message} job */
async function answer(job) {
  if (job.kind === "load") {
    try {
      await load(job.source);
    } catch (error) {
      tell({ kind: "failed", text: messageOf(error) });
    }
  } else if (job.kind === "decode") await session?.decode(job.form);
  else if (job.kind === "compare") await session?.compare(job.lanes, job.form);
  else if (job.kind === "time") await session?.time(job.form);
  else if (job.kind === "bench") await session?.bench(decodedBy);
  else session?.stop();
}

self.addEventListener(
  "message",
  (/** @type {MessageEvent<Message>} */ event) => void answer(event.data),
);
