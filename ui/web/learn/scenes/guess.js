// Sure and unsure: guess the word at two gaps, then see what the model says, and its entropy.

import { formatNats, formatPercent } from "../../core/numbers.js";
import { make, setStyle, setText } from "../../dom/elements.js";
import { showToken } from "../../dom/tokens.js";
import { makeChoices } from "../parts/choices.js";
import { paintEntropy } from "../parts/ink.js";

/** @import { Gap } from "../lesson.js" */
/** @import { MakeScene } from "../view.js" */

const SHOWN_BEFORE = 80; // letters

/** @param {string} text */
function endOf(text) {
  if (text.length <= SHOWN_BEFORE) return text;
  return `…${text.slice(-SHOWN_BEFORE).replace(/^\S*/, "")}`;
}

/**
 * @param {Gap} gap
 * @param {string} name
 * @param {() => void} done
 */
function makeGap(gap, name, done) {
  const gapBox = make("span", "sbd-learn-gap", {}, "?");
  const [best] = gap.guesses;
  const choices = makeChoices(
    `The word at ${name}`,
    gap.options.map((option) => option.trim()),
    () => open(),
  );
  const rows = gap.guesses.map(([text, probability]) => {
    const token = make("span", "sbd-learn-guess-token");
    showToken(token, text);
    const fill = make("span", "sbd-learn-guess-fill");
    setStyle(fill, "--part", String(probability));
    return make(
      "li",
      "",
      {},
      token,
      make("span", "sbd-learn-guess-track", {}, fill),
      make("span", "sbd-learn-guess-number", {}, formatPercent(probability)),
    );
  });
  const bar = make("span", "sbd-learn-entropy-bar");
  paintEntropy(bar, gap.entropy);
  const number = make("span", "sbd-learn-entropy-number");
  const meter = make(
    "div",
    "sbd-learn-entropy",
    {},
    make("span", "sbd-learn-entropy-well", { "aria-hidden": "true" }, bar),
    number,
  );
  const result = make(
    "div",
    "sbd-learn-result",
    {},
    make("ul", "sbd-learn-guesses", {}, ...rows),
    meter,
  );
  const root = make(
    "section",
    "sbd-learn-gap-card",
    { "aria-label": name },
    make("p", "sbd-learn-sentence", {}, endOf(gap.before), " ", gapBox),
    choices.root,
    result,
  );
  let isOpen = false;
  function open() {
    if (isOpen) return;
    isOpen = true;
    choices.reveal(best?.[0].trim() ?? "", "most likely");
    setText(gapBox, best?.[0].trim() ?? "");
    setText(number, `entropy ${formatNats(gap.entropy)} nats`);
    root.classList.add("is-shown");
    done();
  }
  return { root, open, isOpen: () => isOpen };
}

/** @type {MakeScene} */
export function makeGuessScene({ lesson, did }) {
  const gaps = lesson.gaps.map((gap, index) =>
    makeGap(gap, index ? "the second gap" : "the first gap", () => {
      if (gaps.every((each) => each.isOpen())) did();
    }),
  );
  return {
    root: make("div", "sbd-learn-guess", {}, ...gaps.map(({ root }) => root)),
    answer: () => {
      for (const gap of gaps) gap.open();
    },
  };
}
