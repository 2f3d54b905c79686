// What a forward pass costs, and what a device makes of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DEVICES,
  formatLarge,
  formatShort,
  leftOutWords,
  operationWords,
  partsOf,
  rateWords,
  rooflineOf,
} from "../../../core/forward/cost.js";
import { RUN } from "./riding_run.js";

test("operations are told as they are counted: the output layer meets only rows that predict", () => {
  const cost = { rows: 5, flops: 0, weightBytes: 0, cacheBytes: 0 };
  assert.equal(
    operationWords(cost, { kind: "prefill", causal: 4 }),
    "two a weight and row, the output layer’s for 2 of the rows, and attention",
  );
  assert.equal(
    operationWords(cost, { kind: "block", causal: 4 }),
    "two a weight and row, and attention",
  );
});

test("a device is bound by its memory or by its operations", () => {
  const rates = { flops: 1000, attentionFlops: 500, bandwidth: 100 };
  const device = { name: "d", ...rates, valueBytes: 4, source: "" };
  const cost = RUN.main.steps[3]?.cost ?? assert.fail();
  const found = rooflineOf(cost, device, 4, 0);
  assert.deepEqual([found.seconds, found.isMemoryBound], [8.24, true]);
  assert.equal(rooflineOf(cost, { ...device, valueBytes: 1 }, 4, 0).isMemoryBound, false);
  assert.equal(RUN.main.steps[0]?.cost, null);
  for (const each of DEVICES.values()) assert.ok(each.bandwidth > 1e11 && each.source);
});

// Two layers of 30 weights, an output layer of 40, 8 operations for a query and a key.
const SIZES = { valueBytes: 4, outputWeights: 40, pairFlops: 8 };

/**
 * @param {number} rows
 * @param {number} predicted of the rows
 * @param {number} pairs of a query and a key
 */
function costOf(rows, predicted, pairs) {
  const flops = 2 * (rows * 60 + predicted * 40) + 8 * pairs;
  return { rows, flops, weightBytes: 400, cacheBytes: 0 };
}

test("what Speed limits leaves out is told: the output layer, and attention to what is read", () => {
  const cost = costOf(3, 3, 3 * (5 + 3));
  const step = { kind: "decode", causal: 0, cached: 5 };
  assert.deepEqual(partsOf(cost, step, SIZES), { output: 240, attention: 192, ownKeys: 72 });
  const words = leftOutWords(cost, step, SIZES);
  assert.match(words, /output layer is 240 FLOP and 160 B of it.* read 72 FLOP: Speed limits/);
  const first = costOf(6, 3, 10 + 2 * 6);
  const prompt = { kind: "prefill", causal: 4, cached: 0 };
  assert.deepEqual(partsOf(first, prompt, SIZES), { output: 240, attention: 176, ownKeys: 176 });
});

test("attention takes its own rate, and a device that has one says so", () => {
  const device = DEVICES.get("h100-fp8") ?? assert.fail();
  const cost = { rows: 1, flops: 3e15, weightBytes: 0, cacheBytes: 0 };
  assert.equal(rooflineOf(cost, device, 1, 1e15).seconds, 2e15 / 1978e12 + 1e15 / 989e12);
  assert.equal(rateWords(device), ", attention at 0.5 times the rate of the rest");
  assert.equal(rateWords(DEVICES.get("a100-bf16") ?? assert.fail()), "");
});

test("large counts and short times have three digits", () => {
  assert.equal(formatLarge(12, "B"), "12 B");
  assert.equal(formatLarge(1234, "B"), "1.23 kB");
  assert.equal(formatLarge(999_600, "FLOP"), "1.00 MFLOP");
  assert.equal(formatLarge(12_340_000_000, "B"), "12.3 GB");
  assert.equal(formatShort(0.0123), "12.3 ms");
  assert.equal(formatShort(4.1e-6), "4.10 µs");
  assert.equal(formatShort(2), "2.00 s");
});
