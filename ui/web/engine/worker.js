// The engine's worker: reads a model once, then decodes what it is asked. See client.js.

import { readCheckpoint } from "./checkpoint/folder.js";
import { numParameters } from "./checkpoint/shape.js";
import { EngineError, ModelError } from "./errors.js";
import { canFuseMultiplyAdd, makeKernel } from "./kernel.js";
import { Session } from "./session/session.js";

/** @import { ReadFile } from "./checkpoint/folder.js" */
/** @import { RaceEntry } from "./session/board.js" */
/** @import { Form } from "./session/form.js" */
/** @import { News } from "./session/session.js" */

/**
 * Where a model is: below an address, or in files that the visitor gave. names: of the files there,
 * where that is known.
 * @typedef {{ name: string, base?: string, names?: string[], files?: [name: string, file: Blob][] }} Source
 */
/** @typedef {{ plain: string, fma: string }} Compiled addresses of sbd.wasm and sbd-fma.wasm */
/**
 * @typedef {{ kind: "load", source: Source, wasm: Compiled }
 *   | { kind: "decode" | "time", form: Form }
 *   | { kind: "race", entry: RaceEntry }
 *   | { kind: "file", run: string }
 *   | { kind: "stop" }} Wish
 */
/**
 * @typedef {{ kind: "progress", bytes: number }
 *   | { kind: "ready", name: string, numParameters: number, blockRange: [number, number] | null }
 *   | { kind: "failed", text: string }
 *   | { kind: "news", news: News }} Reply
 */

const MAX_FILE_BYTES = 450_000_000;
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

/**
 * @param {string} name
 * @param {number} size
 */
function checkSize(name, size) {
  if (size <= MAX_FILE_BYTES) return;
  throw new ModelError(`${name} has ${(size / 1e6).toFixed(0)} MB, too much for a browser.`);
}

/**
 * @param {string} base
 * @param {string[]} [names]
 * @returns {ReadFile}
 */
function readerBelow(base, names) {
  return async (name) => {
    if (names && !names.includes(name)) return null;
    const response = await fetch(new URL(name, base)).catch(() => null);
    if (!response) throw new ModelError("The model’s files cannot be reached.");
    if (!response.ok) return null;
    checkSize(name, Number(response.headers.get("content-length") ?? 0));
    const data = await response.arrayBuffer();
    tell({ kind: "progress", bytes: data.byteLength });
    return data;
  };
}

/** @param {[name: string, file: Blob][]} files @returns {ReadFile} */
function readerOf(files) {
  const known = new Map(files);
  return async (name) => {
    const file = known.get(name);
    if (!file) return null;
    checkSize(name, file.size);
    return file.arrayBuffer();
  };
}

/** @param {Source} source @param {Compiled} wasm */
async function load({ name, base, names, files }, wasm) {
  const address = canFuseMultiplyAdd() ? wasm.fma : wasm.plain;
  const response = await fetch(address).catch(() => null);
  if (!response?.ok) throw new EngineError("The engine’s code cannot be reached.");
  const kernel = await makeKernel(await response.arrayBuffer());
  const checkpoint = await readCheckpoint(
    name,
    kernel,
    base ? readerBelow(base, names) : readerOf(files ?? []),
  );
  session = new Session(checkpoint, (news) => tell({ kind: "news", news }), breathe);
  const { shape } = checkpoint.model;
  tell({ kind: "ready", name, numParameters: numParameters(shape), blockRange: shape.blockRange });
}

/** @param {Wish} wish */
async function answer(wish) {
  if (wish.kind === "load") {
    try {
      await load(wish.source, wish.wasm);
    } catch (error) {
      if (!(error instanceof EngineError)) console.error(error);
      const known = error instanceof EngineError || error instanceof RangeError;
      const text =
        error instanceof EngineError
          ? error.message
          : "This browser has not enough memory left for the model.";
      tell({ kind: "failed", text: known ? text : "The model could not be read in this browser." });
    }
  } else if (wish.kind === "decode") await session?.decode(wish.form);
  else if (wish.kind === "race") await session?.race(wish.entry);
  else if (wish.kind === "time") await session?.time(wish.form);
  else if (wish.kind === "file") session?.file(wish.run);
  else session?.stop();
}

self.addEventListener(
  "message",
  (/** @type {MessageEvent<Wish>} */ event) => void answer(event.data),
);
