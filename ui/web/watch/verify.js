// The predrafts under the tiles, each behind the drafted token that it would stand in for; the one
// that was used is marked.

import { MAX_TILES } from "../core/limits.js";
import { branchesOf, branchWords, draftedAt } from "../core/run/drafts.js";
import { tokenName } from "../core/text/letters.js";
import { make, setStyle, setText } from "../dom/elements.js";
import { term } from "../dom/terms.js";
import { showToken } from "../dom/tokens.js";

/** @import { View } from "./view.js" */
/** @import { Branch } from "../core/run/drafts.js" */
/** @import { Run } from "../core/run/run.js" */

/** @type {[kind: string, words: string][]} */
const KINDS = [
  ["draft", "drafted"],
  ["accepted", "accepted"],
  ["struck", "thrown away"],
  ["new", "its own token"],
  ["masked", "a mask’s guess"],
  ["beyond", "after the end"],
  ["predraft", "predrafted"],
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
  const more = make(
    "p",
    "",
    {},
    "It also makes ",
    term("predraft", "predrafts"),
    " behind the drafted tokens it is least sure of: if one of those is thrown away, the next " +
      "draft is there already.",
  );
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
    const hasPredrafts = run.config.num_predrafts > 0;
    more.hidden = !hasPredrafts;
    const last = kinds.at(-1);
    if (last) last.hidden = !hasPredrafts;
  }

  return { root, update };
}

const MAX_RESERVED = 4; // rows kept free, so that nothing moves from pass to pass

/**
 * @param {Run} run
 * @param {number} pass
 * @param {Branch} branch
 */
function makeBranch(run, pass, { position, isUsed, tokens, numHidden }) {
  const { drafted } = draftedAt(run.main, pass, position);
  const instead = make("s", "sbd-branch-instead", { "aria-hidden": "true" });
  showToken(instead, drafted === undefined ? "…" : run.tokenText(drafted));
  const nodes = tokens.map((token) => {
    const node = make("span", "sbd-branch-token");
    showToken(node, run.tokenText(token));
    return node;
  });
  const names = tokens.map((token) => tokenName(run.tokenText(token))).join(" ");
  const title =
    `Predraft in case position ${position} is thrown away: ${names}` +
    `${numHidden ? ` and ${numHidden} more` : ""}; ${isUsed ? "used" : "not needed"}`;
  const look = `sbd-branch${isUsed ? " is-used" : ""}`;
  return make("li", look, { title }, instead, ...nodes);
}

/** The branches of the pass, and a sentence under them. */
export class Branches {
  constructor() {
    this.list = make("ul", "sbd-branches-list", { "aria-label": "Predrafts" });
    this.words = make("p", "sbd-branches-words");
    this.root = make("div", "sbd-branches", {}, this.list, this.words);
    this.shown = "";
  }

  /** @param {View} view */
  update({ run, pass }) {
    this.root.hidden = run.config.num_predrafts === 0;
    const key = `${run.id}/${pass}/${run.main.steps.length > pass}`;
    if (this.root.hidden || key === this.shown) return;
    this.shown = key;
    const window = run.windowAt(pass);
    const size = Math.min(window.size, MAX_TILES);
    const predrafts = run.main.steps[pass]?.predrafts ?? [];
    const branches = branchesOf(predrafts, { ...window, size });
    setStyle(this.list, "--rows", String(Math.min(run.config.num_predrafts, MAX_RESERVED)));
    this.list.replaceChildren(...branches.map((branch) => makeBranch(run, pass, branch)));
    setText(this.words, branchWords(predrafts));
  }
}
