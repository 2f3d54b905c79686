import assert from "node:assert/strict";
import test from "node:test";
import { acceptedWords } from "../../form/puzzle.js";

test("a full grid is not called one to solve", () => {
  assert.match(
    acceptedWords("Solve this sudoku: 1342421321343421"),
    /^It is full .* nothing to solve/,
  );
  assert.match(acceptedWords("Solve this sudoku: 1302020000043401"), /^It has one solution and is/);
});
