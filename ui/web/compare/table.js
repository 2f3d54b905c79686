// The table under the lanes. A row fills in when its lane is whole; what compares it with next-token
// prediction, once that is whole too. Everything is by the token, as answers differ in length.

import { asShownInRace, raceSeconds } from "../core/numbers.js";
import { fasterWords, timesLess } from "../core/times.js";
import { strategyOf } from "../core/words.js";
import { make, setText } from "../dom/elements.js";
import { question } from "../dom/terms.js";

/** @import { Lane, Run } from "../core/run.js" */
/** @import { LaneCard } from "./lane.js" */

const COLUMNS = [
  "Forward passes",
  "Tokens",
  "Tokens a pass",
  "Time a token",
  "By the clock",
  "Differs from next-token",
];
const FIRST_COMPARED = 4; // this column and those after it compare with next-token prediction
const UNKNOWN = "–";

/** @param {Lane} lane */
const secondsOf = (lane) => lane.secondsAt(lane.lastPass) / Math.max(lane.numCommitted, 1);

/** How a lane's answer compares with next-token prediction's, in words. @param {LaneCard} card */
function differsWords({ lane, comparison }) {
  if (!comparison || lane.name === "ntp") return UNKNOWN;
  if (comparison.words) return comparison.words;
  return lane.name.startsWith("verify") ? "identical, as promised" : "identical";
}

/**
 * How a lane's time for a token compares with next-token prediction's, in words.
 * @param {Lane} lane
 * @param {Lane | undefined} plain
 */
export function clockComparison(lane, plain) {
  if (!plain || lane === plain) return UNKNOWN;
  const [own, other] = [lane, plain].map((each) => asShownInRace(secondsOf(each)));
  return fasterWords(timesLess(own ?? 0, 1, other ?? 0, 1)) || UNKNOWN;
}

/** @param {Run} run @param {LaneCard} card */
function rowWords(run, card) {
  const { lane } = card;
  return [
    String(lane.steps.length),
    String(card.numTokens),
    (card.numTokens / Math.max(lane.steps.length, 1)).toFixed(2),
    raceSeconds(secondsOf(lane)),
    clockComparison(lane, run.lanes.get("ntp")),
    differsWords(card),
  ];
}

/**
 * The table, its rows empty until their lanes are whole.
 * @param {Run} run
 * @param {LaneCard[]} cards
 * @param {string} words about the times
 */
export function makeTable(run, cards, words) {
  const about = question("the times", words);
  const bodies = cards.map(({ lane, title }) => {
    const cells = COLUMNS.map((name) => make("td", "", { "data-name": name }));
    const strategy = strategyOf(lane.name);
    const head = make("th", "", { scope: "row" }, title);
    const data = { "data-strategy": strategy, "data-lane": lane.name };
    return { node: make("tr", "", data, head, ...cells), cells };
  });
  const heads = ["Decoded by", ...COLUMNS].map((name) => make("th", "", { scope: "col" }, name));
  const root = make(
    "table",
    "sbd-compare-table",
    make("caption", "", "Result", about),
    make("thead", "", make("tr", "", ...heads)),
    make("tbody", "", ...bodies.map(({ node }) => node)),
  );

  /**
   * Show the figures of the lanes that have finished.
   * @param {boolean[]} finished one flag a row
   */
  function update(finished) {
    const plain = cards.findIndex(({ lane }) => lane.name === "ntp");
    const canCompare = finished[plain] ?? true;
    bodies.forEach(({ node, cells }, index) => {
      const card = cards[index];
      const isFinished = finished[index] ?? false;
      node.classList.toggle("is-open", !isFinished);
      const words = card && isFinished ? rowWords(run, card) : [];
      for (const [column, cell] of cells.entries()) {
        const isKnown = isFinished && (canCompare || column < FIRST_COMPARED);
        const isAlone = plain < 0 && column >= FIRST_COMPARED;
        setText(
          cell,
          isAlone ? "next-token not chosen" : isKnown ? (words[column] ?? UNKNOWN) : "…",
        );
      }
    });
  }

  return { root, update };
}
