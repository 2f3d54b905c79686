import assert from "node:assert/strict";
import test from "node:test";
import { readStep } from "../../../core/run/wire.js";
import { FIRST, PREFILL, SECOND } from "../lines.js";

test("a forward pass is read as a trace file has it", () => {
  const step = readStep(FIRST);
  assert.equal(step.kind, "decode");
  assert.deepEqual([step.cached, step.causal, step.block], [3, 0, { start: 0, size: 2 }]);
  assert.deepEqual(step.masked.get(0), {
    position: 0,
    entropy: 2,
    top: [
      { token: 0, probability: 0.5 },
      { token: 3, probability: 0.4 },
    ],
  });
  assert.deepEqual(step.reveals, [{ position: 1, token: 1, rank: 0, probability: 0.99 }]);
  assert.equal(step.seconds, 0.002);
});

test("reveals come in the solver's order, however a file lists them", () => {
  const order = [2, 0, 1].map((rank) => /** @type {const} */ ([rank, 1, rank, 0.5]));
  const step = readStep({ ...FIRST, reveals: order.map((row) => [...row]) });
  assert.deepEqual(
    step.reveals.map(({ position }) => position),
    [0, 1, 2],
  );
});

test("what would read 0.0 % is no candidate, but the best always is", () => {
  const rare = readStep({ ...FIRST, masked: [[0, 9, [1, 2, 3], [0.0004, 0.0003, 0.0001]]] });
  assert.deepEqual(rare.masked.get(0)?.top, [{ token: 1, probability: 0.0004 }]);
  const sure = readStep({ ...FIRST, masked: [[0, 0.1, [1, 2], [0.9995, 0.0005]]] });
  assert.equal(sure.masked.get(0)?.top.length, 2);
});

test("what a line leaves out is empty", () => {
  const step = readStep(PREFILL);
  assert.equal(step.kind, "prefill");
  assert.deepEqual(
    [step.masked.size, step.reveals, step.committed, step.draft, step.hindsight, step.predrafts],
    [0, [], [], [], [], []],
  );
});

test("hindsight names the causal pass's own choice", () => {
  assert.deepEqual(readStep(SECOND).hindsight, [
    { position: 0, probability: 0.8, argmax: 3, argmaxProbability: 0.15 },
  ]);
});
