// Out of order: a sudoku. The reader chooses a cell, then the model fills them, the surest first.

import { puzzleIn, SUDOKU_CELLS } from "../../core/sudoku.js";
import { capital } from "../../core/text/letters.js";
import { make, setText } from "../../dom/elements.js";
import { SudokuView } from "../../watch/sudoku.js";
import { Figure } from "../figure.js";
import { makeCallNumbers } from "../parts/calls.js";
import { fillWords } from "../states.js";

/** @import { Lane } from "../../core/run/lane.js" */
/** @import { View } from "../../watch/view.js" */
/** @import { Lesson } from "../lesson.js" */
/** @import { MakeScene } from "../view.js" */

const SOURCE =
  "Each row, column and box of 2 by 2 holds 1 to 4. Outlined: a digit of the puzzle. Small number: the " +
  "call that filled the cell; colour: how unsure the model was.";

/**
 * The pass that filled a cell.
 * @param {Lane} lane
 * @param {number} cell
 */
function passOf(lane, cell) {
  return lane.fixed.get(cell)?.pass ?? 0;
}

/**
 * The pass that filled the last cell.
 * @param {Lane} lane
 */
function solvedPass(lane) {
  return Math.max(...Array.from({ length: SUDOKU_CELLS }, (_, cell) => passOf(lane, cell)));
}

/**
 * The calls up to a pass, each with the empty cells that it filled.
 * @param {Lane} lane
 * @param {string} puzzle
 */
function makeCalls(lane, puzzle) {
  const root = make("ol", "sbd-learn-calls-list");
  const solved = solvedPass(lane);
  /** @param {View} view */
  function update({ pass }) {
    const lines = lane.steps[0]?.reveals.length ? [] : ["call 1: reads the prompt, without masks"];
    for (let at = 0; at <= Math.min(pass, solved); at += 1) {
      const blanks = lane.steps[at]?.reveals.filter(({ position }) => puzzle[position] === "0");
      const cells = (blanks ?? []).map(({ position }) => cellName(position));
      if (cells.length) lines.push(`call ${at + 1}: ${cells.join(", ")}`);
    }
    if (root.childElementCount === lines.length) return;
    root.replaceChildren(...lines.map((line) => make("li", "", {}, line)));
  }
  return { root, update };
}

/**
 * What the givens leave to the first empty cell, in it until it is filled.
 * @param {Lane} lane
 * @param {number} first
 * @param {string} candidates
 */
function makeQuestion(lane, first, candidates) {
  const words = `${candidates.split("").join(" or ")}?`;
  const root = make("span", "sbd-learn-open", { "aria-hidden": "true" }, words);
  /** @param {View} view */
  function update({ pass }) {
    root.hidden = lane.fixedAt(first, pass) !== null;
  }
  return { root, update };
}

/**
 * What became of the first empty cell.
 * @param {Lesson} lesson
 * @param {number} first
 */
function firstWords({ order, runs: { sudoku: run } }, first) {
  const { main } = run;
  const name = cellName(first);
  const came = `came in ${fillWords(passOf(main, first) + 1, solvedPass(main) + 1)}`;
  if (!order.settled_by.length) return `The first empty cell, ${name}, ${came}.`;
  const open = order.candidates.split("").join(" or ");
  const others = order.settled_by.map((cell) => {
    const digit = run.tokenText(main.fixed.get(cell)?.token).trim();
    return `${digit} in ${cellName(cell)} (call ${passOf(main, cell) + 1})`;
  });
  const settled = Math.max(...order.settled_by.map((cell) => passOf(main, cell)));
  const waited =
    passOf(main, first) > settled + 1
      ? " Logic would fill it next; the model was surer of others."
      : "";
  return `${capital(name)}, which the givens leave ${open}, ${came}: settled by ${others.join(" and ")}.${waited}`;
}

/** @type {MakeScene} */
export function makeOrderScene({ lesson, signal, did, say }) {
  const { sudoku: run } = lesson.runs;
  const { main } = run;
  const puzzle = puzzleIn(run.prompt) ?? "";
  const first = puzzle.indexOf("0");
  const figure = new Figure(run, signal);
  const view = new SudokuView(figure.actions({ hold: (cell) => choose(cell) }));
  const question = makeQuestion(main, first, lesson.order.candidates);
  const calls = makeCalls(main, puzzle);
  const news = make("p", "sbd-learn-yours", { role: "status" });
  /** @type {number | null} */
  let chosen = null;
  view.cells.forEach(({ node }, cell) => {
    node.setAttribute("tabindex", puzzle[cell] === "0" ? "0" : "-1");
  });
  if (lesson.order.settled_by.length) view.cells[first]?.node.append(question.root);
  figure.add(view, makeCallNumbers(view.root), question, calls);
  figure.seek(0, false);

  /** @param {number} cell */
  function choose(cell) {
    if (chosen !== null || puzzle[cell] !== "0") return;
    chosen = cell;
    view.cells[cell]?.node.setAttribute("data-chosen", "");
    answer();
  }

  function answer() {
    const own = chosen === null ? "" : `You chose ${cellName(chosen)}: `;
    const call = chosen === null ? "" : `the model filled it in call ${passOf(main, chosen) + 1}. `;
    if (own) setText(news, `${own}and the model …`);
    figure.play(solvedPass(main), () => {
      const words = `${own}${call}${firstWords(lesson, first)}`;
      setText(news, words);
      say(words);
    });
    did();
  }

  const source = make("p", "sbd-learn-source", {}, SOURCE);
  const title = make("h3", "", {}, "Empty cells, call by call");
  const side = make("div", "sbd-learn-order-side", {}, source, title, calls.root, news);
  return { root: make("div", "sbd-learn-order", {}, view.root, side), answer };
}

/** @param {number} cell */
function cellName(cell) {
  return `row ${Math.floor(cell / 4) + 1} column ${(cell % 4) + 1}`;
}
