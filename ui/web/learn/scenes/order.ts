// The scene “Out of order”: a sudoku. The reader chooses an empty cell; then the model fills all, the surest first.

import { capital } from "../../core/letters.ts";
import type { Lane } from "../../core/run.ts";
import { make, setText } from "../../dom/elements.ts";
import type { View } from "../../watch/playhead.ts";
import { puzzleIn, SUDOKU_CELLS, SudokuView } from "../../watch/sudoku.ts";
import { Figure, makeSizedBox, nameCellPasses } from "../parts.ts";
import type { Lesson, MakeScene } from "../view.ts";

const SOURCE =
  "Each row, column and box of 2 by 2 holds 1 to 4. Grey: given. Small number: the forward pass that filled the cell.";

/**
 * Name the forward pass that filled a cell, and the last one that filled any, as later ones write the end. Both are
 * counted from 1.
 */
export function fillWords(pass: number, last: number) {
  const rest =
    pass === last ? "the last that fills a cell" : `forward pass ${last} fills the last cell`;
  return `forward pass ${pass} (${rest})`;
}

/** Return the pass that filled a cell. */
function passOf(lane: Lane, cell: number) {
  return lane.fixed.get(cell)?.pass ?? 0;
}

/** Return the pass that filled the last cell. */
function solvedPass(lane: Lane) {
  return Math.max(...Array.from({ length: SUDOKU_CELLS }, (_, cell) => passOf(lane, cell)));
}

/**
 * Make a list of the forward passes with the empty cells that each filled; later ones are hidden but keep their space.
 * @param puzzle its digits, 0 for an empty cell
 */
function makePasses(lane: Lane, puzzle: string) {
  const lines = lane.steps.slice(0, solvedPass(lane) + 1).flatMap(({ reveals }, pass) => {
    const blanks = reveals.filter(({ position }) => puzzle[position] === "0");
    const cells = blanks.map(({ position }) => cellName(position)).join(", ");
    if (!cells && pass > 0) return [];
    return [
      { pass, node: make("li", "", `${pass + 1}: ${cells || "reads the prompt, fills none"}`) },
    ];
  });
  const root = make("ol", "sbd-learn-passes-list", ...lines.map(({ node }) => node));
  function update({ pass }: View) {
    for (const { pass: own, node } of lines) node.classList.toggle("is-ahead", own > pass);
  }
  return { root, update };
}

/**
 * Make a label on the first empty cell with the digits that the givens leave, shown until the model guesses there.
 * @param first the cell
 * @param candidates the digits
 */
function makeQuestion(lane: Lane, first: number, candidates: string) {
  const words = `${candidates.split("").join(" or ")}?`;
  const root = make("span", "sbd-learn-open", { "aria-hidden": "true" }, words);
  function update({ pass }: View) {
    const isGuessed = lane.steps[pass]?.masked.has(first) ?? false;
    root.hidden = isGuessed || lane.fixedAt(first, pass) !== null;
  }
  return { root, update };
}

/** Say when the first empty cell was filled, and what it waited for. */
function firstWords({ order, runs: { sudoku: run } }: Lesson, first: number) {
  const { main } = run;
  const name = cellName(first);
  const came = `came in ${fillWords(passOf(main, first) + 1, solvedPass(main) + 1)}`;
  if (!order.settled_by.length) return `The first empty cell, ${name}, ${came}.`;
  const open = order.candidates.split("").join(" or ");
  const others = order.settled_by.map((cell) => {
    const digit = run.tokenText(main.fixed.get(cell)?.token).trim();
    return `the ${digit} in ${cellName(cell)} (forward pass ${passOf(main, cell) + 1})`;
  });
  const settled = Math.max(...order.settled_by.map((cell) => passOf(main, cell)));
  const waited =
    passOf(main, first) > settled + 1
      ? " Logic would fill it next; the model was surer of others."
      : "";
  return `${capital(name)} could be ${open} until ${others.join(" and ")} settled it: it ${came}.${waited}`;
}

export const makeOrderScene: MakeScene = ({ lesson, signal, onActed, say }) => {
  const { sudoku: run } = lesson.runs;
  const { main } = run;
  const puzzle = puzzleIn(run.prompt) ?? "";
  const first = puzzle.indexOf("0");
  const figure = new Figure(run, signal);
  const view = new SudokuView(figure.actions({ toggleHold: (cell) => choose(cell) }));
  const question = makeQuestion(main, first, lesson.order.candidates);
  const passes = makePasses(main, puzzle);
  const news = make("p", "sbd-learn-yours", { role: "status" });
  const empty = [...puzzle].flatMap((digit, cell) => (digit === "0" ? [cell] : []));
  let chosen: number | null = null;
  let isAnswered = false;
  view.cells.forEach(({ node }, cell) => {
    node.setAttribute("tabindex", puzzle[cell] === "0" ? "0" : "-1");
  });
  if (lesson.order.settled_by.length) view.cells[first]?.node.append(question.root);
  figure.add(view, nameCellPasses(view.root), question, passes);
  figure.seek(0, false);

  function choose(cell: number) {
    if (chosen !== null) return;
    if (puzzle[cell] !== "0") {
      if (!isAnswered) setText(news, `${capital(cellName(cell))} is given: choose an empty cell.`);
      return;
    }
    chosen = cell;
    view.cells[cell]?.node.setAttribute("data-chosen", "");
    answer();
  }

  /** @param cell that the reader chose, null for none */
  function wordsFor(cell: number | null) {
    if (cell === null || cell === first) return firstWords(lesson, first);
    const came = `it came in forward pass ${passOf(main, cell) + 1}`;
    return `${ownWords(cell)}${came}. ${firstWords(lesson, first)}`;
  }

  function answer() {
    isAnswered = true;
    if (chosen !== null) setText(news, `${ownWords(chosen)}and the model …`);
    figure.play(solvedPass(main), () => {
      setText(news, wordsFor(chosen));
      say(wordsFor(chosen));
    });
    onActed();
  }

  const source = make("p", "sbd-learn-source", SOURCE);
  const title = make("h3", "", "Filled by each forward pass");
  const side = make(
    "div",
    "sbd-learn-order-side",
    source,
    title,
    passes.root,
    makeSizedBox(news, empty.map(wordsFor)),
  );
  return { root: make("div", "sbd-learn-order", view.root, side), answer };
};

function ownWords(cell: number) {
  return `You chose ${cellName(cell)}: `;
}

function cellName(cell: number) {
  return `row ${Math.floor(cell / 4) + 1} column ${(cell % 4) + 1}`;
}
