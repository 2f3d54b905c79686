// A small staircase of a whole decode: x = position, y = forward pass, a cell where a token was
// fixed, next-token prediction as the dashed line. All stand on one scale.

import { make } from "../dom/elements.js";
import { contextOf, inksOf } from "../hood/canvas.js";

/** @import { BoardRow } from "../race/board.js" */

/** @typedef {BoardRow} Lane */
/** @typedef {{ positions: number, passes: number }} Extent */

const HEIGHT = 190;

/**
 * The scale that all lanes fit.
 * @param {Lane[]} lanes
 * @returns {Extent}
 */
export function extentOf(lanes) {
  return {
    positions: Math.max(1, ...lanes.map((lane) => lane.num_tokens)),
    passes: Math.max(1, ...lanes.map((lane) => lane.num_passes)),
  };
}

/** @param {Lane} lane */
export function stairsWords({ label, num_tokens: tokens, num_passes: passes }) {
  const rate = (tokens / Math.max(passes, 1)).toFixed(2);
  return `${label}: ${tokens} tokens in ${passes} forward passes, ${rate} tokens a forward pass`;
}

/** @param {Lane} lane */
export function makeStairs(lane) {
  return make("canvas", "sbd-solver-comparison-stairs", {
    role: "img",
    "aria-label": stairsWords(lane),
  });
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Lane} lane
 * @param {Extent} extent
 * @param {boolean} isDark
 */
export function drawStairs(canvas, lane, { positions, passes }, isDark) {
  const width = canvas.parentElement?.clientWidth ?? 0;
  if (!width) return;
  const inks = inksOf(canvas, isDark);
  const context = contextOf(canvas, width, HEIGHT);
  const [cell, row] = [width / positions, HEIGHT / passes];
  context.fillStyle = inks.none;
  context.fillRect(0, 0, width, HEIGHT);
  context.strokeStyle = inks.muted;
  context.setLineDash([5, 4]);
  context.beginPath();
  context.moveTo(0, 0);
  context.lineTo(passes * cell, HEIGHT);
  context.stroke();
  context.setLineDash([]);
  context.fillStyle = inks.causal;
  lane.tokens.forEach(([, , pass], position) => {
    context.fillRect(
      position * cell,
      pass * row,
      Math.max(cell - 0.5, 1),
      Math.max(row - 0.5, 1.5),
    );
  });
}
