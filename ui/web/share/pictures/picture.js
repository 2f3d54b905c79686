// A run's staircase as a picture for a paper, and what the animation's frames share with it. Draws on a canvas of its own with the staircase's own strokes; knows no page.

import constants from "../../constants.json" with { type: "json" };
import { wayWords } from "../../core/names.js";
import { countOf } from "../../core/numbers.js";
import { entropyColour, MAX_ENTROPY } from "../../core/scale.js";
import {
  drawBlocks,
  drawCurrent,
  drawDiagonal,
  drawPasses,
  MAX_CELL_HEIGHT,
  staircaseExtent,
  stairsKey,
} from "../../watch/staircase/drawing.js";
/** @import { Run } from "../../core/run/run.js" */
/** @import { StairsView } from "../../watch/staircase/drawing.js" */

export const PICTURE = { width: 1280, stairsHeight: 560, frameHeight: 720, pad: 40 };

/** The page's colours as a canvas needs them, see the style sheet. */
const INKS = {
  light: {
    ...constants.inks.light,
    page: "#f8f7f4",
    well: "#f3f2ee",
    ghost: "#6a6e78",
    soft: "#e4edfb",
  },
  dark: {
    ...constants.inks.dark,
    page: "#0f1115",
    well: "#20242d",
    ghost: "#9aa0ad",
    soft: "#22304a",
  },
};

/** @typedef {typeof INKS.light} Inks */
/** @typedef {{ x: number, y: number, width: number, height: number }} Box */

/** @param {boolean} isDark */
export function inksOf(isDark) {
  return isDark ? INKS.dark : INKS.light;
}

const PICTURE_SANS = 'ui-sans-serif, system-ui, "Segoe UI", Roboto, Arial, sans-serif';

export const PICTURE_MONO = 'ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';

const SETTLED = { progress: () => 1 };

/**
 * A canvas of `height` units at `scale` with its context, filled with the page's colour.
 * @param {number} height
 * @param {number} scale
 * @param {Inks} inks
 */
export function blankPicture(height, scale, inks) {
  const canvas = document.createElement("canvas");
  canvas.width = PICTURE.width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) throw new Error("this browser gives no canvas to draw on");
  context.scale(scale, scale);
  context.fillStyle = inks.page;
  context.fillRect(0, 0, PICTURE.width, height);
  return { canvas, context };
}

/**
 * Input of a frame: the run as the player shows it at `pass`, nothing pointed at.
 * @param {Run} run
 * @param {number} pass
 * @param {boolean} isDark
 * @returns {StairsView}
 */
export function pictureView(run, pass, isDark) {
  return { run, pass, isDark, reveals: SETTLED, focus: null, showsFocus: false };
}

/**
 * The longest beginning of `text` that fits `width`, with an ellipsis where it is cut.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} width
 */
function fitText(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}

/**
 * @typedef {object} Letters
 * @property {number} size
 * @property {string} colour
 * @property {number} [weight]
 * @property {boolean} [mono]
 * @property {CanvasTextAlign} [align]
 * @property {number} [width] the text is cut to it
 */

/**
 * Write one line of text on its base line.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {Letters} letters
 */
export function write(
  context,
  text,
  x,
  y,
  { size, colour, weight = 400, mono = false, align = "left", width = 1e4 },
) {
  context.font = `${weight} ${size}px ${mono ? PICTURE_MONO : PICTURE_SANS}`;
  context.fillStyle = colour;
  context.textAlign = align;
  context.textBaseline = "alphabetic";
  context.fillText(fitText(context, text, width), x, y);
}

/**
 * The staircase in a box of the picture; rows beyond `pass` are pale, as on the page.
 * @param {CanvasRenderingContext2D} context
 * @param {StairsView} view
 * @param {Inks} inks
 * @param {Box} box
 */
