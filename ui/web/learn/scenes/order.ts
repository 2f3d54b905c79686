// The scene “Out of order”: a sudoku. The reader chooses an empty cell; then the model fills all, the surest first.

import { html } from "lit-html";
import { capital } from "../../core/letters.ts";
import type { Lane } from "../../core/run.ts";
import { make } from "../../dom/elements.ts";
import { puzzleIn, SUDOKU_CELLS, SudokuView } from "../../watch/sudoku.ts";
import { passMark } from "../../watch/tiles.ts";
import { Figure, news } from "../parts.ts";
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

function passOf(lane: Lane, cell: number) {
  return lane.fixed.get(cell)?.pass ?? 0;
}

function solvedPass(lane: Lane) {
  return Math.max(...Array.from({ length: SUDOKU_CELLS }, (_, cell) => passOf(lane, cell)));
}

/** Return a list of the forward passes with the empty cells that each filled; later ones are hidden but keep their space. */
function passList(lane: Lane, puzzle: string, now: number) {
  const lines = lane.steps.slice(0, solvedPass(lane) + 1).map(({ reveals }, pass) => {
    const blanks = reveals.filter(({ position }) => puzzle[position] === "0");
    const cells = blanks.map(({ position }) => cellName(position)).join(", ");
    if (!cells && pass > 0) return "";
    const words = cells || "reads the prompt, fills none";
    return html`<li class=${pass > now ? "is-ahead" : ""}>${pass + 1}: ${words}</li>`;
  });
  return html`<ol class="sbd-learn-passes-list">${lines}</ol>`;
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

export const makeOrderScene: MakeScene = ({ lesson, signal, onActed, say, draw }) => {
  const { sudoku: run } = lesson.runs;
  const { main } = run;
  const { order } = lesson;
  const puzzle = puzzleIn(run.prompt) ?? "";
  const first = puzzle.indexOf("0");
  const figure = new Figure(run, signal);
  const grid = new SudokuView(figure.actions({ toggleHold: choose }), passNumber);
  // On the first empty cell, until the model guesses there: the digits that the givens leave.
  const open = `${order.candidates.split("").join(" or ")}?`;
  const question = make("span", "sbd-learn-open", { "aria-hidden": "true" }, open);
  let words = "";
  let chosen: number | null = null;
  let isAnswered = false;
  let now = 0;
  function update(pass: number) {
    for (const [cell, node] of grid.nodes.entries()) {
      node.tabIndex = puzzle[cell] === "0" ? 0 : -1;
      node.toggleAttribute("data-chosen", cell === chosen);
    }
    if (order.settled_by.length) grid.nodes[first]?.append(question);
    const isGuessed = main.steps[pass]?.masked.has(first) ?? false;
    question.hidden = isGuessed || main.fixedAt(first, pass) !== null;
    now = pass;
    draw();
  }
  figure.add(grid, { update: ({ pass }) => update(pass) });
  figure.seek(0, false);

  function tell(next: string) {
    words = next;
    draw();
  }
  function choose(cell: number) {
    if (chosen !== null) return;
    if (puzzle[cell] !== "0") {
      if (!isAnswered) tell(`${capital(cellName(cell))} is given: choose an empty cell.`);
      return;
    }
    chosen = cell;
    answer();
  }

  /** Say how the model filled the cell that the reader chose, if one was, and the first empty one. */
  function outcome() {
    if (chosen === null || chosen === first) return firstWords(lesson, first);
    const came = `it came in forward pass ${passOf(main, chosen) + 1}`;
    return `${ownWords(chosen)}${came}. ${firstWords(lesson, first)}`;
  }

  function answer() {
    isAnswered = true;
    if (chosen !== null) tell(`${ownWords(chosen)}and the model …`);
    figure.play(solvedPass(main), () => {
      tell(outcome());
      say(outcome());
    });
    onActed();
  }
  const view = () =>
    html`<div class="sbd-learn-order">
      ${grid.root}
      <div class="sbd-learn-order-side">
        <p class="sbd-learn-source">${SOURCE}</p>
        <h3>Filled by each forward pass</h3>
        ${passList(main, puzzle, now)}${news(words)}
      </div>
    </div>`;
  return { view, answer };
};

/** Name the forward pass that filled a cell by its number alone. */
const passNumber: typeof passMark = (state) => passMark(state).replace("#", "");

function ownWords(cell: number) {
  return `You chose ${cellName(cell)}: `;
}

function cellName(cell: number) {
  return `row ${Math.floor(cell / 4) + 1} column ${(cell % 4) + 1}`;
}
