// How the staircase is drawn on its canvas; geometry and style are handed in, nothing is kept.

import constants from "../../constants.json" with { type: "json" };
import { clamp, tickStep } from "../../core/numbers.js";
import { entropyColour, inkOn } from "../../core/scale.js";

/** @import { Run, Step } from "../../core/run.js" */
/** @import { CachedPicture } from "./staircase.js" */
/** @import { RevealMotion, View } from "../view.js" */

/**
 * Room for a growing number: in steps of an eighth to a quarter, so that it changes seldom.
 * @param {number} count
 */
function roomFor(count) {
  const step = Math.max(8, 2 ** Math.floor(Math.log2(Math.max(count, 1) / 4)));
  return Math.ceil(count / step) * step;
}

/** The grid's extent: the whole run so far, some room more while it grows. @param {Run} run */
export function staircaseExtent(run) {
  const { main } = run;
  let positions = MIN_POSITIONS;
  for (const step of main.steps)
    positions = Math.max(positions, step.block.start + step.block.size);
  positions = Math.max(positions, main.numCommitted);
  const passes = main.steps.length;
  const [width, height] =
    main.finish === null ? [roomFor(positions), roomFor(passes)] : [positions, passes];
  return { positions: width, passes: Math.max(MIN_PASSES, height) };
}

const MIN_POSITIONS = 32;

const MIN_PASSES = 12;

export const MAX_CELL_HEIGHT = 22;

const AFTER_END = 0.3; // how much is seen of a cell known in its forward pass to be after the end

/** @typedef {Pick<View, "run" | "pass" | "isDark" | "focus" | "showsFocus">} StairsFocus */
/** @typedef {StairsFocus & { reveals: Pick<RevealMotion, "progress"> }} StairsView what is drawn */

/**
 * Where the cells lie, in pixels of the page.
 * @typedef {object} Geometry
 * @property {number} width
 * @property {number} height
 * @property {number} cellWidth
 * @property {number} cellHeight
 * @property {number} gap between two cells
 */

/**
 * Colours and letters.
 * @typedef {object} StairsStyle
 * @property {string} accent
 * @property {string} ntp
 * @property {string} line
 * @property {string} muted
 * @property {string} font
 * @property {number} size of the letters
 */

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Run} run
 * @param {Geometry} geometry
 * @param {StairsStyle} style
 */
export function drawBlocks(context, run, geometry, style) {
  context.strokeStyle = style.line;
  context.lineWidth = 1;
  for (const pass of run.blockPasses) {
    const x = Math.round(run.main.steps[pass].block.start * geometry.cellWidth) - 0.5;
    if (x <= 0) continue;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, geometry.height);
    context.stroke();
  }
}

/**
 * Numbers along both axes: positions from 0 above the grid, forward passes from 1 to its foot beside it.
 * @param {CanvasRenderingContext2D} context
 * @param {Geometry} geometry
 * @param {StairsStyle} style
 * @param {{ positions: number, passes: number }} extent
 */
export function drawAxes(context, geometry, style, { positions, passes }) {
  const { cellWidth, cellHeight } = geometry;
  const rows = Math.max(passes, Math.floor(geometry.height / cellHeight));
  context.fillStyle = style.muted;
  context.font = `400 ${style.size}px ${style.font}`;
  context.textBaseline = "alphabetic";
  context.textAlign = "center";
  const across = tickStep(style.size * 2.4, cellWidth);
  for (let position = 0; position < positions; position += across) {
    const half = context.measureText(String(position)).width / 2;
    const middle = Math.min((position + 0.5) * cellWidth, geometry.width - half);
    context.fillText(String(position), middle, -style.size * 0.35);
  }
  context.textAlign = "right";
  context.textBaseline = "middle";
  const down = tickStep(style.size * 1.3, cellHeight);
  for (let pass = 1; pass <= rows; pass += pass === 1 && down > 1 ? down - 1 : down) {
    context.fillText(String(pass), -style.size * 0.5, (pass - 0.5) * cellHeight);
  }
  context.textBaseline = "alphabetic";
}

/**
 * The cells and dots of some passes, as they are once those passes have been.
 * @param {CanvasRenderingContext2D} context
 * @param {StairsView} view
 * @param {Geometry} geometry
 * @param {number} from
 * @param {number} to
 */
export function drawPasses(context, view, geometry, from, to) {
  const { main } = view.run;
  for (let pass = from; pass < Math.min(to, main.steps.length); pass += 1) {
    for (const item of main.steps[pass].masked.values()) {
      context.globalAlpha = main.isAfterEnd(item.position, pass) ? AFTER_END : 1;
      drawCell(context, item.position, pass, item.entropy, view, geometry);
    }
    context.globalAlpha = 1;
    drawDots(context, main.steps[pass], pass, view, geometry);
  }
}

