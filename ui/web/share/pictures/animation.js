// A run as an animated GIF, 16:9 for a slide. A frame has the counts, the text so far, the block as
// tiles, next-token prediction at the same pass, and the staircase.

import { applyPalette, GIFEncoder, quantize } from "gifenc";
import { framePasses } from "../../core/limits.js";
import { entropyColour, unsureness } from "../../core/scale.js";
import {
  blankPicture,
  countsText,
  drawStairs,
  inksOf,
  PICTURE,
  PICTURE_MONO,
  pictureView,
  wayLabel,
  write,
} from "./picture.js";

/** @import { Lane } from "../../core/run/lane.js" */
/** @import { Run } from "../../core/run/run.js" */
/** @import { Box, Inks } from "./picture.js" */

/** @typedef {{ text: string, entropy: number | null, isNew: boolean }} TextPiece */
/** @typedef {{ piece: TextPiece, x: number, text: string, size: number }} Stretch of a line */

const FRAME_ROWS = { text: 132, tiles: 300, plain: 428, stairs: 478 };

const FRAME_LINES = 5;

/**
 * The tokens fixed by `pass` as pieces; a gap stands for what is masked.
 * @param {Run} run
 * @param {Lane} lane
 * @param {number} pass
 */
function textPieces(run, lane, pass) {
  const joined = run.joinedAt(lane, pass);
  /** @type {TextPiece[]} */
  const pieces = [];
  let next = 0;
  for (const item of lane.knownAt(pass)) {
    if (item.position > next) pieces.push({ text: " … ", entropy: null, isNew: false });
    next = item.position + 1;
    const whole = joined.get(item.position);
    if (whole && whole.index > 0) continue;
    const text = whole ? whole.text : run.tokenText(item.token);
    pieces.push({ text, entropy: item.entropy, isNew: item.pass === pass });
  }
  return pieces;
}

/**
 * Pieces as lines of the width, broken where the text breaks or is full.
 * @param {CanvasRenderingContext2D} context
 * @param {TextPiece[]} pieces
 * @param {number} width
 */
function layOutText(context, pieces, width) {
  /** @type {Stretch[][]} */
  const lines = [[]];
  let x = 0;
  for (const piece of pieces) {
    for (const text of piece.text.split(/(\n)/).filter(Boolean)) {
      const size = context.measureText(text).width;
      if (text === "\n" || x + size > width) {
        lines.push([]);
        x = 0;
      }
      if (text === "\n") continue;
      lines.at(-1)?.push({ piece, x, text, size });
      x += size;
    }
  }
  return lines;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Run} run
 * @param {number} pass
 * @param {Inks} inks
 * @param {boolean} isDark
 */
function drawText(context, run, pass, inks, isDark) {
  const { pad, width } = PICTURE;
  context.font = `400 22px ${PICTURE_MONO}`;
  const lines = layOutText(context, textPieces(run, run.main, pass), width - 2 * pad).slice(
    -FRAME_LINES,
  );
  lines.forEach((line, row) => {
    const y = FRAME_ROWS.text + row * 32;
    for (const { piece, x, text, size } of line) {
      if (piece.isNew) {
        context.fillStyle = inks.soft;
        context.fillRect(pad + x, y - 21, size, 28);
      }
      write(context, text, pad + x, y, { size: 22, mono: true, colour: inks.text });
      if (piece.entropy === null) continue;
      context.fillStyle = entropyColour(piece.entropy, isDark);
      context.fillRect(pad + x + 1, y + 6, Math.max(size - 2, 1), 3);
    }
  });
}

/**
 * A tile: the token and when it came, or the best guess so far over the bar of its entropy.
 * @param {CanvasRenderingContext2D} context
 * @param {Run} run
 * @param {number} pass
 * @param {number} position
 * @param {Box} box
 * @param {Inks} inks
 * @param {boolean} isDark
 */
function drawTile(context, run, pass, position, box, inks, isDark) {
  const { x, y, width, height } = box;
  const isAfterEnd = run.main.isAfterEnd(position, pass);
  const fixed = isAfterEnd ? null : run.main.fixedAt(position, pass);
  const masked = isAfterEnd ? undefined : run.main.steps[pass]?.masked.get(position);
  const isNew = fixed?.pass === pass;
  context.beginPath();
  context.roundRect(x, y, width, height, 8);
  context.fillStyle = isNew ? inks.soft : fixed ? inks.card : inks.well;
  context.fill();
  context.lineWidth = isNew ? 3 : 1;
  context.strokeStyle = isNew ? inks.accent : inks.line;
  context.stroke();
  const guess = masked?.top[0]?.token;
  const token = fixed ? fixed.token : guess;
  const name =
    token === undefined ? "" : run.tokenText(token).replace(/ /g, "·").replace(/\n/g, "⏎");
  write(context, name, x + width / 2, y + 42, {
    size: name.length > 5 ? 14 : 18,
    mono: true,
    align: "center",
    width: width - 8,
    weight: fixed ? 600 : 400,
    colour: fixed ? inks.text : inks.ghost,
  });
  const note = fixed ? (fixed.isPinned ? "pinned" : `#${fixed.pass + 1}`) : "";
  write(context, note, x + width / 2, y + height - 12, {
    size: 13,
    align: "center",
    colour: isNew ? inks.accent : inks.muted,
  });
  if (fixed || !masked) return;
  const bar = Math.max(2, unsureness(masked.entropy) * 30);
  context.fillStyle = entropyColour(masked.entropy, isDark);
  context.fillRect(x + 8, y + height - 8 - bar, width - 16, bar);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Run} run
 * @param {number} pass
 * @param {Inks} inks
 * @param {boolean} isDark
 */
