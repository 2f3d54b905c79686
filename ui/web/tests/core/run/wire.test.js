import assert from "node:assert/strict";
import test from "node:test";
import { readStep, WIRE_UNITS } from "../../../core/run/wire.js";
import { FIRST, PREFILL, SECOND } from "../lines.js";

test("a pass is read in nats, probabilities and seconds", () => {
  const step = readStep(FIRST);
  assert.equal(WIRE_UNITS, 10000);
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
  assert.equal(step.seconds, 0.002);
});

test("a reveal has the probability that its candidates say, or its own", () => {
  assert.deepEqual(readStep(FIRST).reveals, [
    { position: 1, token: 1, rank: 0, probability: 0.99 },
  ]);
  assert.equal(readStep(SECOND).reveals[0]?.probability, 0.9);
  assert.equal(readStep({ ...FIRST, reveals: [[1, 2]] }).reveals[0]?.probability, 0);
});

test("what a line leaves out is empty", () => {
  const step = readStep(PREFILL);
  assert.equal(step.kind, "prefill");
  assert.deepEqual(
    [step.masked.size, step.reveals, step.committed, step.draft, step.hindsight],
    [0, [], [], [], []],
  );
});

test("hindsight names the causal pass's own choice", () => {
  assert.deepEqual(readStep(SECOND).hindsight, [
    { position: 0, probability: 0.8, argmax: 3, argmaxProbability: 0.15 },
  ]);
});
