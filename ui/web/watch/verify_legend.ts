// Explains verify under its tiles: a legend of how tiles look, and the branch, which is the draft that was ready when a
// drafted token was rejected, if the forward pass used one.

import { html } from "lit-html";
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
import { tokenTemplate } from "../dom/templates.ts";
import { termTemplates } from "../dom/terms.ts";
import type { View } from "./playhead.ts";

const KINDS: [kind: string, words: string][] = [
  ["draft", "drafted"],
  ["accepted", "accepted"],
  ["struck", "thrown away"],
  ["new", "its own token"],
  ["masked", "a mask’s guess"],
  ["beyond", "after the end"],
];

export const CHECK =
  "One [forward pass] checks the last [draft] from left to right ([causal]). It keeps the tokens up to the first that " +
  "next-token prediction would not have written, and writes its own there; if the whole draft holds, it drafts on at " +
  "once. So the answer is next-token prediction’s.";
export const MORE =
  "Beside drafted tokens it may read other ones ([alternatives|alternative]), and it may draft for the case that a token " +
  "is thrown away (a [draft made ahead|predraft]): the next pass then has a draft all the same.";

/** Return the legend under the tiles. @param without a kind of tile to leave out */
export function verifyLegend(isHidden = false, without?: string) {
  const kinds = KINDS.filter(([kind]) => kind !== without).map(
    ([kind, words]) =>
      html`<li
        ><span class="sbd-sample sbd-sample-${kind}" aria-hidden="true">a</span>${words}</li>`,
  );
  return html`<section class="sbd-verify" aria-label="What the tiles mean" ?hidden=${isHidden}>
    <ul>${kinds}</ul>
    <p>${termTemplates(CHECK)}</p>
    <p>${termTemplates(MORE)}</p>
  </section>`;
}

function branchTokens(run: Run, tokens: number[], look: string) {
  return tokens.map(
    (token) =>
      html`<span class="sbd-branch-token ${look}">${tokenTemplate(run.shownText(token))}</span>`,
  );
}

function usedTemplate(run: Run, pass: number, predraft: UsedPredraft) {
  const { position, tokens, numHidden, alternative } = predraft;
  const thrown = alternative === undefined ? position : position - 1;
  const { drafted } = draftedAt(run.main, pass, thrown);
  const { committed = [], committedBefore = 0 } = run.main.steps[pass] ?? {};
  // What the pass made final, beginning with an alternative that was right.
  const exact = alternative === undefined ? [] : committed.slice(thrown - committedBefore);
  const namesOf = (ids: number[]) => ids.map((id) => tokenName(run.shownText(id))).join(" ");
  const names = namesOf(tokens);
  const hidden = numHidden ? ` and ${numHidden} more` : "";
  const title =
    alternative === undefined
      ? `Drafted in case position ${position} is thrown away, as it was: ${names}${hidden}`
      : `Another token at position ${thrown} was right: ${namesOf(exact)}${names && `; drafted behind it: ${names}${hidden}`}`;
  return html`<li class="sbd-branch" title=${title}
    ><s class="sbd-branch-instead" aria-hidden="true"
      >${tokenTemplate(drafted === undefined ? "…" : run.shownText(drafted))}</s
    >${branchTokens(run, exact, "sbd-sample-accepted")}${branchTokens(run, tokens, "")}</li>`;
}

/** Return the predraft that the pass used, if any, and a sentence about alternatives and predrafts. */
export function readyDraft({ run, pass }: View) {
  const window = run.windowAt(pass);
  const size = Math.min(window.size, MAX_TILES);
  const predrafts = run.main.steps[pass]?.predrafts ?? [];
  const branch = usedPredraft(predrafts, { ...window, size });
  const { tokens, numAccepted } = checkedDraft(run.main, pass);
  return html`<div class="sbd-branches">
    <ul class="sbd-branches-list" aria-label="Drafts that were ready"
      >${branch ? usedTemplate(run, pass, branch) : ""}</ul>
    <p class="sbd-branches-words"
      >${alternativeWords(predrafts, numAccepted === tokens.length)}</p>
  </div>`;
}
