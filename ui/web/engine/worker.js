// The engine's worker: reads a model once, then decodes what it is asked. See client.js.

import { readCheckpoint } from "./checkpoint/folder.js";
import { leaving, readerBelow, readerOf } from "./checkpoint/readers.js";
import { numParameters } from "./checkpoint/shape.js";
import { EngineError } from "./errors.js";
import { canFuseMultiplyAdd, makeKernel } from "./kernel.js";
import { Session } from "./session/session.js";
import { helpUntilEnded, makeSharedKernel, numHelpers } from "./threads.js";

/** @import { RaceEntry } from "./session/board.js" */
/** @import { Form } from "./session/form.js" */
/** @import { News } from "./session/session.js" */
/** @import { Help } from "./threads.js" */

/**
 * Where a model is: below an address, or in files that the visitor gave. names: of the files there,
 * where that is known. isFirst: fetched by a page that no service worker serves yet, but one will.
 * @typedef {{ name: string, base?: string, names?: string[], isFirst?: boolean, files?: [name: string, file: Blob][] }} Source
 */
/** @typedef {{ plain: string, fma: string, threads: string }} Compiled addresses of sbd.wasm, sbd-fma.wasm, sbd-threads.wasm */
/**
 * @typedef {{ kind: "load", source: Source, wasm: Compiled }
 *   | { kind: "decode" | "time", form: Form }
 *   | { kind: "race", entry: RaceEntry }
 *   | { kind: "help", help: Help }
 *   | { kind: "stop" }} Wish
 */
/**
 * @typedef {{ kind: "progress", bytes: number }
 *   | { kind: "ready", name: string, numParameters: number, blockRange: [number, number] | null }
 *   | { kind: "failed", text: string }
 *   | { kind: "news", news: News }} Reply
 */

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

/** @param {Source} source */
function readerFor({ base, names, isFirst, files }) {
  if (!base) return readerOf(files ?? []);
  const read = readerBelow(base, names, (bytes) => tell({ kind: "progress", bytes }));
  return isFirst ? leaving(read, base) : read;
}

/** @param {string} address */
async function codeAt(address) {
  const response = await fetch(address).catch(() => null);
  if (!response?.ok) throw new EngineError("The engine’s code cannot be reached.");
  return response.arrayBuffer();
}

/** A worker of this same script, which ends with this one. @param {Help} help */
function startHelper(help) {
  const helper = new Worker(self.location.href);
  helper.postMessage({ kind: "help", help });
}

/** The fastest kernel that runs here. @param {Compiled} wasm */
async function kernelFor(wasm) {
  const count = numHelpers();
  if (count) {
    try {
      return (await makeSharedKernel(await codeAt(wasm.threads), count, startHelper)).kernel;
    } catch {
      // No memory that can be shared, or no workers: one thread decodes the same.
    }
  }
  return makeKernel(await codeAt(canFuseMultiplyAdd() ? wasm.fma : wasm.plain));
}

/** @param {Extract<Wish, { kind: "load" }>} wish */
async function load({ source, wasm }) {
  const { name } = source;
  const kernel = await kernelFor(wasm);
  const checkpoint = await readCheckpoint(name, kernel, readerFor(source));
  session = new Session(checkpoint, (news) => tell({ kind: "news", news }), breathe);
  const { shape } = checkpoint.model;
  tell({ kind: "ready", name, numParameters: numParameters(shape), blockRange: shape.blockRange });
}

/** @param {Wish} wish */
async function answer(wish) {
  if (wish.kind === "load") {
    try {
      await load(wish);
    } catch (error) {
      if (!(error instanceof EngineError)) console.error(error);
      const known = error instanceof EngineError || error instanceof RangeError;
      const text =
        error instanceof EngineError
          ? error.message
          : "This browser has not enough memory left for the model.";
      tell({ kind: "failed", text: known ? text : "The model could not be read in this browser." });
    }
  } else if (wish.kind === "help") await helpUntilEnded(wish.help);
  else if (wish.kind === "decode") await session?.decode(wish.form);
  else if (wish.kind === "race") await session?.race(wish.entry);
  else if (wish.kind === "time") await session?.time(wish.form);
  else session?.stop();
}

self.addEventListener(
  "message",
  (/** @type {MessageEvent<Wish>} */ event) => void answer(event.data),
);
