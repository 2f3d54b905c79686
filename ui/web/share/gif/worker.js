// Makes the animation beside the page: pictures in, the file out. Runs as a worker of its own.

import { Gif, Palette } from "./gif.js";

/** @typedef {{ kind: "begin", width: number, height: number, samples: ArrayBuffer[] }} Begin */
/** @typedef {{ kind: "frame", pixels: ArrayBuffer, seconds: number }} Frame */
/** @typedef {{ kind: "end" }} End */
/** @typedef {{ kind: "ready" } | { kind: "done", blob: Blob } | { kind: "failed", words: string }} Answer */

/** @type {Gif | null} */
let gif = null;

/**
 * @param {Begin | Frame | End} order
 * @returns {Answer}
 */
function answer(order) {
  if (order.kind === "begin") {
    const samples = order.samples.map((pixels) => new Uint32Array(pixels));
    gif = new Gif(order.width, order.height, new Palette(samples));
    return { kind: "ready" };
  }
  if (!gif) throw new Error("no animation was begun");
  if (order.kind === "end") return { kind: "done", blob: gif.end() };
  gif.frame(new Uint32Array(order.pixels), order.seconds);
  return { kind: "ready" };
}

addEventListener("message", (event) => {
  try {
    postMessage(answer(event.data));
  } catch (failure) {
    postMessage({
      kind: "failed",
      words: failure instanceof Error ? failure.message : String(failure),
    });
  }
});
