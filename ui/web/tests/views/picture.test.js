import assert from "node:assert/strict";
import test from "node:test";
import { solverLabel } from "../../share/pictures/picture.js";
import { runOf, start, wire } from "../core/lines.js";

test("a picture names its solver as the form does", () => {
  const solver = { name: "entropy-bound", gamma: 0.35 };
  const run = runOf(wire(start({ strategy: "sbd", solver, block_size: 16 })));
  assert.equal(solverLabel(run), "Entropy bound (Eq. 8), γ 0.35, block 16");
});

test("next-token prediction has no block in its picture", () => {
  const run = runOf(wire(start({ strategy: "ntp", block_size: 16 })));
  assert.equal(solverLabel(run), "Next-token prediction");
});
