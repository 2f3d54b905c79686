// Checking: a draft as the player's tiles; the reader throws a token away, then the model does.

import { countInWords, countOf } from "../../core/numbers.js";
import { checkedDraft } from "../../core/run/drafts.js";
import { tokenName } from "../../core/text/letters.js";
import { make, setText } from "../../dom/elements.js";
import { Tiles } from "../../watch/tiles.js";
import { makeVerifyLegend } from "../../watch/verify/legend.js";
import { Figure } from "../figure.js";
import { makeCallWords } from "../parts/calls.js";

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
  const first = spoken(run.tokenText(tokens[numAccepted]));
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

/** @type {MakeScene} */
export function makeCheckScene({ lesson, signal, did, say }) {
  const { verify: run } = lesson.runs;
  const pass = lesson.check_pass;
  const { start, tokens } = checkedDraft(run.main, pass);
  const figure = new Figure(run, signal);
  const tiles = new Tiles(figure.actions({ hold: (position) => choose(position) }));
  const legend = makeVerifyLegend();
  const news = make("p", "sbd-learn-yours", { role: "status" });
  const written = run.main
    .knownAt(pass - 1)
    .map(({ token }) => run.tokenText(token))
    .join("");
  figure.add(tiles, makeCallWords(tiles.root), legend);
  figure.seek(pass - 1, false);
  let isAnswered = false;

  /** @param {number} position */
  function choose(position) {
    const chosen = tokens[position - start];
    if (chosen === undefined) return;
    answer(`You would throw away ${spoken(run.tokenText(chosen))}. `);
  }

  function answer(own = "") {
    if (isAnswered) return;
    isAnswered = true;
    figure.seek(pass, true);
    const words = `${own}${checkWords(lesson)}`;
    setText(news, words);
    say(words);
    did();
  }
  const code = { tabindex: "0", "aria-label": "Written so far" };
  const nodes = [
    make("p", "sbd-learn-source", {}, `Prompt: ${run.prompt}`),
    make("pre", "sbd-learn-code", code, written),
    make("h3", "", {}, "A draft has no gaps and goes on while all of it is likely right"),
    tiles.root,
    legend.root,
    news,
  ];
  return { root: make("div", "sbd-learn-check", {}, ...nodes), answer: () => answer() };
}

/**
 * A token in a sentence; one that cannot be seen is named.
 * @param {string} text
 */
function spoken(text) {
  if (text.trim() === "") return text.includes("\n") ? "a line break" : "a space";
  return tokenName(text.trim());
}
