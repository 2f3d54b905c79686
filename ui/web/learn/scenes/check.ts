// The scene “Checking”: the reader chooses the token of a draft to throw away first; then the model checks the draft.

import { html } from "lit-html";
import { tokenName } from "../../core/letters.ts";
import { countInWords, countOf } from "../../core/numbers.ts";
import { checkedDraft, type Run } from "../../core/run.ts";
import { Tiles } from "../../watch/tiles.ts";
import { verifyLegend } from "../../watch/verify_legend.ts";
import { Figure, news, passName } from "../parts.ts";
import type { Lesson, MakeScene } from "../view.ts";

const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];

/** Tell equal names apart: "the first space", "the second space". */
export function distinctNames(names: string[]) {
  return names.map((name, at) => {
    if (names.filter((other) => other === name).length === 1) return name;
    const which = names.slice(0, at).filter((other) => other === name).length;
    return `the ${ORDINALS[which] ?? `${which + 1}th`} ${name.replace(/^an? /, "")}`;
  });
}

/** Say whether the check throws away the reader's token first. */
export function choiceWords(chosen: string, index: number, numAccepted: number) {
  if (index === numAccepted) return `Right: you would throw away ${chosen} first. `;
  if (index < numAccepted) return `Not ${chosen}, which is accepted. `;
  return `Not ${chosen} first: it goes too, but one before it goes first. `;
}

/** Say what the forward pass does with the draft, and how many forward passes the whole answer takes. */
function checkWords({
  runs: { verify: run },
  check_pass: pass,
  check_ntp_passes: alone,
  is_verify_ntp: isSame,
}: Lesson) {
  const { main } = run;
  const { tokens, numAccepted } = checkedDraft(main, pass);
  const numThrown = tokens.length - numAccepted;
  const first = namesOf(run, tokens)[numAccepted] ?? "";
  const thrown = numThrown === 1 ? first : `${countInWords(numThrown, "token")} from ${first} on`;
  const instead = spokenName(run.tokenText(main.steps[pass]?.committed[numAccepted]));
  const onWords = main.steps[pass]?.draft.length
    ? "It drafts on at once."
    : "The next pass drafts anew.";
  const same = isSame ? "the same words as" : "another answer than";
  return (
    `Forward pass ${pass + 1} accepts ${countInWords(numAccepted, "token")}, throws away ${thrown} and ` +
    `writes ${instead}. ${onWords} In all, ${countOf(main.steps.length, "forward pass")} write ${same} ` +
    `${alone} one at a time.`
  );
}

const NOT_DRAFTED = "That is not in the draft: choose a dashed token.";

export const makeCheckScene: MakeScene = ({ lesson, signal, onActed, say, draw }) => {
  const { verify: run } = lesson.runs;
  const pass = lesson.check_pass;
  const { start, tokens, numAccepted } = checkedDraft(run.main, pass);
  const names = namesOf(run, tokens);
  // The draft is at the first tile in every forward pass, so that the check does not move the tiles.
  const windowAt = { value: () => ({ start, size: run.blockSize }) };
  const figure = new Figure(Object.create(run, { windowAt }), signal);
  const tiles = new Tiles(figure.actions({ toggleHold: choose }), passName);
  let [words, isAnswered] = ["", false];
  /** position of the token that the reader chose */
  let chosen: number | null = null;
  const mark = () => {
    for (const [index, node] of tiles.nodes.entries())
      node.toggleAttribute("data-chosen", tiles.window.start + index === chosen);
  };
  figure.add(tiles, { update: mark });
  figure.seek(pass - 1, false);

  function choose(position: number) {
    if (isAnswered) return;
    const index = position - start;
    const name = names[index];
    if (name === undefined) {
      words = NOT_DRAFTED;
      draw();
      return;
    }
    chosen = position;
    answer(choiceWords(name, index, numAccepted));
  }

  function answer(verdict = "") {
    if (isAnswered) return;
    isAnswered = true;
    figure.seek(pass, true);
    words = `${verdict}${checkWords(lesson)}`;
    say(words);
    onActed();
  }
  const view = () => {
    const known = run.main.knownAt(isAnswered ? pass : pass - 1);
    const written = known.map(({ token }) => run.tokenText(token)).join("");
    return html`<div class="sbd-learn-check">
      <p class="sbd-learn-source">Prompt: ${run.prompt}</p>
      <pre class="sbd-learn-code" tabindex="0" aria-label="Written so far"><span>${written}</span></pre>
      <h3
        >Dashed: the draft, tokens that forward pass ${pass} guessed and forward pass ${pass + 1}
        checks</h3>
      ${tiles.root}${verifyLegend(false, "beyond")}${news(words)}
    </div>`;
  };
  return { view, answer: () => answer() };
};

function namesOf(run: Run, tokens: number[]) {
  return distinctNames(tokens.map((token) => spokenName(run.tokenText(token))));
}

/** Name a token in a sentence; whitespace is put into words. */
function spokenName(text: string) {
  if (text.trim() === "") return text.includes("\n") ? "a line break" : "a space";
  return tokenName(text.trim());
}
