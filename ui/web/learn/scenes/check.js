// Checking: a draft as the player's tiles; the reader throws a token away, then the model does.

import { countInWords, countOf } from "../../core/numbers.js";
import { checkedDraft } from "../../core/run/drafts.js";
import { tokenName } from "../../core/text/letters.js";
import { make, setText } from "../../dom/elements.js";
import { Tiles } from "../../watch/tiles.js";
import { makeVerifyLegend } from "../../watch/verify/legend.js";
import { Figure } from "../figure.js";
import { makeCallWords } from "../parts/calls.js";
import { apart, choiceWords } from "../states.js";

/** @import { Run } from "../../core/run/run.js" */
/** @import { View } from "../../watch/view.js" */
/** @import { Lesson } from "../lesson.js" */
/** @import { MakeScene } from "../view.js" */

/**
 * What the call did with the draft, and what the whole answer took.
 * @param {Lesson} lesson
 */
function checkWords({
  runs: { verify: run },
  check_pass: pass,
  check_ntp_calls: alone,
  is_verify_ntp: isSame,
}) {
  const { main } = run;
  const { tokens, numAccepted } = checkedDraft(main, pass);
  const thrown = countInWords(tokens.length - numAccepted, "token");
  const first = namesOf(run, tokens)[numAccepted] ?? "";
  const instead = spoken(run.tokenText(main.steps[pass]?.committed[numAccepted]));
  const onWords = main.steps[pass]?.draft.length
    ? "It drafts on at once."
    : "It drafts nothing; the next call does.";
  const same = isSame ? ", same words" : "";
  return (
    `The call accepts ${countInWords(numAccepted, "token")} and throws away ${thrown}, from ${first} on: ` +
    `it writes ${instead} there itself. ${onWords} In all ${countOf(main.steps.length, "call")}, one at ` +
    `a time ${alone}${same}.`
  );
}

/**
 * The text that is written by the end of the call shown.
 * @param {Run} run
 */
function makeWritten(run) {
  const root = make("pre", "sbd-learn-code", { tabindex: "0", "aria-label": "Written so far" });
  /** @param {View} view */
  function update({ pass }) {
    const known = run.main.knownAt(pass);
    setText(root, known.map(({ token }) => run.tokenText(token)).join(""));
    root.scrollTop = root.scrollHeight;
  }
  return { root, update };
}

/** @type {MakeScene} */
export function makeCheckScene({ lesson, signal, did, say }) {
  const { verify: run } = lesson.runs;
  const pass = lesson.check_pass;
  const { start, tokens, numAccepted } = checkedDraft(run.main, pass);
  const names = namesOf(run, tokens);
  const figure = new Figure(run, signal);
  const tiles = new Tiles(figure.actions({ hold: (position) => choose(position) }));
  const legend = makeVerifyLegend();
  const news = make("p", "sbd-learn-yours", { role: "status" });
  const written = makeWritten(run);
  /** @type {number | null} the position that the reader would throw away */
  let own = null;
  const mark = () =>
    tiles.tiles.forEach(({ node, at }) => {
      node.toggleAttribute("data-chosen", at === own);
    });
  figure.add(tiles, makeCallWords(tiles.root), { update: mark }, legend, written);
  figure.seek(pass - 1, false);
  let isAnswered = false;

  /** @param {number} position */
  function choose(position) {
    const [index, chosen] = [position - start, names[position - start]];
    if (chosen === undefined || isAnswered) return;
    own = position;
    answer(choiceWords(chosen, index, numAccepted));
  }

  function answer(verdict = "") {
    if (isAnswered) return;
    isAnswered = true;
    figure.seek(pass, true);
    const words = `${verdict}${checkWords(lesson)}`;
    setText(news, words);
    say(words);
    did();
  }
  const nodes = [
    make("p", "sbd-learn-source", {}, `Prompt: ${run.prompt}`),
    written.root,
    make("h3", "", {}, "A draft has no gaps and goes on while all of it is likely right"),
    tiles.root,
    legend.root,
    news,
  ];
  return { root: make("div", "sbd-learn-check", {}, ...nodes), answer: () => answer() };
}

/**
 * @param {Run} run
 * @param {number[]} tokens of a draft
 */
function namesOf(run, tokens) {
  return apart(tokens.map((token) => spoken(run.tokenText(token))));
}

/**
 * A token in a sentence; one that cannot be seen is named.
 * @param {string} text
 */
function spoken(text) {
  if (text.trim() === "") return text.includes("\n") ? "a line break" : "a space";
  return tokenName(text.trim());
}
