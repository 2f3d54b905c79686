// Explains verify under its tiles: a legend of how tiles look, and the branch, which is the draft that was ready when a
// drafted token was rejected, if the forward pass used one.

import { tokenName } from "../core/letters.ts";
import {
  alternativeWords,
  checkedDraft,
  draftedAt,
  MAX_TILES,
  type Run,
  type UsedPredraft,
  usedPredraft,
} from "../core/run.ts";
import { make, setText, showToken } from "../dom/elements.ts";
import { term } from "../dom/terms.ts";
import type { View } from "./playhead.ts";

const KINDS: [kind: string, words: string][] = [
  ["draft", "drafted"],
  ["accepted", "accepted"],
  ["struck", "thrown away"],
  ["new", "its own token"],
  ["masked", "a mask’s guess"],
  ["beyond", "after the end"],
];

/** Make the legend under the tiles. @param without a kind of tile to leave out */
export function makeVerifyLegend(without?: string) {
  const check = [
    "One ",
    term("pass"),
    " checks the last ",
    term("draft"),
    " from left to right (",
    term("causal"),
    "). It keeps the tokens up to the first that next-token prediction would not have written, and writes " +
      "its own there; if the whole draft holds, it drafts on at once. So the answer is next-token " +
      "prediction’s.",
  ];
  const kinds = KINDS.filter(([kind]) => kind !== without).map(([kind, words]) =>
    make(
      "li",
      "",
      make("span", `sbd-sample sbd-sample-${kind}`, { "aria-hidden": "true" }, "a"),
      words,
    ),
  );
  const more = [
    "Beside drafted tokens it may read other ones (",
    term("alternative", "alternatives"),
    "), and it may draft for the case that a token is thrown away (a ",
    term("predraft"),
    "): the next pass then has a draft all the same.",
  ];
  const root = make(
    "section",
    "sbd-verify",
    { "aria-label": "What the tiles mean" },
    make("ul", "", ...kinds),
    make("p", "", ...check),
    make("p", "", ...more),
  );
  return root;
}

function makeDraftToken(run: Run, token: number, look: string = "") {
  const node = make("span", `sbd-branch-token${look}`);
  showToken(node, run.shownText(token));
  return node;
}

function makeUsedPredraft(run: Run, pass: number, predraft: UsedPredraft) {
  const { position, tokens, numHidden, alternative } = predraft;
  const thrown = alternative === undefined ? position : position - 1;
  const { drafted } = draftedAt(run.main, pass, thrown);
  const instead = make("s", "sbd-branch-instead", { "aria-hidden": "true" });
  showToken(instead, drafted === undefined ? "…" : run.shownText(drafted));
  const exact = alternative === undefined ? [] : exactTokens(run, pass, thrown);
  const names = tokens.map((token) => tokenName(run.shownText(token))).join(" ");
  const hidden = numHidden ? ` and ${numHidden} more` : "";
  const right = exact.map((token) => tokenName(run.shownText(token))).join(" ");
  const title =
    alternative === undefined
      ? `Drafted in case position ${position} is thrown away, as it was: ${names}${hidden}`
      : `Another token at position ${thrown} was right: ${right}${names && `; drafted behind it: ${names}${hidden}`}`;
  const nodes = [
    ...exact.map((token) => makeDraftToken(run, token, " sbd-sample-accepted")),
    ...tokens.map((token) => makeDraftToken(run, token)),
  ];
  return make("li", "sbd-branch", { title }, instead, ...nodes);
}

/** Return the tokens that the pass made final from a position on, beginning with an alternative that was right. */
function exactTokens({ main }: Run, pass: number, position: number) {
  const { committed = [], committedBefore = 0 } = main.steps[pass] ?? {};
  return committed.slice(position - committedBefore);
}

/** The predraft that the pass used, if any, and a sentence about alternatives and predrafts. */
export class ReadyDraft {
  list: HTMLUListElement;
  words: HTMLParagraphElement;
  root: HTMLDivElement;
  drawnKey = "";

  constructor() {
    this.list = make("ul", "sbd-branches-list", { "aria-label": "Drafts that were ready" });
    this.words = make("p", "sbd-branches-words");
    this.root = make("div", "sbd-branches", this.list, this.words);
  }

  update({ run, pass }: View) {
    const key = `${run.id}/${pass}/${run.main.steps.length > pass}`;
    if (key === this.drawnKey) return;
    this.drawnKey = key;
    const window = run.windowAt(pass);
    const size = Math.min(window.size, MAX_TILES);
    const predrafts = run.main.steps[pass]?.predrafts ?? [];
    const branch = usedPredraft(predrafts, { ...window, size });
    this.list.replaceChildren(...(branch ? [makeUsedPredraft(run, pass, branch)] : []));
    const { tokens, numAccepted } = checkedDraft(run.main, pass);
    const isAccepted = numAccepted === tokens.length;
    setText(this.words, alternativeWords(predrafts, isAccepted));
  }
}
