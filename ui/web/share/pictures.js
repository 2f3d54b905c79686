// A run as a picture for a paper, its staircase, and as an animated GIF, 16:9 for a slide: a frame has the
// counts, the text so far, the block as tiles, next-token prediction at the same pass, and the staircase.
// Draws on canvases of its own with the staircase's own strokes; knows no page.

import constants from "../constants.json" with { type: "json" };
import { countOf, evenly } from "../core/numbers.js";
import { entropyColour, MAX_ENTROPY, unsureness } from "../core/scale.js";
import { wayWords } from "../core/words.js";
import {
  drawBlocks,
  drawCurrent,
  drawDiagonal,
  drawPasses,
  MAX_CELL_HEIGHT,
  staircaseExtent,
  stairsKey,
} from "../watch/staircase.js";

/** @import { Run } from "../core/run.js" */

const WIDTH = 1280;
const PAD = 40;
const INNER = WIDTH - 2 * PAD;
const STAIRS_HEIGHT = 560;
const FRAME_HEIGHT = 720;
const SANS = 'ui-sans-serif, system-ui, "Segoe UI", Roboto, Arial, sans-serif';
const MONO = 'ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';

/** The page's colours as a canvas needs them, see the style sheet. */
const LIGHT = { page: "#f8f7f4", well: "#f3f2ee", ghost: "#6a6e78", soft: "#e4edfb" };
const DARK = { page: "#0f1115", well: "#20242d", ghost: "#9aa0ad", soft: "#22304a" };

/** @typedef {{ x: number, y: number, width: number, height: number }} Box */
/** @typedef {{ weight?: number, font?: string, align?: CanvasTextAlign, width?: number }} Letters width: the text is cut to it */
/** @typedef {{ text: string, entropy: number | null, isNew: boolean }} TextPiece */
/** @typedef {{ piece: TextPiece, x: number, text: string, size: number }} Stretch of a line */

/** How many tokens, and which were given: "24 forward passes · 76 tokens · 3.17 a forward pass". @param {Run} run @param {number} pass */
export function countsText(run, pass) {
  const { numPasses, numTokens, numGiven, tokensPerPass } = run.numbersAt(pass);
  const tokens = `${countOf(numTokens, "token")}${numGiven ? `, ${numGiven} given` : ""}`;
  const rate = `${tokensPerPass.toFixed(2)}${numGiven ? " decoded" : ""} a forward pass`;
  return `${countOf(numPasses, "forward pass")} · ${tokens} · ${rate}`;
}

/** The way to decode with its block: "Set Block Decoding, γ 0.35, block 16". @param {Run} run */
export function wayLabel(run) {
  return run.strategy === "ntp" ? wayWords(run) : `${wayWords(run)}, block ${run.blockSize}`;
}

