// Shows the answer to a 4x4 sudoku, one token a cell, also as a grid. The puzzle's digits are marked, cells fill in as
// they are revealed, and digits that break a rule are marked.

import { html, render } from "lit-html";
import { entropyColour } from "../core/colours.ts";
import { make, setAttribute, setStyle, setText } from "../dom/elements.ts";
import { classes, tokenTemplate } from "../dom/templates.ts";
import type { Pointing } from "./actions.ts";
import type { View } from "./playhead.ts";
import { passMark, positionTitle, tileState } from "./tiles.ts";

const KEY_WORDS =
  "Outlined: a digit of the puzzle. #3: a cell filled by forward pass 3. " +
  "A pale digit is not written yet: the puzzle’s, or the best guess so far.";
const PIN_WORDS =
  " “set”: given to this run (pinned, kept by a branch, or your text), not decoded by it.";

const STRUCK_WORDS = " Struck: drafted, and thrown away in this forward pass.";

/** Return the text of each cell; null where nothing is written, or where the answer has ended. */
export function cellTexts({ run, pass }: Pick<View, "run" | "pass">) {
  return Array.from({ length: SUDOKU_CELLS }, (_, cell) => {
    const item = run.main.fixedAt(cell, pass);
    const isOut = !item || run.main.isEnd(item.token) || run.main.isAfterEnd(cell, pass);
    return isOut ? null : run.tokenText(item.token).trim();
  });
}

/** The grid under the answer's text, hidden unless the prompt asks for a sudoku. */
export class SudokuView {
  cells = Array.from({ length: SUDOKU_CELLS }, (_, cell) => this.makeCell(cell));
  root = make("section", "sbd-sudoku", { "aria-label": "The block as a sudoku grid" });

  /** @param mark of how a digit came */
  constructor(
    readonly actions: Pointing,
    readonly mark = passMark,
  ) {}

  makeCell(cell: number) {
    const { actions } = this;
    const digit = make("span", "sbd-sudoku-digit");
    const pass = make("span", "sbd-sudoku-pass");
    const node = make("button", "sbd-sudoku-cell", { tabindex: cell ? -1 : 0 }, pass, digit);
    for (const name of ["pointerenter", "focus"])
      node.addEventListener(name, () => actions.hover(cell));
    for (const name of ["pointerleave", "blur"])
      node.addEventListener(name, () => actions.hover(null));
    node.addEventListener("click", () => actions.toggleHold(cell));
    node.addEventListener("keydown", (event) => this.moveFocus(event, cell));
    return { node, digit, pass };
  }

  /** Let the arrow keys walk the grid, of which Tab reaches the cell left last. */
  moveFocus(event: KeyboardEvent, cell: number) {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -4, ArrowDown: 4 }[event.key];
    const next = this.cells[cell + (by ?? Number.NaN)]?.node;
    if (!by) return;
    event.preventDefault();
    if (!next) return;
    for (const { node } of this.cells) node.tabIndex = node === next ? 0 : -1;
    next.focus();
  }

  update(view: View) {
    const puzzle = puzzleIn(view.run.prompt);
    this.root.hidden = puzzle === null;
    if (puzzle === null) return;
    const digits = cellTexts(view);
    const broken = brokenCells(puzzle, digits);
    this.cells.forEach((parts, cell) => {
      this.showCell(view, cell, parts, { given: puzzle[cell] ?? "0", isBroken: broken.has(cell) });
    });
    const { main, pins, strategy } = view.run;
    const isOver = main.finish !== null && view.pass >= main.lastPass;
    const words = html`<div class="sbd-sudoku-grid">${this.cells.map(({ node }) => node)}</div>
      <div class="sbd-sudoku-words">
        <h3>The same tokens as a grid</h3>
        <p class="sbd-sudoku-verdict ${broken.size ? "is-broken" : ""}"
          >${sudokuVerdict(numWritten(digits), broken.size, isOver)}</p>
        <p class="sbd-sudoku-key"
          >${KEY_WORDS}${strategy === "verify" ? STRUCK_WORDS : ""}${pins.size ? PIN_WORDS : ""}</p>
      </div>`;
    render(words, this.root);
  }

  showCell(
    view: View,
    cell: number,
    { node, digit, pass }: ReturnType<SudokuView["makeCell"]>,
    { given, isBroken }: { given: string; isBroken: boolean },
  ) {
    const state = tileState(view, cell);
    const look = classes({
      "is-given": given !== "0",
      "is-broken": isBroken,
      "is-focused": view.focus === cell && view.showsFocus,
    });
    setAttribute(node, "class", `sbd-sudoku-cell is-${state.kind} ${look}`);
    const unknown = given === "0" ? "\u200a" : given;
    const text = state.token === undefined ? unknown : view.run.tokenText(state.token);
    render(tokenTemplate(text), digit);
    setText(pass, given === "0" ? this.mark(state) : "");
    setStyle(
      node,
      "--ink",
      state.entropy === null ? "transparent" : entropyColour(state.entropy, view.isDark),
    );
    const words =
      `Row ${Math.floor(cell / 4) + 1}, column ${(cell % 4) + 1}` +
      `${given === "0" ? "" : `, ${given} in the puzzle`}${isBroken ? ", breaks a rule" : ""}`;
    setAttribute(node, "aria-label", `${words}. ${positionTitle(view, cell, state)}`);
  }
}

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

/** Return the 16 digits that end a prompt, 0 for a blank; null if the prompt asks for no 4x4 sudoku. */
export function puzzleIn(prompt: string) {
  return PROMPT.exec(prompt)?.[1] ?? null;
}

/**
 * Return the cells whose digit differs from the puzzle's, is repeated in its row, column or box, or is not 1 to 4.
 * @param digits of the cells; null where nothing is written
 */
export function brokenCells(puzzle: string, digits: (string | null)[]) {
  const broken: Set<number> = new Set();
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

export function numWritten(digits: (string | null)[]) {
  return digits.filter((digit) => digit !== null && /^\d$/.test(digit)).length;
}

export function sudokuVerdict(numFilled: number, numBroken: number, isOver: boolean) {
  const breaks = `${numBroken} ${numBroken === 1 ? "cell breaks" : "cells break"} a rule`;
  if (numFilled === SUDOKU_CELLS) {
    return numBroken ? `Not solved: ${breaks}.` : "Solved: no rule is broken.";
  }
  const filled = `${numFilled} of ${SUDOKU_CELLS} cells written`;
  const words = numBroken ? `${filled}; ${breaks}.` : `${filled}.`;
  return isOver ? `Not solved: ${words}` : words;
}

/** Whether the first 16 tokens fill the grid, each with one digit. */
export function answersInCells(texts: string[]) {
  const cells = texts.slice(0, SUDOKU_CELLS);
  return cells.length === SUDOKU_CELLS && cells.every((text) => /^\s?\d$/.test(text));
}
