// What the tiles of a run by verify mean: drafted, accepted, thrown away; and how it goes on.

import { make } from "../../dom/elements.js";
import { term } from "../../dom/terms.js";

/** @import { View } from "../view.js" */

/** @type {[kind: string, words: string][]} */
const KINDS = [
  ["draft", "drafted"],
  ["accepted", "accepted"],
  ["struck", "thrown away"],
  ["new", "its own token"],
  ["masked", "a mask’s guess"],
  ["beyond", "after the end"],
  ["ahead", "drafted ahead"],
];

/** The legend under the tiles. */
export function makeVerifyLegend() {
  const sentence = [
    "One ",
    term("pass"),
    " checks the last ",
    term("draft"),
    " in a ",
    term("causal"),
    " way, keeps what next-token prediction would have said, adds one exact token and, unless it " +
      "threw one away, drafts on, up to the answer’s end or its limit: the answer is that of " +
      "next-token prediction.",
  ];
  const kinds = KINDS.map(([kind, words]) =>
    make(
      "li",
      "",
      {},
      make("span", `sbd-sample sbd-sample-${kind}`, { "aria-hidden": "true" }, "a"),
      words,
    ),
  );
  const ahead = [
    "It also drafts ",
    term("predraft", "ahead"),
    " behind the drafted tokens it is least sure of: if one of those is thrown away, the next " +
      "draft is there already.",
  ];
  const more = make("p", "", {}, ...ahead);
  const root = make(
    "section",
    "sbd-verify",
    { "aria-label": "What the tiles mean" },
    make("ul", "", {}, ...kinds),
    make("p", "", {}, ...sentence),
    more,
  );

  /** @param {View} view */
  function update({ run }) {
    const hasAhead = run.config.num_predrafts > 0;
    more.hidden = !hasAhead;
    const last = kinds.at(-1);
    if (last) last.hidden = !hasAhead;
  }

  return { root, update };
}
