// A canvas as sharp as the screen, and the page's colours for it.

import { setStyle } from "../dom/elements.js";

/** @import { Inks } from "./drawing.js" */

/**
 * Give the canvas its size on the page and hand out its context, cleared.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
export function contextOf(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  setStyle(canvas, "width", `${width}px`);
  setStyle(canvas, "height", `${height}px`);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser draws on no canvas");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** @type {Map<boolean, Inks>} by whether the page is dark: to ask for a style costs a layout */
const known = new Map();

/**
 * The page's colours.
 * @param {HTMLElement} node
 * @param {boolean} isDark
 * @returns {Inks}
 */
export function inksOf(node, isDark) {
  const inks = known.get(isDark) ?? readInks(node);
  known.set(isDark, inks);
  return inks;
}

/**
 * @param {HTMLElement} node
 * @returns {Inks}
 */
function readInks(node) {
  const style = getComputedStyle(node);
  /** @param {string} name */
  const read = (name) => style.getPropertyValue(name).trim();
  return {
    cached: read("--sbd-hood-cached"),
    causal: read("--sbd-sbd"),
    block: read("--sbd-accent"),
    none: read("--sbd-well"),
    line: read("--sbd-card"),
    text: read("--sbd-text"),
    muted: read("--sbd-muted"),
    font: read("--sbd-mono"),
  };
}
