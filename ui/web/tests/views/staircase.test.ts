// The dots and cells of the staircase, and their key.

import assert from "node:assert/strict";
import test from "node:test";
import { drawPasses, stairsKey } from "../../watch/staircase.ts";
import { FIRST, masks, PREFILL, reveals, runOf, SECOND, start, wire } from "../core/lines.ts";

/** Return the opacity of each dot in the order of drawing, and the number of cells. */
function drawn(lines: string) {
  const seen: number[] = [];
  let cells = 0;
  const context = {
    globalAlpha: 1,
    fillRect() {
      cells += 1;
    },
    beginPath() {},
    arc() {
      seen.push(this.globalAlpha);
    },
    fill() {},
  };
  const canvas = context as unknown as CanvasRenderingContext2D;
  const view = {
    run: runOf(lines),
    pass: 2,
    isDark: false,
    focus: null,
    showsFocus: false,
  };
  drawPasses(canvas, view, { width: 9, height: 9, cellWidth: 3, cellHeight: 3, gap: 1 }, 3);
  return { dots: seen, cells };
}

const dots = (lines: string) => drawn(lines).dots;

test("a dot is pale only where its own forward pass knew that it is after the end", () => {
  const opening = start({ end_token_ids: [0] });
  assert.deepEqual(dots(wire(opening, PREFILL, FIRST, SECOND)), [1, 1], "the end came later");
  const both = { ...FIRST, reveals: reveals([0, 0], [1, 1]) };
  assert.deepEqual(dots(wire(opening, PREFILL, both)), [1, 0.3]);
});

test("only what was masked has a colour; a checked draft is a dot alone, and the key says so", () => {
  const opening = start({ strategies: ["verify"], solver: { name: "" } });
  const fixed = { masked: masks([1, 0.05, 1, 0.99]), reveals: reveals([0, 0], [1, 1]) };
  const checked = { ...FIRST, lane: "verify", ...fixed };
  const lines = wire(opening, { ...PREFILL, lane: "verify" }, checked);
  assert.deepEqual(drawn(lines), { dots: [1, 1], cells: 1 });
  assert.match(stairsKey(runOf(lines)).dots, /dot alone: was no mask/);
  assert.equal(stairsKey(runOf()).dots, "dot: revealed");
});
