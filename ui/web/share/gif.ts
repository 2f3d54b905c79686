// Draws a run as an animated GIF, 16:9 for a slide: the picture of share/picture.ts at each forward pass. Does not touch
// the page.

import { evenly } from "../core/numbers.ts";
import type { Run } from "../core/run.ts";
import { Picture, WIDTH } from "./picture.ts";

const FRAME_HEIGHT = 720;

/** The most frames of an animation: with more, the file would be too large for a slide. */
export const MAX_FRAMES = 240;

/** Return the passes to draw: all, or an even selection with the first and the last. */
export function framePasses(lastPass: number) {
  const before = [...Array(Math.max(lastPass, 0)).keys()];
  return [...evenly(before, MAX_FRAMES - 1), Math.max(lastPass, 0)];
}

const FRAME_MS = { pass: 250, last: 3000 };
/** Palette index of pixels that are the same as in the frame before. */
const UNCHANGED = 255;

/**
 * Return a run as an animated GIF. Rejects if the GIF cannot be made, or once `signal` aborts.
 * @param onProgress called after each frame with the share of frames done, up to 1
 */
export async function makeGif(
  run: Run,
  isDark: boolean,
  onProgress: (part: number) => void,
  signal: AbortSignal,
) {
  const { applyPalette, GIFEncoder, quantize } = await import("gifenc");
  const [width, height] = [WIDTH, FRAME_HEIGHT];
  const picture = new Picture(run, isDark, height, 1);
  function frame(pass: number) {
    picture.draw(pass);
    return picture.context.getImageData(0, 0, width, height).data;
  }
  const passes = framePasses(run.main.lastPass);
  const samples = [0.25, 0.6, 1].map((part) => passes[Math.floor(part * (passes.length - 1))] ?? 0);
  const seen = new Uint8Array(samples.length * 4 * width * height);
  for (const [index, pass] of samples.entries()) {
    seen.set(frame(pass), index * 4 * width * height);
  }
  const colours = quantize(seen, UNCHANGED);
  const palette = Array.from({ length: UNCHANGED + 1 }, (_, index) => colours[index] ?? [0, 0, 0]);
  const gif = GIFEncoder();
  let last: Uint8Array | null = null;
  for (const [index, pass] of passes.entries()) {
    await new Promise((done) => setTimeout(done)); // keeps the page responsive
    signal.throwIfAborted();
    const shown = applyPalette(frame(pass), colours);
    const before = last;
    const pixels = before
      ? shown.map((colour, at) => (colour === before[at] ? UNCHANGED : colour))
      : shown;
    gif.writeFrame(pixels, width, height, {
      ...(before ? { transparent: true, transparentIndex: UNCHANGED } : { palette }),
      delay: pass === passes.at(-1) ? FRAME_MS.last : FRAME_MS.pass,
      dispose: 1,
    });
    last = shown;
    onProgress((index + 1) / passes.length);
  }
  gif.finish();
  return new Blob([gif.bytes()], { type: "image/gif" });
}
