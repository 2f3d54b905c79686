// A run as an animated GIF for slides, frame by frame so that the page stays alive.

import { Gif } from "../gif/gif.js";
import { Palette } from "../gif/palette.js";
import { blankPicture, inksOf, PICTURE } from "./picture.js";
import { drawSlide } from "./slide.js";

/** @import { Run } from "../../core/run.js" */

const FRAME_SECONDS = { pass: 0.25, last: 3 };

const MAX_FRAMES = 240;

/**
 * The passes to show: all of them, or so many evenly spread that the file stays small.
 * @param {number} lastPass
 */
function framePasses(lastPass) {
  const step = Math.ceil((lastPass + 1) / MAX_FRAMES);
  const passes = [];
  for (let pass = 0; pass < lastPass; pass += step) passes.push(pass);
  return [...passes, lastPass];
}

/**
 * Make the animation; `tell` hears how far it is, 0 to 1.
 * @param {Run} run
 * @param {boolean} isDark
 * @param {(part: number) => void} tell
 */
export async function animate(run, isDark, tell) {
  const { width, slideHeight: height } = PICTURE;
  const { context } = blankPicture(height, 1, inksOf(isDark));
  const passes = framePasses(run.main.lastPass);
  /** @param {number} pass */
  const picture = (pass) => {
    drawSlide(context, run, pass, isDark);
    return new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
  };
  const sample = [0.25, 0.6, 1].map((part) => passes[Math.floor(part * (passes.length - 1))] ?? 0);
  const gif = new Gif(width, height, new Palette(sample.map(picture)));
  for (const [index, pass] of passes.entries()) {
    gif.frame(picture(pass), pass === passes.at(-1) ? FRAME_SECONDS.last : FRAME_SECONDS.pass);
    tell((index + 1) / passes.length);
    await new Promise((done) => setTimeout(done));
  }
  return gif.end();
}
