// The predrafts under the tiles, each behind the drafted token that it would stand in for; the one
// that was used is marked. Where alternatives are read, that one alone shows.

import { MAX_TILES } from "../core/limits.js";
import {
  alternativeWords,
  branchesOf,
  branchWords,
  checkedDraft,
  draftedAt,
  readsAlternatives,
} from "../core/run/drafts.js";
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
  const others = make(
    "p",
    "",
    {},
    "Beside the draft it reads ",
    term("alternative", "alternatives"),
    " to its tokens: if the model throws one away for its alternative, that one counts, and the next " +
      "draft stands behind it.",
  );
  const root = make(
    "section",
    "sbd-verify",
    { "aria-label": "What the tiles mean" },
    make("ul", "", {}, ...kinds),
    make("p", "", {}, ...sentence),
    more,
    others,
  );

  /** @param {View} view */
  function update({ run }) {
    const hasPredrafts = showsPredrafts(run);
    more.hidden = !hasPredrafts;
    others.hidden = !readsAlternatives(run.config);
    const last = kinds.at(-1);
    if (last) last.hidden = !hasPredrafts;
  }

  return { root, update };
}

/**
 * Whether a branch may show under every drafted token.
 * @param {Run} run
 */
function showsPredrafts({ config }) {
  return (config.row_policy ?? "fixed") === "fixed" && config.num_predrafts > 0;
}

const MAX_RESERVED = 4; // rows kept free, so that nothing moves from pass to pass

/**
 * @param {Run} run
 * @param {number} token
 * @param {string} look
 */
function makeToken(run, token, look = "") {
  const node = make("span", `sbd-branch-token${look}`);
  showToken(node, run.tokenText(token));
  return node;
}

/**
 * @param {Run} run
 * @param {number} pass
 * @param {Branch} branch
 */
function makeBranch(run, pass, branch) {
  const { position, isUsed, tokens, numHidden, alternative } = branch;
  const thrown = alternative === undefined ? position : position - 1;
  const { drafted } = draftedAt(run.main, pass, thrown);
  const instead = make("s", "sbd-branch-instead", { "aria-hidden": "true" });
  showToken(instead, drafted === undefined ? "…" : run.tokenText(drafted));
  const exact = alternative === undefined ? [] : exactTokens(run, pass, thrown);
  const names = tokens.map((token) => tokenName(run.tokenText(token))).join(" ");
  const hidden = numHidden ? ` and ${numHidden} more` : "";
  const right = exact.map((token) => tokenName(run.tokenText(token))).join(" ");
  const title =
    alternative === undefined
      ? `Predraft in case position ${position} is thrown away: ${names}${hidden}; ${isUsed ? "used" : "not needed"}`
      : `An alternative at position ${thrown} was right: ${right}${names && `; drafted behind it: ${names}${hidden}`}`;
  const look = `sbd-branch${isUsed ? " is-used" : ""}`;
  const nodes = [
    ...exact.map((token) => makeToken(run, token, " sbd-sample-accepted")),
    ...tokens.map((token) => makeToken(run, token)),
  ];
  return make("li", look, { title }, instead, ...nodes);
}

/**
 * Tokens that the pass made final from a position on: an alternative that was right.
 * @param {Run} run
 * @param {number} pass
 * @param {number} position
 */
function exactTokens({ main }, pass, position) {
  const { committed = [], committedBefore = 0 } = main.steps[pass] ?? {};
  return committed.slice(position - committedBefore);
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
    const hasOthers = readsAlternatives(run.config);
    this.root.hidden = !hasOthers && !showsPredrafts(run);
    const key = `${run.id}/${pass}/${run.main.steps.length > pass}`;
    if (this.root.hidden || key === this.shown) return;
    this.shown = key;
    const window = run.windowAt(pass);
    const size = Math.min(window.size, MAX_TILES);
    const predrafts = run.main.steps[pass]?.predrafts ?? [];
    const shown = hasOthers ? predrafts.filter(({ isUsed }) => isUsed) : predrafts;
    const branches = branchesOf(shown, { ...window, size });
    const numRows = hasOthers ? 1 : Math.min(run.config.num_predrafts, MAX_RESERVED);
    setStyle(this.list, "--rows", String(numRows));
    this.list.replaceChildren(...branches.map((branch) => makeBranch(run, pass, branch)));
    const { tokens, numAccepted } = checkedDraft(run.main, pass);
    const isAccepted = numAccepted === tokens.length;
    const words = hasOthers ? alternativeWords(predrafts, isAccepted) : branchWords(predrafts);
    setText(this.words, words);
  }
}
