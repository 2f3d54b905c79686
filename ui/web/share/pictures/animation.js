// A run as an animated GIF for slides: the frames are drawn here, the file is made by a worker, so
// that the page stays alive.

import { framePasses } from "../../core/limits.js";
import { GifEncoder } from "../gif/encoder.js";
import { blankPicture, inksOf, PICTURE } from "./picture.js";
import { drawSlide } from "./slide.js";

/** @import { Run } from "../../core/run/run.js" */

const FRAME_SECONDS = { pass: 0.25, last: 3 };

/**
 * Make the animation; `hear` is told how far it is, 0 to 1. Rejects if it cannot be made, or once
 * `signal` says that nobody wants it any more.
 * @param {Run} run
 * @param {boolean} isDark
 * @param {(part: number) => void} hear
 * @param {AbortSignal} signal
 */
export async function animate(run, isDark, hear, signal) {
  const { width, slideHeight: height } = PICTURE;
  const { context } = blankPicture(height, 1, inksOf(isDark));
  const passes = framePasses(run.main.lastPass);
  /** @param {number} pass */
  const picture = (pass) => {
    drawSlide(context, run, pass, isDark);
    return context.getImageData(0, 0, width, height).data.buffer;
  };
  const encoder = new GifEncoder();
  try {
    const chosen = [0.25, 0.6, 1].map((part) => passes[Math.floor(part * (passes.length - 1))]);
    const samples = chosen.map((pass) => picture(pass ?? 0));
    await encoder.ask({ kind: "begin", width, height, samples }, samples);
    for (const [index, pass] of passes.entries()) {
      signal.throwIfAborted();
      const pixels = picture(pass);
      const seconds = pass === passes.at(-1) ? FRAME_SECONDS.last : FRAME_SECONDS.pass;
      await encoder.ask({ kind: "frame", pixels, seconds }, [pixels]);
      hear((index + 1) / passes.length);
    }
    return await encoder.end();
  } finally {
    encoder.close();
  }
}
