// Checking: a draft as the player's tiles; the reader throws a token away, then the model does.

import { tokenName } from "../../core/letters.js";
import { countInWords, countOf } from "../../core/numbers.js";
import { checkedDraft } from "../../core/run.js";
import { make, setText } from "../../dom/elements.js";
import { Tiles } from "../../watch/tiles.js";
import { makeVerifyLegend } from "../../watch/verify_legend.js";
import { Figure, makePassWords, makeRoom } from "../parts.js";

/** @import { Run } from "../../core/run.js" */
/** @import { View } from "../../watch/playhead.js" */
/** @import { Lesson, MakeScene } from "../view.js" */

const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];

/**
 * The tokens of a draft as they are spoken of: which one, where some are alike.
 * @param {string[]} names
 */
export function apart(names) {
  return names.map((name, at) => {
    if (names.filter((other) => other === name).length === 1) return name;
    const which = names.slice(0, at).filter((other) => other === name).length;
    return `the ${ORDINALS[which] ?? `${which + 1}th`} ${name.replace(/^an? /, "")}`;
  });
}

/**
 * Whether the token that a reader would throw away first is the one that the check does.
 * @param {string} chosen as it is spoken of
 * @param {number} index of it in the draft
 * @param {number} numAccepted of the draft's tokens
 */
export function choiceWords(chosen, index, numAccepted) {
  if (index === numAccepted) return `Right: you would throw away ${chosen} first. `;
  if (index < numAccepted) return `Not ${chosen}, which is accepted. `;
  return `Not ${chosen} first: it goes too, but one before it goes first. `;
}

/**
 * A sentence on what the forward pass did with the draft and what the whole answer took.
 * @param {Lesson} lesson
 */
function checkWords({
  runs: { verify: run },
  check_pass: pass,
  check_ntp_passes: alone,
  is_verify_ntp: isSame,
}) {
  const { main } = run;
  const { tokens, numAccepted } = checkedDraft(main, pass);
  const numThrown = tokens.length - numAccepted;
  const first = namesOf(run, tokens)[numAccepted] ?? "";
  const thrown = numThrown === 1 ? first : `${countInWords(numThrown, "token")} from ${first} on`;
  const instead = spoken(run.tokenText(main.steps[pass]?.committed[numAccepted]));
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

/** Which forward pass drafted, and which one checks. @param {Lesson} lesson */
function titleWords({ check_pass: pass }) {
  return `Dashed: the draft, tokens that forward pass ${pass} guessed and forward pass ${pass + 1} checks`;
}

/**
 * The run with the draft at the first tile, before its check as after it.
 * @param {Run} run
 * @param {number} start of the draft
 * @returns {Run}
 */
function atDraft(run, start) {
  return Object.create(run, { windowAt: { value: () => ({ start, size: run.blockSize }) } });
}

/**
 * The text that is written by the end of the forward pass shown.
 * @param {Run} run
 * @param {number} last the last that is shown
 */
function makeWritten(run, last) {
  const root = make("pre", "sbd-learn-code", { tabindex: "0", "aria-label": "Written so far" });
  /** @param {number} pass */
  const textAt = (pass) =>
    run.main
      .knownAt(pass)
      .map(({ token }) => run.tokenText(token))
      .join("");
  /** @param {View} view */
  function update({ pass }) {
    setText(root, textAt(pass));
    root.scrollTop = root.scrollHeight;
  }
  return { room: makeRoom(root, [textAt(last)]), update };
}

/** @type {MakeScene} */
export function makeCheckScene({ lesson, signal, did, say }) {
  const { verify: run } = lesson.runs;
  const pass = lesson.check_pass;
  const { start, tokens, numAccepted } = checkedDraft(run.main, pass);
  const names = namesOf(run, tokens);
  const figure = new Figure(atDraft(run, start), signal);
  const tiles = new Tiles(figure.actions({ hold: (position) => choose(position) }));
  const legend = makeVerifyLegend("beyond");
  const news = make("p", "sbd-learn-yours", { role: "status" });
  const written = makeWritten(run, pass);
  const outcome = checkWords(lesson);
  const replies = names.map((name, at) => `${choiceWords(name, at, numAccepted)}${outcome}`);
  /** @type {number | null} the position that the reader would throw away */
  let own = null;
  const mark = () =>
    tiles.tiles.forEach(({ node, at }) => {
      node.toggleAttribute("data-chosen", at === own);
    });
  figure.add(tiles, makePassWords(tiles.root), { update: mark }, written);
  figure.seek(pass - 1, false);
  let isAnswered = false;

  /** @param {number} position */
  function choose(position) {
    const [index, chosen] = [position - start, names[position - start]];
    if (isAnswered) return;
    if (chosen === undefined) {
      setText(news, NOT_DRAFTED);
      return;
    }
    own = position;
    answer(choiceWords(chosen, index, numAccepted));
  }

  function answer(verdict = "") {
    if (isAnswered) return;
    isAnswered = true;
    figure.seek(pass, true);
    const words = `${verdict}${outcome}`;
    setText(news, words);
    say(words);
    did();
  }
  const nodes = [
    make("p", "sbd-learn-source", `Prompt: ${run.prompt}`),
    written.room,
    make("h3", "", titleWords(lesson)),
    tiles.root,
    legend,
    makeRoom(news, [NOT_DRAFTED, ...replies]),
  ];
  const root = make("div", "sbd-learn-check", ...nodes);
  return { root, answer: () => answer() };
}

/** @param {Run} run @param {number[]} tokens of a draft */
function namesOf(run, tokens) {
  return apart(tokens.map((token) => spoken(run.tokenText(token))));
}

/** A token in a sentence; one that cannot be seen is named. @param {string} text */
function spoken(text) {
  if (text.trim() === "") return text.includes("\n") ? "a line break" : "a space";
  return tokenName(text.trim());
}
