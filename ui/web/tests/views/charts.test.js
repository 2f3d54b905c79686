import assert from "node:assert/strict";
import test from "node:test";
import { withChanges, wordsFor } from "../../charts.js";

const FIGURE = {
  data: [{ x: [1, 2], marker: { color: "blue", size: 3 } }, { x: [3] }],
  layout: { font: { color: "black" }, shapes: [{ line: { color: "red" } }] },
};

test("changes are set where they stand, items of a list by their index", () => {
  const dark = withChanges(FIGURE, {
    data: { 0: { marker: { color: "white" } } },
    layout: { font: { color: "grey" }, shapes: { 0: { line: { color: "pink" } } } },
  });
  assert.deepEqual(dark, {
    data: [{ x: [1, 2], marker: { color: "white", size: 3 } }, { x: [3] }],
    layout: { font: { color: "grey" }, shapes: [{ line: { color: "pink" } }] },
  });
});

test("a list takes the place of a list whole, and nothing old is touched", () => {
  const before = structuredClone(FIGURE);
  assert.deepEqual(withChanges(FIGURE, { data: { 1: { x: [4, 5] } } }).data[1], { x: [4, 5] });
  assert.deepEqual(FIGURE, before);
  assert.equal(withChanges(FIGURE, undefined), FIGURE);
  assert.deepEqual(withChanges(FIGURE, {}), FIGURE);
});

test("what was not there is added", () => {
  assert.deepEqual(withChanges({ a: null }, { a: { b: 1 }, c: 2 }), { a: { b: 1 }, c: 2 });
});

test("a chart says of a strategy what it has of it, else what it says of every other", () => {
  const row = { id: "a", title: "A", words: "read again", verify: "read at once" };
  /** @param {string} strategy */
  const words = (strategy) => wordsFor([row], strategy)[0]?.words;
  assert.deepEqual(
    [words("verify"), words("ntp"), words("sbd"), words("id")],
    ["read at once", "read again", "read again", "read again"],
  );
});
