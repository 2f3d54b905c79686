// What is made from a row of logits: its measures, its likeliest tokens, and a sampler head's choice.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Logits } from "../../engine/model.ts";
import { measureRow, SamplerHead, topOf } from "../../engine/sampling.ts";

/** @param shares of hidden states in a sampler head */
function logitsOf(rows: number[][], shares: number[][] = []) {
  const own = rows.map((row) => Float32Array.from(row));
  const states = shares.map((share) => Float32Array.from(share));
  const logits = {
    row: (index: number) => own[index],
    samplerHiddenPart: (index: number) => states[index],
  };
  return logits as unknown as Logits;
}

function near(found: number, wanted: number) {
  assert.ok(Math.abs(found - wanted) < 1e-6, `${found}, not ${wanted}`);
}

test("a row's measures are those of its softmax, without forbidden tokens", () => {
  const chances = [0.5, 0.25, 0.125, 0.125];
  const logits = logitsOf([[9, ...chances.map((chance) => Math.log(chance) + 3)]]);
  const stats = measureRow(logits, 0, 0, 3);
  assert.deepEqual([stats.bestId, stats.top.map(([id]) => id)], [1, [1, 2, 3]]);
  near(stats.probability, 0.5);
  near(stats.second, 0.25);
  near(stats.entropy, 1.75 * Math.LN2);
  for (const [rank, [, chance]] of stats.top.entries()) near(chance, chances[rank]);
  assert.equal(logits.row(0)[0], -Infinity);
});

test("a token that has it all leaves an entropy of 0, and NaN is refused", () => {
  assert.equal(measureRow(logitsOf([[200, 0, -Infinity]]), 0, -1, 0).entropy, 0);
  for (const row of [
    [NaN, 1],
    [Infinity, 1],
    [-Infinity, -Infinity],
  ]) {
    for (const forbiddenId of [-1, 0]) {
      const measure = () => measureRow(logitsOf([row]), 0, forbiddenId, 0);
      assert.throws(measure, /logits that are NaN, infinite or all -infinity/);
    }
  }
});

test("the likeliest tokens stand best first, of equal ones the first", () => {
  const row = Float32Array.of(1, 5, 3, 5, -Infinity, 4, 3);
  assert.deepEqual(topOf(row, 4), [1, 3, 5, 2]);
  assert.deepEqual(topOf(row, 9).slice(0, 6), [1, 3, 5, 2, 6, 0]);
});

test("a sampler head weighs a row anew by the token before it", () => {
  const head = new SamplerHead(
    {
      ofToken: Float32Array.of(0, 0, 0, 1), // gate of the hidden state, up of the token
      out: Float32Array.of(2, 1),
      embedding: (id) => Float32Array.of(0, id),
      head: (id) => Float32Array.of(id, 1),
    },
    2,
  );
  const gate = 1.5;
  const logits = logitsOf([[0, 0, 0]], [[gate, 0]]);
  head.begin(logits, 0, 1)(0, 7);
  const change = (gate / (1 + Math.exp(-gate))) * Math.SQRT2;
  for (const [id, value] of logits.row(0).entries()) near(value, (2 * id + 1) * change);
});
