// Answers as text: positions and pieces, comparison with next-token prediction, a sudoku's grid.

import assert from "node:assert/strict";
import test from "node:test";
import { compareMain } from "../../core/differences.ts";
import type { View } from "../../watch/playhead.ts";
import { passesOf, weightsWords } from "../../watch/results.ts";
import {
  answersInCells,
  brokenCells,
  cellTexts,
  numWritten,
  puzzleIn,
  sudokuVerdict,
} from "../../watch/sudoku.ts";
import { itemsOfText, piecesOfItem, splitLead } from "../../watch/text.ts";
import { END, FIRST, masks, PREFILL, reveals, runOf, SECOND, start, wire } from "../core/lines.ts";

/** Return the text and the kind of each position of the main lane at a pass. */
function placesAt(run = runOf(), pass = 1) {
  return itemsOfText(run, run.main, pass).map(({ text, kind }) => [text, kind]);
}

test("a masked place is as wide as the token that comes there, or as the best guess", () => {
  const tokens = [
    ["Hello", "hole"],
    [" world", "token"],
  ];
  assert.deepEqual(placesAt(), tokens);
  const live = runOf(wire(start(), PREFILL, FIRST));
  assert.deepEqual(placesAt(live), tokens, "the guess that later came");
  const other = { ...FIRST, masked: [...masks([0, 2, 3, 0.5]), ...FIRST.masked.slice(1)] };
  assert.deepEqual(placesAt(runOf(wire(start(), PREFILL, other)))[0], ["Bye", "hole"]);
  assert.equal(placesAt(runOf(wire(start(), PREFILL)), 0).length, 2, "nothing is known yet");
});

test("a place has the same pieces before and after its token lands, so that lines break alike", () => {
  const run = runOf();
  const [masked, landed] = [1, 2].map((pass) => itemsOfText(run, run.main, pass));
  assert.ok(masked && landed);
  assert.deepEqual(piecesOfItem(masked, 0), piecesOfItem(landed, 0));
});

test("white space before a word stands outside it, and alone it is the word", () => {
  assert.deepEqual(splitLead([[" world", ""]]), { lead: [[" ", ""]], word: [["world", ""]] });
  const code = splitLead([
    ["\n", "break"],
    ["    ", "space"],
    ["return", ""],
  ]);
  assert.deepEqual(
    code.lead.map(([text]) => text),
    ["\n", "    "],
  );
  assert.deepEqual(splitLead([["\n", "break"]]), { lead: [], word: [["\n", "break"]] });
});

/** Return a run whose next-token prediction commits these tokens. */
function beside(committed: number[]) {
  const plain = committed.map((token, index) => ({
    ...PREFILL,
    kind: index ? "decode" : "prefill",
    seq: 5 + index,
    lane: "ntp",
    committed: [token],
  }));
  const end = { ...END, seq: 5 + committed.length, lane: "ntp" };
  return runOf(
    wire(start({ strategies: ["sbd", "ntp"] }), PREFILL, FIRST, SECOND, END, ...plain, end),
  );
}

test("an answer is laid beside next-token prediction's token by token", () => {
  assert.equal(compareMain(runOf()), null, "there is none");
  assert.equal(compareMain(beside([0, 1]))?.words, "");
  const other = compareMain(beside([0, 2]));
  assert.deepEqual(
    [[...(other?.differing ?? [])], other?.words, other?.firstDifference],
    [[1], "1 differs", 1],
  );
  assert.equal(compareMain(beside([0, 1]))?.firstDifference, null, "the texts never part");
});

test("the two numbers are those of the moment, and at the end next-token prediction's own", () => {
  const run = beside([0, 1]);
  const at = (pass: number, isOver: boolean) => {
    const view = { run, pass, isOver } as unknown as View;
    return passesOf(view, run.numbersAt(pass));
  };
  assert.deepEqual(at(1, false), { main: 2, ntp: 1 });
  assert.deepEqual(at(2, true), { main: 3, ntp: 2 });
});

const PUZZLE = "1000000000000004";
const SOLVED = [..."1234341221434321"];

test("the details name the weights that decoded, and nothing where a run does not say it", () => {
  const words = (weights: Record<string, string>) => weightsWords(runOf(wire(start({ weights }))));
  const [adapter, base] = ["0123456789abcdef", "fedcba9876543210"];
  assert.equal(
    words({ adapter, base }),
    "Weights: adapter adapter (01234567), which masks alone read, beside base (fedcba98)",
  );
  assert.equal(words({ adapter }), "Weights: adapter (01234567)");
  assert.equal(weightsWords(runOf()), "");
});

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
