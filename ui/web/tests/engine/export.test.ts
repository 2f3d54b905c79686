// How weights of an exported folder become what the runtime's graph takes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Weights } from "../../engine/export.ts";
import type { Initializer, Stored } from "../../engine/files.ts";

const tensors: Record<string, Stored> = {};
const bytes: number[] = [];

function store(name: string, kind: string, shape: number[], data: ArrayBufferView) {
  tensors[name] = { kind, shape, offset: bytes.length, bytes: data.byteLength };
  bytes.push(...new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
}

function made(weight: Partial<Initializer> & { rule: string }) {
  const weights = new Weights(tensors, Uint8Array.from(bytes));
  return [...weights.makeWeight({ name: "w", from: [], offset: 0, bytes: 0, ...weight })];
}

/** The bits of 0.5 and -2 in fp16. */
const [HALF, MINUS_TWO] = [0x3800, 0xc000];
const low = (bits: number) => [bits & 255, bits >> 8];
const RISING = Array.from({ length: 32 }, (_, index) => index - 16);

store("fp32", "f32", [2, 2], Float32Array.of(1, 2, 3, 4));
store("bf16", "bf16", [1, 2], Uint16Array.of(0x3f80, 0xc020));
store(
  "q8",
  "q8_0",
  [1, 32],
  Uint8Array.from([...low(HALF), ...RISING.map((value) => value & 255)]),
);
const nibbles = Array.from({ length: 16 }, (_, index) => index | ((15 - index) << 4));
store("q4", "q4_1", [1, 32], Uint8Array.from([...low(HALF), ...low(MINUS_TWO), ...nibbles]));
store("odd", "f32", [2, 4], Float32Array.of(127, 0.5, 1.5, -2.5, 0, 0, 0, 0));

test("stored tensors are widened and stand one below the other", () => {
  assert.deepEqual(made({ rule: "values", from: ["fp32", "bf16"] }), [1, 2, 3, 4, 1, -2.5]);
  assert.deepEqual(
    made({ rule: "values", from: ["q8"] }),
    RISING.map((value) => value / 2),
  );
  const lowHalf = Array.from({ length: 16 }, (_, index) => index / 2 - 2);
  assert.deepEqual(made({ rule: "values", from: ["q4"] }), [...lowHalf, ...lowHalf.toReversed()]);
});

test("a tensor's own integers and scales are taken as they are", () => {
  assert.deepEqual(made({ rule: "rounded.integers", from: ["q8"] }), RISING);
  assert.deepEqual(made({ rule: "rounded.scales", from: ["q8"] }), [0.5]);
});

test("tensors stand in a block diagonal, the last with its rows turned", () => {
  const square = [1, 2, 3, 4];
  const turned = [4, 6, -2, -2].map((value) => Math.fround(value * Math.fround(Math.SQRT1_2)));
  const [a, b, c, d] = turned;
  assert.deepEqual(made({ rule: "diagonal", from: ["fp32", "fp32"], turns_last: 2 }), [
    ...[...square.slice(0, 2), 0, 0, ...square.slice(2), 0, 0],
    ...[0, 0, a, b, 0, 0, c, d],
  ]);
});

test("weights become integers by a scale a row; of two that are as near the even one", () => {
  const numbers = made({ rule: "integers", from: ["odd"] });
  assert.deepEqual(numbers, [127, 0, 0, 0, 2, 0, -2, 0], "transposed");
  const [scale, least] = made({ rule: "scales", from: ["odd"] });
  assert.deepEqual([scale, least], [1, Math.fround(Math.fround(1e-30) / 127)]);
  const turned = made({ rule: "scales", from: ["fp32"], group: 2 });
  const most = [3, 7].map((sum) => Math.fround(sum * Math.fround(Math.SQRT1_2)));
  assert.deepEqual(
    turned,
    most.map((value) => Math.fround(value / 127)),
  );
});

test("what this engine does not know is a sentence", () => {
  assert.throws(() => made({ rule: "dreams", from: ["fp32"] }), /makes weights by dreams, unknown/);
  assert.throws(() => made({ rule: "values", from: ["gone"] }), /The model’s export lacks gone\./);
  tensors.new = { kind: "q1", shape: [1, 32], offset: 0, bytes: 4 };
  assert.throws(() => made({ rule: "values", from: ["new"] }), /holds new as q1, unknown here/);
});

test("blocks become integers around 128 by a scale each; of two as near the even one", () => {
  assert.deepEqual(
    made({ rule: "blocks.integers", from: ["q8"] }),
    RISING.map((value) => (value === -8 ? -64 : Math.round((value / 16) * 127)) + 128),
  );
  assert.deepEqual(made({ rule: "blocks.scales", from: ["q8"] }), [Math.fround(8 / 127)]);
});

test("the first heads of every group come before the second ones", () => {
  store(
    "heads",
    "f32",
    [4, 4],
    Float32Array.from({ length: 16 }, (_, index) => index),
  );
  const rows = [0, 2, 1, 3].flatMap((row) => [0, 1, 2, 3].map((column) => 4 * row + column));
  assert.deepEqual(made({ rule: "values", from: ["heads"], swaps: ["rows", 2, 2, 0] }), rows);
  const columns = [0, 1, 2, 3].flatMap((row) => [0, 2, 1, 3].map((column) => 4 * row + column));
  assert.deepEqual(made({ rule: "values", from: ["heads"], swaps: ["columns", 2, 2, 0] }), columns);
  const [first, second] = [made({ rule: "values", from: ["heads"] }), rows];
  assert.deepEqual(
    made({ rule: "values", from: ["heads", "heads"], swaps: ["rows", 2, 2, 1] }),
    [...first, ...second],
    "rows of one alone",
  );
});

test("some columns of a tensor are taken alone", () => {
  assert.deepEqual(made({ rule: "values", from: ["fp32"], columns: [1, 2] }), [2, 4]);
});
