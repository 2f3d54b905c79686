// What the tiles of a run by verify mean: drafted, accepted, thrown away; and how it goes on.

import { make } from "../dom/elements.js";

/** @type {[kind: string, words: string][]} */
const KINDS = [
  ["draft", "drafted"],
  ["accepted", "accepted"],
  ["struck", "thrown away"],
  ["new", "exact, by the causal head"],
];

const SENTENCE =
  "One forward pass checks the last draft from left to right, keeps what next-token prediction " +
  "would have said, adds one exact token and drafts on: the answer is that of next-token prediction.";

/** The legend under the tiles. */
export function makeVerifyLegend() {
  const kinds = KINDS.map(([kind, words]) =>
    make(
      "li",
      "",
      {},
      make(
        "span",
        `sbd-tile is-${kind}`,
        { "aria-hidden": "true" },
        make("span", "sbd-tile-token", {}, "a"),
      ),
      words,
    ),
  );
  return make(
    "section",
    "sbd-verify",
    { "aria-label": "What the tiles mean" },
    make("ul", "", {}, ...kinds),
    make("p", "", {}, SENTENCE),
  );
}
