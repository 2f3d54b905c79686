// The entropy budget: how much of gamma was spent, and what a dragged gamma would reveal.

import assert from "node:assert/strict";
import test from "node:test";
import { formatGamma, roundDraggedGamma } from "../../core/numbers.ts";
import {
  AXIS_END,
  axisNats,
  axisPlace,
  type BudgetLayout,
  budgetNote,
  exemptWords,
  gammaAfterKey,
  layOut,
  revealedAt,
} from "../../watch/budget.ts";
import { FIRST, masks, PREFILL, runOf, SECOND, start, wire } from "../core/lines.ts";

const BOTH = new Set([0, 1]);

/** The positions along the axis; "+" is revealed, "*" also outside the sum. */
const places = ({ segments }: BudgetLayout) =>
  segments
    .map(
      ({ item, isRevealed, isExempt }) => item.position + (isExempt ? "*" : isRevealed ? "+" : ""),
    )
    .join(" ");

test("what was spent ends at the sum of Eq. 8, the largest revealed stands behind it", () => {
  const layout = layOut(runOf(), 1, BOTH);
  assert.equal(places(layout), "1+ 0*");
  const [counted, exempt] = layout.segments;
  assert.ok(counted && exempt);
  assert.equal(layout.spent, 0.05);
  assert.equal(counted.width, axisPlace(0.05));
  assert.equal(exempt.left, axisPlace(0.05));
  assert.ok(Math.abs(axisNats(exempt.left + exempt.width) - 2.05) < 1e-9);
  assert.equal(exemptWords(runOf().solver, layout), "the largest is not counted: 2.000");
});

test("one revealed alone spends nothing", () => {
  const layout = layOut(runOf(), 1, new Set([1]));
  assert.equal(layout.spent, 0);
  assert.equal(places(layout), "1* 0");
  assert.equal(exemptWords(runOf().solver, layout), "the largest is not counted: 0.050");
});

test("in another order the largest of those revealed is exempt, wherever the solver took it", () => {
  const solver = { name: "entropy-bound-by-confidence", gamma: 0.1 };
  const masked = masks([0, 0.2, 0, 0.999], [1, 0.05, 1, 0.99]);
  const run = runOf(wire(start({ solver }), PREFILL, { ...FIRST, masked }));
  assert.equal(places(layOut(run, 1, BOTH)), "1+ 0*");
});

test("from the left the leftmost is outside the sum, whatever its entropy", () => {
  const solver = { name: "entropy-bound-from-left", gamma: 9 };
  const run = runOf(wire(start({ solver }), PREFILL, FIRST));
  const layout = layOut(run, 1, BOTH);
  assert.equal(layout.spent, 0.05);
  assert.equal(exemptWords(solver, layout), "the leftmost is not counted: 2.000");
  assert.equal(layOut(run, 1, new Set([0])).exempt?.position, 0);
});

const THRESHOLD = runOf(
  wire(start({ solver: { name: "entropy-threshold", gamma: 3 } }), PREFILL, FIRST),
);

test("a threshold bounds each entropy: segments end at their own, nothing is summed", () => {
  const layout = layOut(THRESHOLD, 1, BOTH);
  const [low, high] = layout.segments;
  assert.ok(low && high);
  assert.equal(layout.exempt, null);
  assert.ok(Math.abs(axisNats(high.left + high.width) - 2) < 1e-9);
  assert.equal(budgetNote(THRESHOLD, 1, null, layout), "each below γ 3.00 nats · 2 revealed");
});

test("where none is below a threshold, the surest comes all the same and is not called below", () => {
  const layout = layOut(THRESHOLD, 1, new Set([1]), 0.01);
  const words = "none below γ 0.01 nats · 1 would be revealed";
  assert.equal(budgetNote(THRESHOLD, 1, 0.01, layout), words);
  assert.equal(exemptWords(THRESHOLD.solver, layout), "the surest always comes: 0.050");
  assert.equal(
    layOut(THRESHOLD, 1, new Set([1])).exempt,
    null,
    "below 3 nats it is one of those below",
  );
});

test("a gamma has one place on the axis, whatever the pass, and comes back from it", () => {
  for (const gamma of [0, 0.01, 0.04, 0.5, 1.5, AXIS_END]) {
    assert.ok(Math.abs(axisNats(axisPlace(gamma)) - gamma) < 1e-9);
  }
  assert.equal(axisPlace(1000), 1);
  assert.equal(axisNats(-1), 0);
});

