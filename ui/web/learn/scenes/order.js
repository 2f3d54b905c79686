// Out of order: a sudoku. The reader chooses a cell, then the model fills them, the surest first.

import { countOf } from "../../core/numbers.js";
import { puzzleIn, SUDOKU_CELLS } from "../../core/sudoku.js";
import { make, setText } from "../../dom/elements.js";
import { SudokuView } from "../../watch/sudoku.js";
import { Figure } from "../figure.js";

/** @import { View } from "../../watch/view.js" */
/** @import { MakeScene } from "../view.js" */

/** @type {MakeScene} */
export function makeOrderScene({ lesson, signal, did, say }) {
  const { order } = lesson;
  const { sudoku: run } = lesson.runs;
  const { main } = run;
  const puzzle = puzzleIn(run.prompt) ?? "";
  const figure = new Figure(run, signal);
  const view = new SudokuView(figure.actions({ hold: (cell) => choose(cell) }));
  const passOf = (/** @type {number} */ cell) => main.fixed.get(cell)?.pass ?? 0;
  const solved = Math.max(...Array.from({ length: SUDOKU_CELLS }, (_, cell) => passOf(cell)));
  const first = puzzle.indexOf("0");
  const news = make("p", "sbd-learn-yours", { role: "status" });
  const calls = make("ol", "sbd-learn-calls-list");
  /** @type {number | null} */
  let chosen = null;
  view.cells.forEach(({ node }, cell) => {
    node.setAttribute("tabindex", puzzle[cell] === "0" ? "0" : "-1");
  });
  const question = make(
    "span",
    "sbd-learn-open",
    { "aria-hidden": "true" },
    `${order.candidates.split("").join(" or ")}?`,
  );
  if (order.settled_by.length) view.cells[first]?.node.append(question);
  figure.add(view, { update: (shown) => update(shown) });
  figure.seek(0, false);

  /** @param {View} shown */
  function update(shown) {
    question.hidden = main.fixedAt(first, shown.pass) !== null;
    tellCalls(shown);
  }

  /** @param {View} shown */
  function tellCalls({ pass }) {
    const lines = main.steps[0]?.reveals.length ? [] : ["call 1: reads the prompt"];
    for (let at = 0; at <= Math.min(pass, solved); at += 1) {
      const blanks = main.steps[at]?.reveals.filter(({ position }) => puzzle[position] === "0");
      const cells = (blanks ?? []).map(({ position }) => cellName(position));
      if (cells.length) lines.push(`call ${at + 1}: ${cells.join(", ")}`);
    }
    if (calls.childElementCount === lines.length) return;
    calls.replaceChildren(...lines.map((line) => make("li", "", {}, line)));
  }

  /** @param {number} cell */
  function choose(cell) {
    if (chosen !== null || puzzle[cell] !== "0") return;
    chosen = cell;
    view.cells[cell]?.node.setAttribute("data-chosen", "");
    answer();
  }

  function answer() {
    const own = chosen === null ? "" : `You chose ${cellName(chosen)}: `;
    if (own) setText(news, `${own}and the model …`);
    figure.play(solved, () => {
      const call = chosen === null ? "" : `the model filled it in call ${passOf(chosen) + 1}. `;
      const words = `${own}${call}${firstWords()}`;
      setText(news, words);
      say(words);
    });
    did();
  }

  /** What became of the first empty cell. */
  function firstWords() {
    const name = cellName(first);
    const came = `came in call ${passOf(first) + 1} of ${solved + 1}`;
    if (!order.settled_by.length) return `The first empty cell, ${name}, ${came}.`;
    const open = order.candidates.split("").join(" or ");
    const others = order.settled_by.map(
      (cell) =>
        `${run.tokenText(main.fixed.get(cell)?.token).trim()} in ${cellName(cell)} (call ${passOf(cell) + 1})`,
    );
    return `${capital(name)}, by the givens ${open}, ${came}: settled by ${others.join(" and ")}.`;
  }

  const root = make(
    "div",
    "sbd-learn-order",
    {},
    view.root,
    make(
      "div",
      "sbd-learn-order-side",
      {},
      make(
        "p",
        "sbd-learn-source",
        {},
        `A sudoku of ${countOf(4, "row")}: each row, column and box holds 1 to 4. Outlined cells are given; the model copies them. A small number is the call that filled the cell, the one you click is dashed.`,
      ),
      make("h3", "", {}, "Empty cells in the order of the calls that filled them"),
      calls,
      news,
    ),
  );
  return { root, answer };
}

/** @param {number} cell */
function cellName(cell) {
  return `row ${Math.floor(cell / 4) + 1} column ${(cell % 4) + 1}`;
}

/** @param {string} text */
function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
