// The table of a race. A row fills in when its lane crosses the line; what compares it with next-token
// prediction, once that has crossed it too.

import { asShownInRace, countOf, raceSeconds } from "../core/numbers.js";
import { fasterWords, timesLess } from "../core/run/times.js";
import { numMissing } from "../core/text/diff.js";
import { make, setText } from "../dom/elements.js";
import { question, term } from "../dom/terms.js";

/** @import { BoardRow, Comparison } from "./board.js" */

const COLUMNS = [
  "Forward passes",
  "Tokens",
  "Engine time, one timing",
  "Speed per token",
  "Differs from next-token",
];
const FIRST_COMPARED = 3; // this column and those after it compare with next-token prediction
/** @type {Record<string, string>} what a lane is, by its name: words of the glossary */
const LANE_TERMS = {
  ntp: "ntp",
  "sbd-low": "gamma",
  "sbd-high": "gamma",
  verify: "verify",
  "verify-predraft": "predraft",
};
const UNKNOWN = "–";

/**
 * How a lane's answer compares with next-token prediction's, in words.
 * @param {BoardRow} row
 * @param {Comparison | null} comparison
 */
function verdictWords({ name, num_tokens: numTokens }, comparison) {
  if (!comparison) return UNKNOWN;
  if (name === "ntp") return "the measure";
  const numDiffering = comparison.differing.size;
  const missing = numMissing(comparison);
  const parts = [];
  if (numDiffering) parts.push(`${countOf(numDiffering, "token")} of ${numTokens}`);
  if (missing) parts.push(`${missing} missing`);
  if (parts.length) return parts.join(", ");
  return name.startsWith("verify") ? "identical, as promised" : "identical";
}

/**
 * How a lane's time for a token compares with next-token prediction's, in words.
 * @param {BoardRow} row
 * @param {BoardRow | undefined} plain
 */
export function paceWords(row, plain) {
  if (!plain) return UNKNOWN;
  if (row === plain) return "the measure";
  const [own, other] = [asShownInRace(row.seconds), asShownInRace(plain.seconds)];
  return fasterWords(timesLess(own, row.num_tokens, other, plain.num_tokens)) || UNKNOWN;
}

/**
 * @param {BoardRow} row
 * @param {BoardRow | undefined} plain
 * @param {Comparison | null} comparison
 */
function rowWords(row, plain, comparison) {
  return [
    String(row.num_passes),
    String(row.num_tokens),
    raceSeconds(row.seconds),
    paceWords(row, plain),
    verdictWords(row, comparison),
  ];
}

/**
 * The table, its rows empty until they have finished.
 * @param {BoardRow[]} rows
 * @param {(Comparison | null)[]} comparisons
 * @param {string} words about the times
 */
export function makeRaceTable(rows, comparisons, words) {
  const about = question("how the lanes were timed", words);
  const plain = rows.find(({ name }) => name === "ntp");
  const bodies = rows.map((row, index) => {
    const cells = COLUMNS.map((name) => make("td", "", { "data-name": name }));
    const key = LANE_TERMS[row.name];
    const head = make("th", "", { scope: "row" }, key ? term(key, row.label) : row.label);
    const node = make("tr", `sbd-race-${row.name}`, {}, head, ...cells);
    return { node, cells, words: rowWords(row, plain, comparisons[index] ?? null) };
  });
  const heads = ["Lane", ...COLUMNS].map((name) => make("th", "", { scope: "col" }, name));
  const root = make(
    "table",
    "sbd-race-table",
    {},
    make("caption", "", {}, "Result", about),
    make("thead", "", {}, make("tr", "", {}, ...heads)),
    make("tbody", "", {}, ...bodies.map(({ node }) => node)),
  );

  /**
   * Show the figures of the lanes that have finished: one flag a row.
   * @param {boolean[]} finished
   */
  function update(finished) {
    const canCompare = !plain || (finished[rows.indexOf(plain)] ?? false);
    bodies.forEach(({ node, cells, words }, index) => {
      const isFinished = finished[index] ?? false;
      node.classList.toggle("is-open", !isFinished);
      for (const [column, cell] of cells.entries()) {
        const isKnown = isFinished && (canCompare || column < FIRST_COMPARED);
        setText(cell, isKnown ? (words[column] ?? UNKNOWN) : "…");
      }
    });
  }

  return { root, update };
}