test("Home and End on the line of gamma are its ends, and other keys are not its own", () => {
  assert.deepEqual([gammaAfterKey("Home", 3), gammaAfterKey("End", 3)], [0, AXIS_END]);
  assert.equal(gammaAfterKey("ArrowLeft", 0), 0);
  assert.equal(gammaAfterKey("l", 3), null);
});

test("a γ that was dragged is near its place, and all of it is shown", () => {
  for (const nats of [0, 4e-7, 0.00066, 0.0028, 0.0449, 0.1049, 3.147, AXIS_END]) {
    const gamma = roundDraggedGamma(nats);
    assert.ok(Math.abs(gamma - nats) <= Math.max(0.05 * nats, 5e-7), String(nats));
    assert.equal(Number(formatGamma(gamma)), gamma);
  }
  assert.deepEqual([0.00066, 0.0028].map(roundDraggedGamma).map(formatGamma), [
    "0.00066",
    "0.0028",
  ]);
  assert.equal(gammaAfterKey("ArrowRight", 0.0028), 0.013);
});

test("a dragged γ is not printed as 0, nor below what it spends", () => {
  const masked = masks(...[0.0004, 0.0003, 2].map((nats, position) => [position, nats, 0, 0.9]));
  const run = runOf(wire(start(), PREFILL, { ...FIRST, masked }));
  const gamma = roundDraggedGamma(0.00071);
  const note = budgetNote(run, 1, gamma, layOut(run, 1, revealedAt(run, 1, gamma), gamma));
  assert.equal(note, "0.000700 of γ 0.00071 · 3 would be revealed");
});

test("a gamma reveals what the solver would", () => {
  assert.deepEqual([...revealedAt(runOf(), 1, 0.01)], [1]);
  assert.deepEqual([...revealedAt(runOf(), 1, 0.1)], [1, 0]);
  assert.equal(revealedAt(runOf(), 0, 9).size, 0);
});

test("the note says what was spent of gamma, and what was, or would be, revealed", () => {
  const run = runOf();
  const one = layOut(run, 1, new Set([1]));
  assert.equal(budgetNote(run, 1, null, one), "0.000 of γ 0.10 · 1 revealed");
  const both = layOut(run, 1, BOTH);
  assert.equal(budgetNote(run, 1, 2, both), "0.050 of γ 2.00 · 2 would be revealed");
  const none = layOut(run, 0, new Set());
  assert.equal(budgetNote(run, 0, null, none), "the first forward pass reads the prompt");
  const topK = runOf(wire(start({ solver: { name: "top-k", k: 1 } }), PREFILL, FIRST));
  assert.equal(budgetNote(topK, 1, null, layOut(topK, 1, new Set([1]))), "Top-k · 1 revealed");
});

test("what goes beyond the axis is cut off", () => {
  const solver = { name: "entropy-bound", gamma: 1000 };
  const masked = masks(...[0, 1, 2].map((position) => [position, 9 + position / 1e4, 0, 0.9]));
  const run = runOf(wire(start({ solver }), PREFILL, { ...FIRST, masked }));
  const layout = layOut(run, 1, new Set([0, 1, 2]));
  assert.equal(layout.isCut, true);
  assert.equal(layOut(runOf(), 1, BOTH).isCut, false);
});

test("what is revealed adds up to the tokens: the note says how many an earlier end took back", () => {
  const run = runOf(wire(start({ end_token_ids: [0] }), PREFILL, FIRST, SECOND));
  const note = (pass: number) => {
    const revealed = run.main.steps[pass]?.reveals.map(({ position }) => position) ?? [];
    return budgetNote(run, pass, null, layOut(run, pass, new Set(revealed)));
  };
  assert.match(note(1), / · 1 revealed$/);
  assert.match(note(2), / · 1 revealed, 1 older now after the end$/);
  assert.deepEqual(
    [0, 1, 2].map((pass) => run.main.numTokensAt(pass)),
    [0, 1, 1],
  );
  assert.doesNotMatch(budgetNote(run, 2, 2, layOut(run, 2, new Set([0]))), /older/);
});