/** The tokens fixed by `pass` as pieces; a gap stands for what is masked. @param {Run} run @param {number} pass */
function textPieces(run, pass) {
  const joined = run.joinedAt(run.main, pass);
  /** @type {TextPiece[]} */
  const pieces = [];
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

/** A run on a canvas in the page's colours, WIDTH units wide. */
class Picture {
  /**
   * @param {Run} run
   * @param {boolean} isDark
   * @param {number} height units
   * @param {number} scale pixels of a unit
   */
  constructor(run, isDark, height, scale) {
    this.run = run;
    this.isDark = isDark;
    this.height = height;
    this.inks = isDark
      ? { ...constants.inks.dark, ...DARK }
      : { ...constants.inks.light, ...LIGHT };
    this.canvas = document.createElement("canvas");
    this.canvas.width = WIDTH * scale;
    this.canvas.height = height * scale;
    const context = this.canvas.getContext("2d", { willReadFrequently: true });
    if (!context) throw new Error("this browser gives no canvas to draw on");
    context.scale(scale, scale);
    this.context = context;
    this.clear();
  }

  clear() {
    this.fill(this.inks.page, 0, 0, WIDTH, this.height);
  }

  /** @param {string} colour @param {number} x @param {number} y @param {number} width @param {number} height */
  fill(colour, x, y, width, height) {
    this.context.fillStyle = colour;
    this.context.fillRect(x, y, width, height);
  }

  /**
   * Write one line of text on its base line.
   * @param {string} text
   * @param {number} x
   * @param {number} y
   * @param {number} size
   * @param {string} colour
   * @param {Letters} letters
   */
  write(text, x, y, size, colour, { weight = 400, font = SANS, align = "left", width = 1e4 } = {}) {
    const { context } = this;
    context.font = `${weight} ${size}px ${font}`;
    context.fillStyle = colour;
    context.textAlign = align;
    context.textBaseline = "alphabetic";
    context.fillText(this.fit(text, width), x, y);
  }

  /** The longest beginning that fits, with an ellipsis where it is cut. @param {string} text @param {number} width */
  fit(text, width) {
    /** @param {string} words */
    const isRoom = (words) => this.context.measureText(words).width <= width;
    if (isRoom(text)) return text;
    let [low, high] = [0, text.length];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (isRoom(`${text.slice(0, middle)}…`)) low = middle;
      else high = middle - 1;
    }
    return `${text.slice(0, low)}…`;
  }

  /** @param {number} y @param {number} size @param {number} width */
  writePrompt(y, size, width) {
    this.write(this.run.prompt.replace(/\s+/g, " "), PAD, y, size, this.inks.muted, { width });
  }

  /** The staircase in a box; rows beyond `pass` are pale, as on the page. @param {number} pass @param {Box} box */
  drawStairs(pass, { x, y, width, height }) {
    const { context, run, isDark } = this;
    const { accent, ntp, line, muted, well } = this.inks;
    const { positions, passes } = staircaseExtent(run);
    const cellWidth = width / positions;
    const cellHeight = Math.min(height / passes, Math.max(MAX_CELL_HEIGHT, cellWidth));
    const geometry = { width, height, cellWidth, cellHeight, gap: Math.min(1, cellWidth * 0.12) };
    const style = { accent, ntp, line, muted, font: SANS, size: 13 };
    // As the player shows it at this forward pass, nothing pointed at.
    const reveals = { progress: () => 1 };
    const view = { run, pass, isDark, reveals, focus: null, showsFocus: false };
    context.save();
    context.beginPath();
    context.roundRect(x - 8, y - 8, width + 16, height + 16, 10);
    context.fillStyle = well;
    context.fill();
    context.clip();
    context.translate(x, y);
    drawBlocks(context, run, geometry, style);
    drawPasses(context, view, geometry, 0, pass + 1);
    drawDiagonal(context, geometry, style);
    drawCurrent(context, view, geometry, style);
    context.restore();
  }

  /** The key of the staircase's colours. @param {number} right @param {number} y */
  drawScale(right, y) {
    const left = right - 180;
    for (let i = 0; i < 180; i += 1) {
      const colour = entropyColour((i / 180) ** 2 * MAX_ENTROPY, this.isDark);
      this.fill(colour, left + i, y, 1.5, 8);
    }
    const { colour, dots } = stairsKey(this.run);
    const { muted } = this.inks;
    this.write("sure", left - 8, y + 9, 13, muted, { align: "right" });
    this.write(colour, right, y + 26, 13, muted, { align: "right" });
    this.write(dots, left - 8, y + 26, 13, muted, { align: "right" });
  }

  /** Pieces as lines, broken where the text breaks or is full. @param {TextPiece[]} pieces */
  layOut(pieces) {
    /** @type {Stretch[][]} */
    const lines = [[]];
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

  /** The newest five lines of the text. @param {number} pass @param {number} top */
  drawText(pass, top) {
    const { inks, isDark } = this;
    this.context.font = `400 22px ${MONO}`;
    const lines = this.layOut(textPieces(this.run, pass)).slice(-5);
    for (const [row, line] of lines.entries()) {
      const y = top + row * 32;
      for (const { piece, x, text, size } of line) {
        if (piece.isNew) this.fill(inks.soft, x, y - 21, size, 28);
        this.write(text, x, y, 22, inks.text, { font: MONO });
        if (piece.entropy === null) continue;
        this.fill(entropyColour(piece.entropy, isDark), x + 1, y + 6, Math.max(size - 2, 1), 3);
      }
    }
  }

  /** @param {number} pass @param {number} y */
  drawTiles(pass, y) {
    const { start, size } = this.run.windowAt(pass);
    const perRow = Math.min(size, 32);
    const step = (INNER + 8) / Math.max(perRow, 1);
    for (let i = 0; i < perRow; i += 1) {
      this.drawTile(pass, start + i, { x: PAD + i * step, y, width: step - 8, height: 96 });
    }
  }

  /**
   * The token and when it came, or the best guess so far over the bar of its entropy.
   * @param {number} pass
   * @param {number} position
   * @param {Box} box
   */
  drawTile(pass, position, { x, y, width, height }) {
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
    /** @type {Letters} */
    const letters = { font: MONO, align: "center", width: width - 8, weight: fixed ? 600 : 400 };
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

  /** A frame of the animation, as its pixels. @param {number} pass */
  frame(pass) {
    const { run, inks } = this;
    this.clear();
    const size = run.main.pins.size ? 19 : 26;
    this.write(countsText(run, pass), PAD, 50, size, inks.text, { weight: 700, width: 800 });
    this.write(wayLabel(run), WIDTH - PAD, 50, 15, inks.muted, { align: "right", width: 380 });
    this.writePrompt(82, 16, INNER);
    this.drawText(pass, 132);
    this.drawTiles(pass, 300);
    const plain = countOf(run.ntp ? run.ntp.numTokensAt(pass) : pass + 1, "token");
    const words = `next-token prediction after as many forward passes: ${plain}`;
    this.write(words, PAD, 428, 16, inks.ntp);
    this.drawStairs(pass, { x: PAD, y: 460, width: INNER, height: 228 });
    return this.context.getImageData(0, 0, WIDTH, FRAME_HEIGHT).data;
  }
}

/** The whole staircase of a run as a canvas. @param {Run} run @param {boolean} isDark @param {number} scale */
export function staircasePicture(run, isDark, scale) {
  const picture = new Picture(run, isDark, STAIRS_HEIGHT, scale);
  const { lastPass, pins } = run.main;
  const { text, muted } = picture.inks;
  const foot = STAIRS_HEIGHT - 16;
  const label = [run.model, wayLabel(run)].filter(Boolean).join(" · ");
  const counts = countsText(run, lastPass);
  picture.write(counts, PAD, 44, pins.size ? 18 : 20, text, { weight: 650, width: 760 });
  picture.writePrompt(68, 14, 700);
  picture.drawScale(WIDTH - PAD, 34);
  picture.drawStairs(lastPass, { x: PAD, y: 100, width: INNER, height: STAIRS_HEIGHT - 150 });
  picture.write("Position → by forward pass ↓", PAD, foot, 13, muted);
  picture.write(label, WIDTH - PAD, foot, 13, muted, { align: "right", width: 700 });
  return picture.canvas;
}

/** Frames of an animation; more would make a file too large for a slide. */
export const MAX_FRAMES = 240;

/** Its forward passes: all, or some evenly spread, first and last among them. @param {number} lastPass */
export function framePasses(lastPass) {
  const before = [...Array(Math.max(lastPass, 0)).keys()];
  return [...evenly(before, MAX_FRAMES - 1), Math.max(lastPass, 0)];
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
  const { applyPalette, GIFEncoder, quantize } = await import("gifenc");
  const [width, height] = [WIDTH, FRAME_HEIGHT];
  const picture = new Picture(run, isDark, height, 1);
  const passes = framePasses(run.main.lastPass);
  const samples = [0.25, 0.6, 1].map((part) => passes[Math.floor(part * (passes.length - 1))] ?? 0);
  const seen = new Uint8Array(samples.length * 4 * width * height);
  for (const [index, pass] of samples.entries()) {
    seen.set(picture.frame(pass), index * 4 * width * height);
  }
  const colours = quantize(seen, UNCHANGED);
  const palette = Array.from({ length: UNCHANGED + 1 }, (_, index) => colours[index] ?? [0, 0, 0]);
  const gif = GIFEncoder();
  /** @type {Uint8Array | null} */
  let last = null;
  for (const [index, pass] of passes.entries()) {
    await new Promise((done) => setTimeout(done)); // the page answers between two frames
    signal.throwIfAborted();
    const shown = applyPalette(picture.frame(pass), colours);
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
