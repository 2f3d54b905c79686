// Shows the answer to a 4x4 sudoku, one token a cell, also as a grid. The puzzle's digits are marked, cells fill in as
// they are revealed, and digits that break a rule are marked.

import { html, render } from "lit-html";
import { entropyColour } from "../core/colours.ts";
import { make } from "../dom/elements.ts";
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
  tabStop = 0; // the cell that Tab reaches: the one that the arrow keys left last
  root = make("section", "sbd-sudoku", { "aria-label": "The block as a sudoku grid" });

  /** @param mark of how a digit came */
  constructor(
    readonly actions: Pointing,
    readonly mark = passMark,
  ) {}

  get nodes() {
    return [...this.root.querySelectorAll<HTMLElement>(".sbd-sudoku-cell")];
  }

  /** Let the arrow keys walk the grid. */
  moveFocus(event: KeyboardEvent, cell: number) {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -4, ArrowDown: 4 }[event.key];
    if (!by) return;
    event.preventDefault();
    const next = this.nodes[cell + by];
    if (!next) return;
    this.tabStop = cell + by;
    next.focus();
  }

  update(view: View) {
    const puzzle = puzzleIn(view.run.prompt);
    this.root.hidden = puzzle === null;
    if (puzzle === null) return;
    const digits = cellTexts(view);
    const broken = brokenCells(puzzle, digits);
    const cells = [...puzzle].map((given, cell) => this.cell(view, cell, given, broken.has(cell)));
    const { pins, strategy } = view.run;
    const words = html`<div class="sbd-sudoku-grid">${cells}</div>
      <div class="sbd-sudoku-words">
        <h3>The same tokens as a grid</h3>
        <p class="sbd-sudoku-verdict ${broken.size ? "is-broken" : ""}"
          >${sudokuVerdict(numWritten(digits), broken.size, view.isOver)}</p>
        <p class="sbd-sudoku-key"
          >${KEY_WORDS}${strategy === "verify" ? STRUCK_WORDS : ""}${pins.size ? PIN_WORDS : ""}</p>
      </div>`;
    render(words, this.root);
  }

  /** @param given the puzzle's digit, 0 for a blank */
  cell(view: View, cell: number, given: string, isBroken: boolean) {
    const state = tileState(view, cell);
    const isBlank = given === "0";
    const look = classes({
      "is-given": !isBlank,
      "is-broken": isBroken,
      "is-focused": view.focus === cell && view.showsFocus,
    });
    const unknown = isBlank ? "\u200a" : given;
    const text = state.token === undefined ? unknown : view.run.tokenText(state.token);
    const ink = state.entropy === null ? "transparent" : entropyColour(state.entropy, view.isDark);
    const words =
      `Row ${Math.floor(cell / 4) + 1}, column ${(cell % 4) + 1}` +
      `${isBlank ? "" : `, ${given} in the puzzle`}${isBroken ? ", breaks a rule" : ""}`;
    const point = () => this.actions.hover(cell);
    const leave = () => this.actions.hover(null);
    return html`<button
      type="button"
      class="sbd-sudoku-cell is-${state.kind} ${look}"
      tabindex=${cell === this.tabStop ? 0 : -1}
      style="--ink: ${ink}"
      aria-label="${words}. ${positionTitle(view, cell, state)}"
      @pointerenter=${point}
      @focus=${point}
      @pointerleave=${leave}
      @blur=${leave}
      @click=${() => this.actions.toggleHold(cell)}
      @keydown=${(event: KeyboardEvent) => this.moveFocus(event, cell)}
      ><span class="sbd-sudoku-pass">${isBlank ? this.mark(state) : ""}</span
      ><span class="sbd-sudoku-digit">${tokenTemplate(text)}</span></button>`;
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
