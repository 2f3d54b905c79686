// The cost of a forward pass, in operations and as a device's time.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  costOf,
  DEVICES,
  formatLarge,
  formatShort,
  operationWords,
  rateWords,
  rooflineOf,
} from "../../../core/cost.js";
import { RIDING_RUN, SHAPE } from "../lines.js";

/** @param {number} pass of a run of two layers of 26 weights each */
function costAt(pass) {
  return costOf(SHAPE, RIDING_RUN.main.steps[pass] ?? assert.fail(), "sbd", 3);
}

test("a forward pass costs what its rows, its keys and the output layer do", () => {
  // Four rows, two of them causal, after three cached tokens: each of the two in the block sees 7 keys.
  const pairs = 4 + 5 + 2 * 7;
  assert.deepEqual(costAt(3), {
    rows: 4,
    numPredicted: 4,
    flops: 2 * 4 * 52 + 2 * 4 * 20 + 8 * pairs,
    attention: 8 * pairs,
    output: 2 * 4 * 20,
    ownKeys: 8 * (pairs - 4 * 3),
    valueBytes: 4,
    weightBytes: 4 * 72,
    outputBytes: 4 * 20,
    cacheBytes: 4 * 2 * 2 * 3,
  });
  const plain = { ...(RIDING_RUN.main.steps[3] ?? assert.fail()), causal: 1 };
  assert.equal(costOf(SHAPE, plain, "ntp", 3).rows, 1, "next-token prediction reads no block");
});

test("operations are told as they are counted: the output layer meets only rows that predict", () => {
  assert.equal(costAt(0).numPredicted, 3);
  assert.equal(
    operationWords(costAt(0)),
    "two a weight and row, the output layer’s for 3 of the rows, and attention",
  );
  assert.equal(operationWords(costAt(3)), "two a weight and row, and attention");
});

test("a device is bound by its memory or by its operations", () => {
  const rates = { flops: 1000, attentionFlops: 500, bandwidth: 100 };
  const device = { name: "d", ...rates, valueBytes: 4, source: "" };
  const cost = { flops: 4000, attention: 0, valueBytes: 4, weightBytes: 800, cacheBytes: 24 };
  const found = rooflineOf(cost, device);
  assert.deepEqual([found.seconds, found.isMemoryBound], [8.24, true]);
  assert.equal(rooflineOf(cost, { ...device, valueBytes: 1 }).isMemoryBound, false);
  for (const each of DEVICES.values()) assert.ok(each.bandwidth > 1e11 && each.source);
});

test("attention takes its own rate, and a device that has one says so", () => {
  const device = DEVICES.get("h100-fp8") ?? assert.fail();
  const cost = { flops: 3e15, attention: 1e15, valueBytes: 1, weightBytes: 0, cacheBytes: 0 };
  assert.equal(rooflineOf(cost, device).seconds, 2e15 / 1978e12 + 1e15 / 989e12);
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
  assert.equal(formatShort(0.9996), "1.00 s");
});
