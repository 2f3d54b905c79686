import assert from "node:assert/strict";
import test from "node:test";
import {
  answersInCells,
  brokenCells,
  cellTexts,
  numWritten,
  puzzleIn,
  sudokuVerdict,
} from "../../watch/sudoku.js";
import { FIRST, PREFILL, reveals, runOf, start, wire } from "./lines.js";

const PUZZLE = "1000000000000004";
const SOLVED = [..."1234341221434321"];

test("a prompt asks for a sudoku if it ends in sixteen digits", () => {
  assert.equal(puzzleIn(`solve ${PUZZLE}\n`), PUZZLE);
  assert.equal(puzzleIn(`solve 9${PUZZLE}`), null);
  assert.equal(puzzleIn("solve 1234"), null);
});

test("a rule is broken by a changed given, a digit twice in a unit, or no digit", () => {
  assert.deepEqual([...brokenCells("1000000000000001", SOLVED)], []);
  assert.deepEqual([...brokenCells(PUZZLE, SOLVED)], [15]);
  const twice = [...SOLVED];
  twice[1] = "1";
  assert.ok(brokenCells("1000000000000001", twice).has(0));
  assert.ok(brokenCells("0000000000000000", ["x", ...SOLVED.slice(1)]).has(0));
  assert.deepEqual([...brokenCells(PUZZLE, new Array(16).fill(null))], []);
});

test("the verdict says how far it is", () => {
  assert.equal(sudokuVerdict(16, 0, true), "Solved: no rule is broken.");
  assert.equal(sudokuVerdict(16, 1, true), "Not solved: 1 cell breaks a rule.");
  assert.equal(sudokuVerdict(3, 2, false), "3 of 16 cells written; 2 cells break a rule.");
  assert.equal(sudokuVerdict(3, 0, true), "Not solved: 3 of 16 cells written.");
  assert.equal(
    sudokuVerdict(3, 1, true),
    "Not solved: 3 of 16 cells written; 1 cell breaks a rule.",
  );
});

test("only sixteen digits, a token each, are shown as a grid", () => {
  const cells = [..."1234341221434321"];
  assert.equal(answersInCells(cells), true);
  assert.equal(answersInCells([...cells, ""]), true);
  assert.equal(answersInCells(cells.slice(1)), false);
  assert.equal(answersInCells(["With", ...cells]), false);
});

test("the end of an answer fills no cell and breaks no rule, nor does what stands after it", () => {
  assert.equal(numWritten(["1", null, "x", "4", "<eos>"]), 2);
  const both = { ...FIRST, reveals: reveals([0, 0], [1, 1]) };
  const run = runOf(wire(start({ end_token_ids: [0] }), PREFILL, both));
  assert.equal(run.main.isAfterEnd(1, 1), true);
  assert.deepEqual(cellTexts({ run, pass: 1 }), new Array(16).fill(null));
  assert.notEqual(cellTexts({ run: runOf(), pass: 2 })[0], null);
});
