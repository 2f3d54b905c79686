// Runs the engine in a worker: loads a model once, then does the jobs that the page sends. See in_browser.ts.

import { readSettings } from "./decoding/settings.ts";
import { stream } from "./decoding/stream.ts";
import { EngineError } from "./errors.ts";
import { openExport } from "./export.ts";
import { decompress, type Engine, Files, type Manifest } from "./files.ts";
import { testGpu } from "./model.ts";
import { checkWebAssembly, type Gpu, NOT_ENOUGH, openGpu, Runtime } from "./runtime.ts";
import { type Form, type News, RunLines, Session } from "./session.ts";

// For tests, which run this bundle under Node.
export { decompress, Files, openExport, RunLines, Runtime, readSettings, Session, stream };

/**
 * An exported model. base: address of its folder, ending in a slash. storePrefix: name of its stores in this
 * browser, before the export's digest. engine: the only engine to use; "webgpu" then also accepts a GPU that is
 * emulated on the processor.
 */
export type Source = { name: string; base: string; storePrefix: string; engine?: Engine };
export type Job =
  | { kind: "decode" | "time"; form: Form }
  | { kind: "compare"; lanes: string[]; form: Form }
  | { kind: "stop" };
export type Message = Job | { kind: "load"; source: Source };
/**
 * The model is loaded. canStore: whether this browser has stored it for later. gpu: name of the GPU that decodes,
 * "" for the processor. why: a sentence on why an expected GPU does not decode, else "".
 */
export type Ready = {
  kind: "ready";
  name: string;
  numParameters: number;
  canStore: boolean;
  gpu: string;
  why: string;
};
/**
 * A message to the page. "begins": the files of an engine are read from now on, `bytes` in all. "progress": bytes read
 * since the last one.
 */
export type Reply =
  | { kind: "begins"; bytes: number }
  | { kind: "progress"; bytes: number }
  | Ready
  | { kind: "failed"; text: string }
  | { kind: "lost" }
  | { kind: "news"; news: News };

const MOST_THREADS = 4;
/** Least size of the weights for a GPU, in bytes: with less, a processor ends a pass before a GPU has begun it. */
const LEAST_GPU_BYTES = 50_000_000;
const STOPPED = "Your GPU stopped, perhaps for want of memory.";
const channel = new MessageChannel();
let session: Session | null = null;

function post(reply: Reply) {
  self.postMessage(reply);
}

/** Wait until waiting messages have been received. Browsers slow down timers in background tabs, but not this. */
function receiveMessages() {
  return new Promise<void>((resolve) => {
    channel.port1.onmessage = () => resolve();
    channel.port2.postMessage(null);
  });
}

/** Return the number of threads for decoding: 1 unless the page is isolated, which sharing memory needs. */
function numThreads() {
  if (!globalThis.crossOriginIsolated) return 1;
  return Math.max(1, Math.min(navigator.hardwareConcurrency, MOST_THREADS));
}

/** Start the runtime on a GPU, or with null on the processor. */
async function startRuntime(gpu: Gpu | null) {
  checkWebAssembly();
  const name = gpu ? "onnxruntime-webgpu" : "onnxruntime";
  // The version in the address keeps browsers from using cached files of another version.
  const fileAddress = (end: string) =>
    new URL(`${name}.${end}?v=${RUNTIME_VERSION}`, import.meta.url).href;
  const response = await fetch(fileAddress("wasm.gz")).catch(() => null);
  const data = response?.ok ? await response.arrayBuffer().catch(() => null) : null;
  if (!data) throw new EngineError("The engine’s code cannot be reached.");
  const code = await decompress(new Uint8Array(data));
  const { default: makeModule } = await import(fileAddress("mjs"));
  return Runtime.start(makeModule, code, gpu ? 1 : numThreads(), gpu?.device);
}

/** Open the model on a GPU, or with null on the processor. */
async function openChecked(manifest: Manifest, files: Files, gpu: Gpu | null) {
  const engine = gpu ? "webgpu" : "wasm";
  post({ kind: "begins", bytes: manifest.download[engine] });
  const runtime = await startRuntime(gpu);
  const checkpoint = await openExport(runtime, manifest, files, engine);
  if (gpu) await testGpu(checkpoint, manifest.trial);
  return checkpoint;
}

async function load({ base, storePrefix, engine }: Source) {
  const files = new Files(base, storePrefix, (bytes) => post({ kind: "progress", bytes }));
  const manifest = await files.manifest();
  const isLarge = manifest.graphs.webgpu.bytes > LEAST_GPU_BYTES;
  const isForGpu = engine === "webgpu" || (isLarge && engine !== "wasm");
  const gpu = isForGpu ? await openGpu(engine === "webgpu").catch(() => null) : null;
  const lost = gpu?.device.lost.then(() => Promise.reject(new EngineError(STOPPED)));
  let why = engine === "webgpu" && !gpu ? "This browser gives the page no GPU." : "";
  const found =
    gpu &&
    (await Promise.race([openChecked(manifest, files, gpu), lost]).catch((error) => {
      why = messageOf(error, "Your GPU cannot run the model.");
    }));
  if (found) lost?.catch(() => post({ kind: "lost" }));
  else gpu?.device.destroy();
  const checkpoint = found || (await openChecked(manifest, files, null));
  await files.finish();
  session = new Session(checkpoint, (news) => post({ kind: "news", news }), receiveMessages);
  if (!found) await session.warmUp();
  const { name, numParameters } = checkpoint;
  const { canStore } = files;
  post({ kind: "ready", name, numParameters, canStore, gpu: (found && gpu?.name) || "", why });
}

/** Return the message for an error. @param unknown message for an unexpected error */
function messageOf(
  error: unknown,
  unknown: string = "The model could not be read in this browser.",
) {
  if (error instanceof EngineError) return error.message;
  console.error(error);
  const isFull = error instanceof RangeError || error instanceof WebAssembly.RuntimeError;
  return isFull ? NOT_ENOUGH : unknown;
}

async function answer(job: Message) {
  if (job.kind === "load") {
    try {
      await load(job.source);
    } catch (error) {
      post({ kind: "failed", text: messageOf(error) });
    }
  } else if (job.kind === "decode") await session?.decode(job.form);
  else if (job.kind === "compare") await session?.compare(job.lanes, job.form);
  else if (job.kind === "time") await session?.time(job.form);
  else session?.stop();
}

self.addEventListener("message", (event: MessageEvent<Message>) => void answer(event.data));
