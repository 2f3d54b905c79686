import assert from "node:assert/strict";
import test from "node:test";
import {
  countInWords,
  countOf,
  formatChange,
  formatNats,
  formatPercent,
  formatSeconds,
  listInWords,
  median,
  raceSeconds,
  tickStep,
} from "../../core/numbers.js";

test("numbers are written with the digits a reader needs", () => {
  assert.equal(formatNats(0.126), "0.13");
  assert.equal(formatPercent(0.9876), "98.8%");
  assert.deepEqual([0.084, 0.0996, 1.254, 12.34].map(formatSeconds), [
    "84 ms",
    "0.10 s",
    "1.25 s",
    "12.3 s",
  ]);
  assert.deepEqual([0.84, 0.9996, 9.996].map(raceSeconds), ["840 ms", "1.00 s", "10.0 s"]);
});

test("an entropy that fell is not shown as one that stayed", () => {
  assert.equal(formatChange(0.0041, 0.0002), "0.004 → 0.000");
  assert.equal(formatChange(0.0004, 0.0002), "0.0004 → 0.0002");
  assert.equal(formatChange(2, 0.4), "2.00 → 0.40");
  assert.equal(formatChange(0, 0), "0.00 → 0.00");
});

test("a count has the right plural", () => {
  assert.deepEqual(
    [countOf(1, "token"), countOf(0, "token"), countOf(2, "pass"), countOf(1, "pass")],
    ["1 token", "0 tokens", "2 passes", "1 pass"],
  );
});

test("the median is the middle one, or the mean of the two in the middle", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.equal(median([7]), 7);
});

test("small counts are words in a sentence, larger ones digits", () => {
  assert.deepEqual(
    [0, 1, 3, 13].map((count) => countInWords(count, "token")),
    ["no tokens", "one token", "three tokens", "13 tokens"],
  );
});

test("a list ends in a word, and of one is itself", () => {
  assert.equal(listInWords(["another prompt"]), "another prompt");
  assert.equal(
    listInWords(["another prompt", "γ 1 instead of 2"]),
    "another prompt and γ 1 instead of 2",
  );
  assert.equal(listInWords(["a", "b", "c"]), "a, b, and c");
});

test("ticks lie as far apart as their words need, and nowhere on cells without room", () => {
  assert.deepEqual(
    [30, 15, 3, 0.01].map((cell) => tickStep(24, cell)),
    [1, 2, 10, 5000],
  );
  assert.deepEqual(
    [0, -3].map((cell) => tickStep(24, cell)),
    [Infinity, Infinity],
  );
});