export function drawStairs(context, view, inks, { x, y, width, height }) {
  const { positions, passes } = staircaseExtent(view.run);
  const cellWidth = width / positions;
  const geometry = {
    width,
    height,
    cellWidth,
    gap: Math.min(1, cellWidth * 0.12),
    cellHeight: Math.min(height / passes, Math.max(MAX_CELL_HEIGHT, cellWidth)),
  };
  const style = {
    accent: inks.accent,
    ntp: inks.ntp,
    line: inks.line,
    muted: inks.muted,
    font: PICTURE_SANS,
    size: 13,
  };
  context.save();
  context.beginPath();
  context.roundRect(x - 8, y - 8, width + 16, height + 16, 10);
  context.fillStyle = inks.well;
  context.fill();
  context.clip();
  context.translate(x, y);
  drawBlocks(context, view.run, geometry, style);
  drawPasses(context, view, geometry, 0, view.pass + 1);
  drawDiagonal(context, geometry, style);
  drawCurrent(context, view, geometry, style);
  context.restore();
}

/**
 * "24 forward passes · 76 tokens · 3.17 a forward pass" at a forward pass of the run, and which of
 * the tokens were not decoded but given.
 * @param {Run} run
 * @param {number} pass
 */
export function countsText(run, pass) {
  const { numPasses, numTokens, numGiven, tokensPerPass } = run.numbersAt(pass);
  const tokens = `${countOf(numTokens, "token")}${numGiven ? `, ${numGiven} given` : ""}`;
  const rate = `${tokensPerPass.toFixed(2)}${numGiven ? " decoded" : ""} a forward pass`;
  return `${countOf(numPasses, "forward pass")} · ${tokens} · ${rate}`;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Run} run
 * @param {Inks} inks
 * @param {boolean} isDark
 * @param {number} right
 * @param {number} y
 */
function drawScale(context, run, inks, isDark, right, y) {
  const [width, height] = [180, 8];
  for (let i = 0; i < width; i += 1) {
    context.fillStyle = entropyColour((i / width) ** 2 * MAX_ENTROPY, isDark);
    context.fillRect(right - width + i, y, 1.5, height);
  }
  write(context, "sure", right - width - 8, y + 9, {
    size: 13,
    colour: inks.muted,
    align: "right",
  });
  const { colour, dots } = stairsKey(run);
  write(context, colour, right, y + 26, { size: 13, colour: inks.muted, align: "right" });
  write(context, dots, right - width - 8, y + 26, { size: 13, colour: inks.muted, align: "right" });
}

/**
 * The whole staircase of a run as a canvas.
 * @param {Run} run
 * @param {boolean} isDark
 * @param {number} scale
 */
export function staircasePicture(run, isDark, scale) {
  const inks = inksOf(isDark);
  const { pad, width } = PICTURE;
  const height = PICTURE.stairsHeight;
  const { canvas, context } = blankPicture(height, scale, inks);
  const { lastPass } = run.main;
  write(context, countsText(run, lastPass), pad, 44, {
    size: run.main.pins.size ? 18 : 20,
    weight: 650,
    colour: inks.text,
    width: 760,
  });
  write(context, run.prompt.replace(/\s+/g, " "), pad, 68, {
    size: 14,
    colour: inks.muted,
    width: 700,
  });
  drawScale(context, run, inks, isDark, width - pad, 34);
  drawStairs(context, pictureView(run, lastPass, isDark), inks, {
    x: pad,
    y: 100,
    width: width - 2 * pad,
    height: height - 150,
  });
  write(context, "Position → by forward pass ↓", pad, height - 16, {
    size: 13,
    colour: inks.muted,
  });
  write(context, [run.model, wayLabel(run)].filter(Boolean).join(" · "), width - pad, height - 16, {
    size: 13,
    colour: inks.muted,
    align: "right",
    width: 700,
  });
  return canvas;
}

/**
 * The way to decode, with the block that it has: "Set Block Decoding, γ 0.35, block 16".
 * @param {Run} run
 */
export function wayLabel(run) {
  return run.strategy === "ntp" ? wayWords(run) : `${wayWords(run)}, block ${run.blockSize}`;
}