/**
 * Every pass: those up to now as they are, the current one landing, those to come pale.
 * @param {CanvasRenderingContext2D} context
 * @param {StairsView} view
 * @param {Geometry} geometry
 * @param {CachedPicture} cells
 * @param {number} scale
 */
export function drawCells(context, view, geometry, cells, scale) {
  const { pass, run } = view;
  cells.copy(context, geometry, scale, 0, pass);
  drawPasses(context, view, geometry, pass, pass + 1);
  context.globalAlpha = 0.28;
  cells.copy(context, geometry, scale, pass + 1, run.main.steps.length);
  context.globalAlpha = 1;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} position
 * @param {number} pass
 * @param {number} entropy
 * @param {StairsView} view
 * @param {any} options
 */
function drawCell(context, position, pass, entropy, view, { cellWidth, cellHeight, gap }) {
  context.fillStyle = entropyColour(entropy, view.isDark);
  context.fillRect(position * cellWidth, pass * cellHeight, cellWidth - gap, cellHeight - gap);
}

/**
 * Key of the colours and dots. Verify reads what it drafted, which is no mask then, and
 * next-token prediction reads no masks at all.
 * @param {Run} run
 */
export function stairsKey({ strategy }) {
  if (strategy === "ntp") return { colour: "entropy", dots: "dot: written" };
  const dots = ["dot: revealed", ...(strategy === "verify" ? ["dot alone: was no mask then"] : [])];
  return { colour: "entropy while masked", dots: dots.join(" · ") };
}

/**
 * A dot where a position was revealed, on its cell if it was masked.
 * @param {CanvasRenderingContext2D} context
 * @param {Step} step
 * @param {number} pass
 * @param {StairsView} view
 * @param {Geometry} geometry
 */
function drawDots(context, step, pass, view, geometry) {
  const { cellWidth, cellHeight, gap } = geometry;
  const inks = view.isDark ? constants.inks.dark : constants.inks.light;
  const radius = clamp(Math.min(cellWidth, cellHeight) * 0.22, 1, 5);
  const isNow = pass === view.pass;
  for (const { position, rank } of step.reveals) {
    context.globalAlpha = view.run.main.isAfterEnd(position, pass) ? AFTER_END : 1;
    const entropy = step.masked.get(position)?.entropy ?? 0;
    const grown = isNow ? view.reveals.progress(rank, step.reveals.length) : 1;
    const isOnCell = step.masked.has(position);
    context.fillStyle = isOnCell ? inkOn(entropy, view.isDark) : inks.text;
    context.beginPath();
    context.arc(
      (position + 0.5) * cellWidth - gap / 2,
      (pass + 0.5) * cellHeight - gap / 2,
      radius * grown,
      0,
      2 * Math.PI,
    );
    context.fill();
  }
  context.globalAlpha = 1;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Geometry} geometry
 * @param {StairsStyle} style
 */
export function drawDiagonal(context, geometry, style) {
  const { width, height, cellWidth, cellHeight } = geometry;
  context.strokeStyle = style.ntp;
  context.lineWidth = 1.5;
  context.setLineDash([5, 4]);
  context.beginPath();
  context.moveTo(0, 0);
  const reach = Math.min(width / cellWidth, height / cellHeight);
  context.lineTo(reach * cellWidth, reach * cellHeight);
  context.stroke();
  context.setLineDash([]);
  // The label runs under the line, where next-token prediction leaves the grid empty.
  const angle = Math.atan2(cellHeight, cellWidth);
  const length = Math.hypot(reach * cellWidth, reach * cellHeight);
  context.save();
  context.rotate(angle);
  context.fillStyle = style.ntp;
  context.font = `500 ${style.size}px ${style.font}`;
  context.textAlign = "right";
  const end = Math.min(
    length - style.size,
    (height - (style.size + 8) * Math.cos(angle)) / Math.sin(angle),
  );
  const words = ["next-token prediction", "next-token"].find(
    (each) => context.measureText(each).width < end - style.size,
  );
  if (words) context.fillText(words, end, style.size + 3);
  context.restore();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {StairsView} view
 * @param {Geometry} geometry
 * @param {StairsStyle} style
 */
export function drawCurrent(context, view, geometry, style) {
  const { cellWidth, cellHeight, width } = geometry;
  const window = view.run.windowAt(view.pass);
  const y = view.pass * cellHeight;
  context.strokeStyle = style.accent;
  context.lineWidth = 2;
  const left = window.start * cellWidth;
  const boxWidth = Math.min(window.size * cellWidth, width - left);
  context.beginPath();
  context.roundRect(left - 1, y - 2, boxWidth + 1, cellHeight + 3, 3);
  context.stroke();
  if (view.focus === null || !view.showsFocus) return;
  context.lineWidth = 1;
  context.strokeRect(view.focus * cellWidth - 0.5, 0.5, cellWidth, geometry.height - 1);
}
