// A 4x4 sudoku in a prompt, and the rules that its cells can break. Knows no DOM.

export const SUDOKU_CELLS = 16;
const PROMPT = /(?:^|\D)([0-4]{16})\s*$/;
const UNITS = [0, 1, 2, 3].flatMap((unit) => {
  const corner = [0, 2, 8, 10][unit] ?? 0;
  return [
    [0, 1, 2, 3].map((i) => 4 * unit + i),
    [0, 1, 2, 3].map((i) => 4 * i + unit),
    [corner, corner + 1, corner + 4, corner + 5],
  ];
});

/**
 * The 16 digits that end a prompt, 0 for a blank; null if the prompt asks for no 4x4 sudoku.
 * @param {string} prompt
 */
export function puzzleIn(prompt) {
  return PROMPT.exec(prompt)?.[1] ?? null;
}

/**
 * Cells whose digit differs from its given, stands twice in a unit, or is no digit 1 to 4.
 * @param {string} puzzle
 * @param {(string | null)[]} digits null where nothing is revealed
 */
export function brokenCells(puzzle, digits) {
  /** @type {Set<number>} */
  const broken = new Set();
  digits.forEach((digit, cell) => {
    if (digit === null) return;
    const isGivenKept = puzzle[cell] === "0" || puzzle[cell] === digit;
    if (!isGivenKept || !/^[1-4]$/.test(digit)) broken.add(cell);
  });
  for (const unit of UNITS) {
    for (const cell of unit) {
      const digit = digits[cell] ?? null;
      const isTwice = unit.some((other) => other !== cell && digits[other] === digit);
      if (digit !== null && isTwice) broken.add(cell);
    }
  }
  return broken;
}

/** How many cells hold a digit. @param {(string | null)[]} digits */
export function numWritten(digits) {
  return digits.filter((digit) => digit !== null && /^\d$/.test(digit)).length;
}

/**
 * How far the puzzle is, in words.
 * @param {number} numFilled
 * @param {number} numBroken
 * @param {boolean} isOver whether nothing more will come
 */
export function sudokuVerdict(numFilled, numBroken, isOver) {
  const breaks = `${numBroken} ${numBroken === 1 ? "cell breaks" : "cells break"} a rule`;
  if (numFilled === SUDOKU_CELLS) {
    return numBroken ? `Not solved: ${breaks}.` : "Solved: no rule is broken.";
  }
  const filled = `${numFilled} of ${SUDOKU_CELLS} cells written`;
  const words = numBroken ? `${filled}; ${breaks}.` : `${filled}.`;
  return isOver ? `Not solved: ${words}` : words;
}

/** Whether tokens are a grid: a digit each, for every cell. @param {string[]} texts */
export function answersInCells(texts) {
  const cells = texts.slice(0, SUDOKU_CELLS);
  return cells.length === SUDOKU_CELLS && cells.every((text) => /^\s?\d$/.test(text));
}
