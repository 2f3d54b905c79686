import assert from "node:assert/strict";
import test from "node:test";
import { acceptedWords } from "../../form/puzzle.js";
import { isLater } from "../../form/status.js";

test("a full grid is not called one to solve", () => {
  assert.match(
    acceptedWords("Solve this sudoku: 1342421321343421"),
    /^It is full .* nothing to solve/,
  );
  assert.match(acceptedWords("Solve this sudoku: 1302020000043401"), /^It has one solution and is/);
});

test("what was said later counts, by turn and then by count", () => {
  assert.ok(isLater([0, 2], [0, 1]));
  assert.ok(isLater([1, 1], [0, 9]));
  assert.ok(!isLater([0, 1], [0, 1]));
  assert.ok(!isLater([0, 9], [1, 1]));
});
