// A 4x4 sudoku in the prompt: its answer, a token a cell, also as a grid. Givens are marked, cells
// fill in as they are revealed, and a digit that breaks a rule of the puzzle says so.

const SUDOKU_CELLS = 16;
const SUDOKU_PROMPT = /(?:^|\D)([0-4]{16})\s*$/;
const SUDOKU_UNITS = [0, 1, 2, 3].flatMap((unit) => {
  const corner = [0, 2, 8, 10][unit];
  return [[0, 1, 2, 3].map((i) => 4 * unit + i), [0, 1, 2, 3].map((i) => 4 * i + unit),
    [corner, corner + 1, corner + 4, corner + 5]];
});

/** The 16 digits that end a prompt, 0 for a blank; null if the prompt asks for no 4x4 sudoku. */
function puzzleIn(prompt) {
  return SUDOKU_PROMPT.exec(prompt)?.[1] ?? null;
}

/** Cells whose digit differs from its given, stands twice in a unit, or is no digit 1 to 4. */
function brokenCells(puzzle, digits) {
  const broken = new Set();
  digits.forEach((digit, cell) => {
    if (digit === null) return;
    const isGivenKept = puzzle[cell] === "0" || puzzle[cell] === digit;
    if (!isGivenKept || !/^[1-4]$/.test(digit)) broken.add(cell);
  });
  for (const unit of SUDOKU_UNITS) {
    for (const cell of unit) {
      const isTwice = digits[cell] !== null && unit.some((other) =>
        other !== cell && digits[other] === digits[cell]);
      if (isTwice) broken.add(cell);
    }
  }
  return broken;
}

function sudokuVerdict(view, numFilled, numBroken) {
  const breaks = `${numBroken} ${numBroken === 1 ? "cell breaks" : "cells break"} a rule`;
  if (numFilled === SUDOKU_CELLS) return numBroken ? `Not solved: ${breaks}.` : "Solved: no rule is broken.";
  const isOver = view.run.main.finish !== null && view.pass >= view.run.main.lastPass;
  const filled = `${numFilled} of ${SUDOKU_CELLS} cells filled`;
  if (isOver) return `Not solved: ${filled}.`;
  return numBroken ? `${filled}; ${breaks}.` : `${filled}.`;
}

class SudokuView {
  constructor(actions) {
    this.cells = Array.from({ length: SUDOKU_CELLS }, (_, cell) => this.makeCell(cell, actions));
    this.verdict = make("p", "sbd-sudoku-verdict");
    this.root = make("section", "sbd-sudoku", { "aria-label": "The block as a sudoku grid" },
      make("div", "sbd-sudoku-grid", {}, ...this.cells.map((cell) => cell.node)),
      make("div", "sbd-sudoku-words", {}, make("h3", "", {}, "The same tokens as a grid"), this.verdict,
        make("p", "sbd-sudoku-key", {}, "Outlined: a given of the puzzle. The small number is the " +
          "pass that revealed the cell; a pale digit is the best guess so far.")));
  }

  makeCell(cell, actions) {
    const digit = make("span", "sbd-sudoku-digit");
    const pass = make("span", "sbd-sudoku-pass");
    const node = make("button", "sbd-sudoku-cell", { type: "button", tabindex: "-1" }, pass, digit);
    node.addEventListener("pointerenter", () => actions.hover(cell));
    node.addEventListener("pointerleave", () => actions.hover(null));
    node.addEventListener("click", () => actions.hold(cell));
    return { node, digit, pass };
  }

  update(view) {
    const puzzle = puzzleIn(view.run.prompt);
    this.root.hidden = puzzle === null;
    if (puzzle === null) return;
    const digits = this.cells.map((_, cell) => {
      const item = view.run.main.fixedAt(cell, view.pass);
      return item ? view.run.tokenText(item.token).trim() : null;
    });
    const broken = brokenCells(puzzle, digits);
    this.cells.forEach((_, cell) => this.showCell(view, cell, puzzle[cell], broken.has(cell)));
    const numFilled = digits.filter((digit) => digit !== null).length;
    setText(this.verdict, sudokuVerdict(view, numFilled, broken.size));
    this.verdict.classList.toggle("is-broken", broken.size > 0);
  }

  showCell(view, cell, given, isBroken) {
    const { node, digit, pass } = this.cells[cell];
    const state = tileState(view, cell);
    const classes = ["sbd-sudoku-cell", `is-${state.kind}`];
    if (given !== "0") classes.push("is-given");
    if (isBroken) classes.push("is-broken");
    if (view.focus === cell && view.showsFocus) classes.push("is-focused");
    if (node.className !== classes.join(" ")) node.className = classes.join(" ");
    const unknown = given === "0" ? "\u200a" : given;
    showToken(digit, state.token === undefined ? unknown : view.run.tokenText(state.token));
    setText(pass, state.item ? String(state.item.pass + 1) : "");
    setStyle(node, "--ink", state.entropy === null
      ? "transparent" : entropyColour(state.entropy, view.isDark));
    const words = `Row ${Math.floor(cell / 4) + 1}, column ${(cell % 4) + 1}` +
      `${given === "0" ? "" : `, given ${given}`}${isBroken ? ", breaks a rule" : ""}`;
    setAttribute(node, "aria-label", `${words}. ${positionTitle(view, cell, state)}`);
  }
}
