// The scene “Checking”: the reader chooses the token of a draft to throw away first; then the model checks the draft.

import { tokenName } from "../../core/letters.ts";
import { countInWords, countOf } from "../../core/numbers.ts";
import { checkedDraft, type Run } from "../../core/run.ts";
import { make, setText } from "../../dom/elements.ts";
import type { View } from "../../watch/playhead.ts";
import { Tiles } from "../../watch/tiles.ts";
import { makeVerifyLegend } from "../../watch/verify_legend.ts";
import { Figure, makeSizedBox, nameTilePasses } from "../parts.ts";
import type { Lesson, MakeScene } from "../view.ts";

const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];

/**
 * Tell equal names apart: "the first space", "the second space".
 * @param names of the tokens of a draft
 */
export function distinctNames(names: string[]) {
  return names.map((name, at) => {
    if (names.filter((other) => other === name).length === 1) return name;
    const which = names.slice(0, at).filter((other) => other === name).length;
    return `the ${ORDINALS[which] ?? `${which + 1}th`} ${name.replace(/^an? /, "")}`;
  });
}

/**
 * Say whether the check throws away the reader's token first.
 * @param chosen name of the reader's token
 * @param index of that token in the draft
 * @param numAccepted how many tokens of the draft are accepted
 */
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

/** Say which forward pass drafted, and which one checks. */
function titleWords({ check_pass: pass }: Lesson) {
  return `Dashed: the draft, tokens that forward pass ${pass} guessed and forward pass ${pass + 1} checks`;
}

/**
 * Return the run with the draft at the first tile in every forward pass, so that the check does not move the tiles.
 * @param start of the draft
 */
function atDraft(run: Run, start: number): Run {
  return Object.create(run, { windowAt: { value: () => ({ start, size: run.blockSize }) } });
}

/**
 * Make a part that shows the text written by the end of a forward pass.
 * @param last the last forward pass that is shown
 */
function makeWritten(run: Run, last: number) {
  const root = make("pre", "sbd-learn-code", { tabindex: "0", "aria-label": "Written so far" });
  const textAt = (pass: number) =>
    run.main
      .knownAt(pass)
      .map(({ token }) => run.tokenText(token))
      .join("");
  function update({ pass }: View) {
    setText(root, textAt(pass));
    root.scrollTop = root.scrollHeight;
  }
  return { room: makeSizedBox(root, [textAt(last)]), update };
}

export const makeCheckScene: MakeScene = ({ lesson, signal, onActed, say }) => {
  const { verify: run } = lesson.runs;
  const pass = lesson.check_pass;
  const { start, tokens, numAccepted } = checkedDraft(run.main, pass);
  const names = namesOf(run, tokens);
  const figure = new Figure(atDraft(run, start), signal);
  const tiles = new Tiles(figure.actions({ toggleHold: (position) => choose(position) }));
  const legend = makeVerifyLegend("beyond");
  const news = make("p", "sbd-learn-yours", { role: "status" });
  const written = makeWritten(run, pass);
  const outcome = checkWords(lesson);
  const replies = names.map((name, at) => `${choiceWords(name, at, numAccepted)}${outcome}`);
  /** position of the token that the reader chose */
  let chosenPosition: number | null = null;
  const mark = () =>
    tiles.tiles.forEach(({ node, shownPosition }) => {
      node.toggleAttribute("data-chosen", shownPosition === chosenPosition);
    });
  figure.add(tiles, nameTilePasses(tiles.root), { update: mark }, written);
  figure.seek(pass - 1, false);
  let isAnswered = false;

  function choose(position: number) {
    const [index, chosen] = [position - start, names[position - start]];
    if (isAnswered) return;
    if (chosen === undefined) {
      setText(news, NOT_DRAFTED);
      return;
    }
    chosenPosition = position;
    answer(choiceWords(chosen, index, numAccepted));
  }

  function answer(verdict = "") {
    if (isAnswered) return;
    isAnswered = true;
    figure.seek(pass, true);
    const words = `${verdict}${outcome}`;
    setText(news, words);
    say(words);
    onActed();
  }
  const nodes = [
    make("p", "sbd-learn-source", `Prompt: ${run.prompt}`),
    written.room,
    make("h3", "", titleWords(lesson)),
    tiles.root,
    legend,
    makeSizedBox(news, [NOT_DRAFTED, ...replies]),
  ];
  const root = make("div", "sbd-learn-check", ...nodes);
  return { root, answer: () => answer() };
};

/** @param tokens of a draft */
function namesOf(run: Run, tokens: number[]) {
  return distinctNames(tokens.map((token) => spokenName(run.tokenText(token))));
}

/** Name a token in a sentence; whitespace is put into words. */
function spokenName(text: string) {
  if (text.trim() === "") return text.includes("\n") ? "a line break" : "a space";
  return tokenName(text.trim());
}
