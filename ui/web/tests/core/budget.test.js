import assert from "node:assert/strict";
import test from "node:test";
import { breakpoints, budgetNote, interpolate, layOut, revealedAt } from "../../core/budget.js";
import { FIRST, PREFILL, runOf, start, wire } from "./lines.js";

test("segments fill the bar in the solver's order, each as wide as its entropy", () => {
  const { segments, total, costs } = layOut(runOf(), 1);
  assert.deepEqual(
    segments.map(({ item }) => item.position),
    [1, 0],
  );
  assert.equal(total, 2.05);
  assert.deepEqual(
    costs?.map((cost) => Number(cost.toFixed(4))),
    [0, 0.05],
  );
  const [narrow, wide] = segments;
  assert.ok(narrow && wide && narrow.width < wide.width);
  assert.ok(Math.abs(wide.left + wide.width - 1) < 1e-9);
});

test("gamma and its place on the bar go over into each other", () => {
  const points = breakpoints(layOut(runOf(), 1));
  for (const gamma of [0.01, 0.04, 0.5, 1.5]) {
    const place = interpolate(points, "gamma", "place", gamma);
    const back = interpolate(points, "place", "gamma", place);
    assert.ok(Math.abs(back - gamma) < 1e-9, `${gamma} came back as ${back}`);
  }
});

test("no masks: no points, and a place all the same", () => {
  assert.deepEqual(breakpoints(layOut(runOf(), 0)), []);
  assert.deepEqual(breakpoints(null), []);
  assert.equal(interpolate([], "gamma", "place", 1), 0);
});

test("a gamma reveals what the solver would", () => {
  assert.deepEqual([...revealedAt(runOf(), 1, 0.01)], [1]);
  assert.deepEqual([...revealedAt(runOf(), 1, 0.1)], [1, 0]);
  assert.equal(revealedAt(runOf(), 0, 9).size, 0);
});

test("the note says what was, or would be, revealed", () => {
  const run = runOf();
  const layout = layOut(run, 1);
  assert.equal(budgetNote(run, 1, null, layout, 1), "Σ 0.00 ≤ γ 0.10 nats · 1 revealed");
  assert.equal(budgetNote(run, 1, 2, layout, 2), "Σ 0.05 ≤ γ 2.00 nats · 2 would be revealed");
  assert.equal(budgetNote(run, 0, null, layOut(run, 0), 0), "the first pass reads the prompt");
  const topK = runOf(wire(start({ solver: { name: "top-k", k: 1 } }), PREFILL, FIRST));
  assert.equal(budgetNote(topK, 1, null, layOut(topK, 1), 1), "Top-k · 1 revealed");
});
