import assert from "node:assert/strict";
import test from "node:test";
import { differences } from "../../../core/differences.js";

/** @param {string} text */
const ids = (text) => [...text].map((letter) => letter.charCodeAt(0));

/** @type {[ours: string, onlyLeft: number[], onlyRight: number[], missing: [number, number][]][]} */
const CASES = [
  ["abcdef", [], [], []],
  ["abXdef", [2], [2], []],
  ["abdef", [2], [], [[2, 1]]],
  ["abcXYdef", [], [3, 4], []],
  ["abX", [2, 3, 4, 5], [2], [[3, 3]]],
  ["XYZXYZ", [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], []],
  ["", [0, 1, 2, 3, 4, 5], [], [[0, 6]]],
];

for (const [ours, onlyLeft, onlyRight, missing] of CASES) {
  test(`abcdef beside "${ours}" differs by the fewest edits`, () => {
    const differ = differences(ids("abcdef"), ids(ours));
    assert.deepEqual([...differ.onlyLeft], onlyLeft);
    assert.deepEqual([...differ.onlyRight], onlyRight);
    assert.deepEqual([...differ.missing], missing);
  });
}

test("what is not marked is the same on both sides, in order", () => {
  const random = (() => {
    let state = 1;
    return () => {
      state = (state * 48271) % 2147483647;
      return state;
    };
  })();
  for (let round = 0; round < 50; round += 1) {
    const [left, right] = [8, 11].map((size) => Array.from({ length: size }, () => random() % 4));
    const { onlyLeft, onlyRight } = differences(left ?? [], right ?? []);
    assert.deepEqual(
      left?.filter((_, index) => !onlyLeft.has(index)),
      right?.filter((_, index) => !onlyRight.has(index)),
    );
  }
});
