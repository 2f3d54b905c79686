// The lines of the algorithm that a forward pass runs, with their values.

import assert from "node:assert/strict";
import { test } from "node:test";
import { programsAt } from "../../../core/forward/program.js";
import { FIRST, masks, PREFILL, runOf, start, wire } from "../lines.js";
import { RUN } from "./riding_run.js";

test("the lines of a forward pass are lit, with their values", () => {
  const [answer, block] = programsAt(RUN, 3);
  const lit = [...(answer?.lines ?? []), ...(block?.lines ?? [])].filter((line) => line.isLit);
  const values = lit.map((line) => line.values);
  assert.ok(values.includes("k = 2, positions 2 to 3"));
  assert.ok(values.includes("2 + 2 rows"));
  assert.ok(values.includes("H = 0.01, 0.30"));
  assert.ok(values.includes("s = 2: 0.01 ≤ γ = 0.10"));
  assert.ok(values.includes("+ 2 tokens, 4 in all"));
  const first = programsAt(RUN, 0).flatMap((each) => each.lines.filter((line) => line.isLit));
  assert.deepEqual(
    first.map((line) => line.values),
    ["t = 3"],
  );
  assert.deepEqual(programsAt(RUN, 99), []);
});

test("the rule is seen to hold by its numbers: what one more would have made is over gamma", () => {
  /** @param {number[][]} masked */
  const chosen = (masked) => {
    const run = runOf(wire(start(), PREFILL, { ...FIRST, masked: masks(...masked) }));
    const lines = programsAt(run, 1)[1]?.lines ?? [];
    return lines.find(({ words }) => words.startsWith("Sort by entropy"))?.values;
  };
  assert.equal(chosen([[1, 0.104, 1, 0.99], [0, 0.2, 0, 0.9]]), "s = 1: 0.000 ≤ γ = 0.10; s = 2: 0.104"); // biome-ignore format: a row
  assert.equal(chosen([[1, 0.05, 1, 0.99]]), "s = 1: 0.00 ≤ γ = 0.10");
});

test("no line promises a next forward pass, or a token beyond the limit, that may not come", () => {
  const lines = programsAt(RUN, 3).flatMap((each) => each.lines.map(({ words }) => words));
  assert.ok(lines.includes("Until the answer ends or reaches its limit:"));
  assert.ok(lines.some((words) => /the next forward pass, if there is one, reads it/.test(words)));
});
