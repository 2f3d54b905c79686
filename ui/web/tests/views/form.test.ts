// The form of a decode: its slider, its advice, and which of two status lines is the later one.

import assert from "node:assert/strict";
import test from "node:test";
import { acceptedWords } from "../../form/prompt.ts";
import { isLater } from "../../form/status.ts";
import { adviceWords, nearestStep, outsideWords } from "../../form/ways.ts";

const USUAL = { gammas: [0, 0.1, 1], block_range: [2, 16] };

test("the thumb stands at the nearest step, at the end for what is beyond", () => {
  assert.equal(nearestStep(USUAL.gammas, 0.1), 1);
  assert.equal(nearestStep(USUAL.gammas, 0.4), 1);
  assert.equal(nearestStep(USUAL.gammas, 4), 2);
});

test("only what is outside the usual range is said, and that it is run", () => {
  assert.equal(outsideWords(USUAL, 1, 16), "");
  assert.match(outsideWords(USUAL, 4, 16), /runs as it is: γ 4 is above the usual 0 to 1\.$/);
  assert.match(outsideWords(USUAL, 0.1, 32), /blocks of 32 are outside the 2 to 16/);
});

test("while blanks are to be filled in, verify is not advised", () => {
  const best = "Verify is best here; γ 0.1 gets less right.";
  assert.equal(adviceWords(best, false), best.replace("γ ", "γ\u00a0"));
  assert.match(adviceWords(best, true), /^Only Set Block Decoding fills in blanks/);
  assert.doesNotMatch(adviceWords(best, true), /erify/);
});

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
