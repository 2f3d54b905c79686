import assert from "node:assert/strict";
import test from "node:test";
import { countsText, wayLabel } from "../../share/pictures/picture.js";
import { drawAxes } from "../../watch/staircase/drawing.js";
import { END, FIRST_GIVEN, PREFILL, runOf, SECOND, start, wire } from "../core/lines.js";

test("a picture names what decoded as the form does", () => {
  const solver = { name: "entropy-bound", gamma: 0.35 };
  const run = runOf(wire(start({ solver, block_size: 16 })));
  assert.equal(wayLabel(run), "Set Block Decoding, γ 0.35, block 16");
});

test("the numbers of a picture divide as written: given tokens are named, and not decoded", () => {
  const given = runOf(wire(start({ pinned: [[1, 1]] }), PREFILL, FIRST_GIVEN, SECOND, END));
  assert.equal(
    countsText(given, 2),
    "3 forward passes · 2 tokens, 1 given · 0.33 decoded a forward pass",
  );
  assert.equal(countsText(runOf(), 2), "3 forward passes · 2 tokens · 0.67 a forward pass");
});

test("next-token prediction has no block in its picture", () => {
  const run = runOf(wire(start({ strategies: ["ntp"], block_size: 16 })));
  assert.equal(wayLabel(run), "Next-token prediction");
});

test("a staircase with room below a short run numbers its rows down to the foot", () => {
  /** @type {string[]} */
  const beside = [];
  const context = /** @type {any} */ ({
    measureText: () => ({ width: 8 }),
    /** @param {string} words @param {number} x */
    fillText: (words, x) => x < 0 && beside.push(words),
  });
  const style = { accent: "", ntp: "", line: "", muted: "", font: "", size: 13 };
  const geometry = { width: 300, height: 330, cellWidth: 20, cellHeight: 22, gap: 1 };
  drawAxes(context, geometry, style, { positions: 15, passes: 12 });
  assert.deepEqual([beside[0], beside.at(-1), beside.length], ["1", "15", 15]);
});