function drawTiles(context, run, pass, inks, isDark) {
  const { pad, width } = PICTURE;
  const { start, size } = run.windowAt(pass);
  const perRow = Math.min(size, 32);
  const step = (width - 2 * pad + 8) / Math.max(perRow, 1);
  for (let i = 0; i < perRow; i += 1) {
    const box = { x: pad + i * step, y: FRAME_ROWS.tiles, width: step - 8, height: 96 };
    drawTile(context, run, pass, start + i, box, inks, isDark);
  }
}

/**
 * The frame of `pass` on a context of PICTURE.width by PICTURE.frameHeight.
 * @param {CanvasRenderingContext2D} context
 * @param {Run} run
 * @param {number} pass
 * @param {boolean} isDark
 */
function drawFrame(context, run, pass, isDark) {
  const inks = inksOf(isDark);
  const { pad, width, frameHeight } = PICTURE;
  context.fillStyle = inks.page;
  context.fillRect(0, 0, width, frameHeight);
  write(context, countsText(run, pass), pad, 50, {
    size: run.main.pins.size ? 19 : 26,
    weight: 700,
    colour: inks.text,
    width: 800,
  });
  write(context, wayLabel(run), width - pad, 50, {
    size: 15,
    colour: inks.muted,
    align: "right",
    width: 380,
  });
  write(context, run.prompt.replace(/\s+/g, " "), pad, 82, {
    size: 16,
    colour: inks.muted,
    width: width - 2 * pad,
  });
  drawText(context, run, pass, inks, isDark);
  drawTiles(context, run, pass, inks, isDark);
  const plain = run.ntp ? run.ntp.numTokensAt(pass) : pass + 1;
  const words = `next-token prediction after as many forward passes: ${plain} token${plain === 1 ? "" : "s"}`;
  write(context, words, pad, FRAME_ROWS.plain, { size: 16, colour: inks.ntp });
  drawStairs(context, pictureView(run, pass, isDark), inks, {
    x: pad,
    y: FRAME_ROWS.stairs - 18,
    width: width - 2 * pad,
    height: frameHeight - FRAME_ROWS.stairs - 14,
  });
}

const FRAME_MS = { pass: 250, last: 3000 };
/** Palette index for a pixel that stays as it was. */
const UNCHANGED = 255;

/**
 * Make the animation; `hear` is told how far it is, 0 to 1. Rejects if it cannot be made, or once
 * `signal` says that nobody wants it any more.
 * @param {Run} run
 * @param {boolean} isDark
 * @param {(part: number) => void} hear
 * @param {AbortSignal} signal
 */
export async function animate(run, isDark, hear, signal) {
  const { width, frameHeight: height } = PICTURE;
  const { context } = blankPicture(height, 1, inksOf(isDark));
  const passes = framePasses(run.main.lastPass);
  /** @param {number} pass */
  const picture = (pass) => {
    drawFrame(context, run, pass, isDark);
    return context.getImageData(0, 0, width, height).data;
  };
  const samples = [0.25, 0.6, 1].map((part) => passes[Math.floor(part * (passes.length - 1))] ?? 0);
  const seen = new Uint8Array(samples.length * 4 * width * height);
  samples.forEach((pass, index) => {
    seen.set(picture(pass), index * 4 * width * height);
  });
  const colours = quantize(seen, UNCHANGED);
  const palette = Array.from({ length: UNCHANGED + 1 }, (_, index) => colours[index] ?? [0, 0, 0]);
  const gif = GIFEncoder();
  /** @type {Uint8Array | null} */
  let last = null;
  for (const [index, pass] of passes.entries()) {
    await new Promise((done) => setTimeout(done)); // the page answers between two frames
    signal.throwIfAborted();
    const shown = applyPalette(picture(pass), colours);
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
    hear((index + 1) / passes.length);
  }
  gif.finish();
  return new Blob([gif.bytes()], { type: "image/gif" });
}
