import assert from "node:assert/strict";
import test from "node:test";
import { drawPasses } from "../../watch/staircase/drawing.js";
import { FIRST, PREFILL, runOf, SECOND, start, wire } from "../core/lines.js";

/** How much each dot is seen, in the order in which they are drawn. @param {string} lines */
function dots(lines) {
  /** @type {number[]} */
  const seen = [];
  const context = {
    globalAlpha: 1,
    fillRect() {},
    beginPath() {},
    arc() {
      seen.push(this.globalAlpha);
    },
    fill() {},
  };
  const canvas = /** @type {CanvasRenderingContext2D} */ (/** @type {unknown} */ (context));
  const view = {
    run: runOf(lines),
    pass: 2,
    isDark: false,
    focus: null,
    showsFocus: false,
    reveals: { progress: () => 1 },
  };
  drawPasses(canvas, view, { width: 9, height: 9, cellWidth: 3, cellHeight: 3, gap: 1 }, 0, 3);
  return seen;
}

test("a dot is pale only where its own forward pass knew that it is after the end", () => {
  const opening = start({ ends: [7] });
  assert.deepEqual(dots(wire(opening, PREFILL, FIRST, SECOND)), [1, 1], "the end came later");
  const both = [
    [0, 0],
    [1, 1],
  ];
  assert.deepEqual(dots(wire(opening, PREFILL, { ...FIRST, reveals: both })), [1, 0.3]);
});
