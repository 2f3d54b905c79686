// Sure and unsure: guess the word at two gaps, then see what the model says, and its entropy.

import { formatNats, formatPercent } from "../../core/numbers.js";
import { entropyAt, MAX_ENTROPY } from "../../core/scale.js";
import { make, setStyle, setText } from "../../dom/elements.js";
import { showToken } from "../../dom/tokens.js";
import { makeChoices } from "../parts/choices.js";
import { paintEntropy } from "../parts/ink.js";

/** @import { Gap } from "../lesson.js" */
/** @import { MakeScene } from "../view.js" */

const SHOWN_BEFORE = 80; // letters
const BAR_WORDS = `full bar: ${MAX_ENTROPY}, half: ${entropyAt(0.5)}`;

/** @param {string} text */
function endOf(text) {
  if (text.length <= SHOWN_BEFORE) return text;
  return `…${text.slice(-SHOWN_BEFORE).replace(/^\S*/, "")}`;
}

/**
 * What the model says: its best guesses with their probabilities.
 * @param {Gap} gap
 */
function makeGuesses({ guesses }) {
  const rows = guesses.map(([text, probability]) => {
    const token = make("span", "sbd-learn-guess-token");
    showToken(token, text);
    const fill = make("span", "sbd-learn-guess-fill");
    setStyle(fill, "--part", String(probability));
    const track = make("span", "sbd-learn-guess-track", {}, fill);
    const number = make("span", "sbd-learn-guess-number", {}, formatPercent(probability));
    return make("li", "", {}, token, track, number);
  });
  return make("ul", "sbd-learn-guesses", {}, ...rows);
}

/**
 * The entropy as the bar that the tiles have.
 * @param {number} entropy nats
 */
function makeMeter(entropy) {
  const bar = make("span", "sbd-learn-entropy-bar");
  paintEntropy(bar, entropy);
  const well = make("span", "sbd-learn-entropy-well", { "aria-hidden": "true" }, bar);
  const number = make("span", "sbd-learn-entropy-number");
  return {
    root: make("div", "sbd-learn-entropy", {}, well, number),
    tell: () => setText(number, `entropy ${formatNats(entropy)} nats (${BAR_WORDS})`),
  };
}

/**
 * @param {Gap} gap
 * @param {string} name
 * @param {() => void} done
 */
function makeGap(gap, name, done) {
  const best = gap.guesses[0]?.[0].trim() ?? "";
  const gapBox = make("span", "sbd-learn-gap", {}, "?");
  const options = gap.options.map((option) => option.trim());
  const choices = makeChoices(`The word at ${name}`, options, () => open());
  const meter = makeMeter(gap.entropy);
  const sentence = make("p", "sbd-learn-sentence", {}, endOf(gap.before), " ", gapBox);
  const result = make("div", "sbd-learn-result", {}, makeGuesses(gap), meter.root);
  const attributes = { "aria-label": name };
  const root = make("section", "sbd-learn-gap-card", attributes, sentence, choices.root, result);
  let isOpen = false;
  function open() {
    if (isOpen) return;
    isOpen = true;
    choices.reveal(best, "most likely");
    setText(gapBox, best);
    meter.tell();
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
