// Draws a run as an animated GIF, 16:9 for a slide. Each frame has the counts, the text so far, the block as tiles,
// the progress of next-token prediction, and the staircase. Does not touch the page.

import { entropyColour, unsureness } from "../core/colours.ts";
import { countOf, evenly } from "../core/numbers.ts";
import type { Run } from "../core/run.ts";
import {
  type Box,
  countsText,
  INNER,
  type Letters,
  PAD,
  Picture,
  strategyLabel,
  WIDTH,
} from "./picture.ts";

const FRAME_HEIGHT = 720;
const MONO = 'ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';

type TextPiece = { text: string; entropy: number | null; isNew: boolean };
/** a part on one line; size: width */
type Stretch = { piece: TextPiece; x: number; text: string; size: number };

/** Return the text known by the end of `pass`; " … " stands for masks. */
function textPieces(run: Run, pass: number) {
  const joined = run.joinedAt(run.main, pass);
  const pieces: TextPiece[] = [];
  let next = 0;
  for (const item of run.main.knownAt(pass)) {
    if (item.position > next) pieces.push({ text: " … ", entropy: null, isNew: false });
    next = item.position + 1;
    const whole = joined.get(item.position);
    if (whole && whole.index > 0) continue;
    const text = whole ? whole.text : run.tokenText(item.token);
    pieces.push({ text, entropy: item.entropy, isNew: item.pass === pass });
  }
  return pieces;
}

/** Draws the frames of an animation, each on the same canvas. */
class Frames extends Picture {
  /** Break pieces into lines, at line breaks and at the edge; an answer that runs from right to left begins there. */
  layOut(pieces: TextPiece[]) {
    const lines: Stretch[][] = [[]];
    let x = 0;
    for (const piece of pieces) {
      for (const text of piece.text.split(/(\n)/).filter(Boolean)) {
        const size = this.context.measureText(text).width;
        if (text === "\n" || x + size > INNER) {
          lines.push([]);
          x = 0;
        }
        if (text === "\n") continue;
        lines.at(-1)?.push({ piece, x: PAD + x, text, size });
        x += size;
      }
    }
    return lines;
  }

  /** Return where something is drawn that is `size` wide: mirrored where the answer is read from the right. */
  placed(x: number, size: number) {
    return this.run.directionOf(this.run.main) === "rtl" ? WIDTH - x - size : x;
  }

  /** Draw the last five lines of the text. */
  drawText(pass: number, top: number) {
    const { inks, isDark } = this;
    this.context.font = `400 22px ${MONO}`;
    const lines = this.layOut(textPieces(this.run, pass)).slice(-5);
    for (const [row, line] of lines.entries()) {
      const y = top + row * 32;
      for (const { piece, x: from, text, size } of line) {
        const x = this.placed(from, size);
        if (piece.isNew) this.fill(inks.soft, x, y - 21, size, 28);
        this.write(text, x, y, 22, inks.text, { font: MONO });
        if (piece.entropy === null) continue;
        this.fill(entropyColour(piece.entropy, isDark), x + 1, y + 6, Math.max(size - 2, 1), 3);
      }
    }
  }

  /** Draw the block as tiles. */
  drawTiles(pass: number, y: number) {
    const { start, size } = this.run.windowAt(pass);
    const perRow = Math.min(size, 32);
    const step = (INNER + 8) / Math.max(perRow, 1);
    for (let i = 0; i < perRow; i += 1) {
      const x = this.placed(PAD + i * step, step - 8);
      this.drawTile(pass, start + i, { x, y, width: step - 8, height: 96 });
    }
  }

  /** Draw a token with its forward pass or, at a masked position, the best guess above a bar of its entropy. */
  drawTile(pass: number, position: number, { x, y, width, height }: Box) {
    const { context, run, inks } = this;
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
    const token = fixed ? fixed.token : masked?.top[0]?.token;
    const name = run.tokenText(token).replace(/ /g, "·").replace(/\n/g, "⏎");
    const letters: Letters = {
      font: MONO,
      align: "center",
      width: width - 8,
      weight: fixed ? 600 : 400,
    };
    const [centre, size] = [x + width / 2, name.length > 5 ? 14 : 18];
    this.write(name, centre, y + 42, size, fixed ? inks.text : inks.ghost, letters);
    const note = fixed ? (fixed.isPinned ? "pinned" : `#${fixed.pass + 1}`) : "";
    const ink = isNew ? inks.accent : inks.muted;
    this.write(note, centre, y + height - 12, 13, ink, { align: "center" });
    if (fixed || !masked) return;
    const bar = Math.max(2, unsureness(masked.entropy) * 30);
    const colour = entropyColour(masked.entropy, this.isDark);
    this.fill(colour, x + 8, y + height - 8 - bar, width - 16, bar);
  }

  /** Draw a frame and return its pixels. */
  frame(pass: number) {
    const { run, inks } = this;
    this.clear();
    const size = run.main.pins.size ? 19 : 26;
    this.write(countsText(run, pass), PAD, 50, size, inks.text, { weight: 700, width: 800 });
    this.write(strategyLabel(run), WIDTH - PAD, 50, 15, inks.muted, { align: "right", width: 380 });
    this.writePrompt(82, 16, INNER);
    this.drawText(pass, 132);
    this.drawTiles(pass, 300);
    const ntpTokens = countOf(run.ntp ? run.ntp.numTokensAt(pass) : pass + 1, "token");
    const words = `next-token prediction after as many forward passes: ${ntpTokens}`;
    this.write(words, PAD, 428, 16, inks.ntp);
    this.drawStairs(pass, { x: PAD, y: 460, width: INNER, height: 228 });
    return this.context.getImageData(0, 0, WIDTH, FRAME_HEIGHT).data;
  }
}

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
  const frames = new Frames(run, isDark, height, 1);
  const passes = framePasses(run.main.lastPass);
  const samples = [0.25, 0.6, 1].map((part) => passes[Math.floor(part * (passes.length - 1))] ?? 0);
  const seen = new Uint8Array(samples.length * 4 * width * height);
  for (const [index, pass] of samples.entries()) {
    seen.set(frames.frame(pass), index * 4 * width * height);
  }
  const colours = quantize(seen, UNCHANGED);
  const palette = Array.from({ length: UNCHANGED + 1 }, (_, index) => colours[index] ?? [0, 0, 0]);
  const gif = GIFEncoder();
  let last: Uint8Array | null = null;
  for (const [index, pass] of passes.entries()) {
    await new Promise((done) => setTimeout(done)); // keeps the page responsive
    signal.throwIfAborted();
    const shown = applyPalette(frames.frame(pass), colours);
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
