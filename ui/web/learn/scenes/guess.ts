// The scene “Sure and unsure”: the reader guesses a word at two gaps, then sees the model's guesses and their entropy.

import { formatNats, formatPercent } from "../../core/numbers.ts";
import { make, setStyle, setText, showToken } from "../../dom/elements.ts";
import { makeLegend } from "../../dom/terms.ts";
import { makeChoices, makeSizedBox, paintEntropy } from "../parts.ts";
import type { Gap, MakeScene } from "../view.ts";

const SHOWN_BEFORE = 80; // characters before a gap

function endOf(text: string) {
  if (text.length <= SHOWN_BEFORE) return text;
  return `…${text.slice(-SHOWN_BEFORE).replace(/^\S*/, "")}`;
}

/** Make a list of the model's best guesses with their probabilities. */
export function makeGuesses(guesses: Gap["guesses"]) {
  const rows = guesses.map(([text, probability]) => {
    const token = make("span", "sbd-learn-guess-token");
    showToken(token, text);
    const fill = make("span", "sbd-learn-guess-fill");
    setStyle(fill, "--part", String(probability));
    const track = make("span", "sbd-learn-guess-track", fill);
    const number = make("span", "sbd-learn-guess-number", formatPercent(probability));
    return make("li", "", token, track, number);
  });
  return make("ul", "sbd-learn-guesses", ...rows);
}

/** Make a bar of an entropy, as on the tiles. @param entropy nats */
function makeMeter(entropy: number) {
  const bar = make("span", "sbd-learn-entropy-bar");
  paintEntropy(bar, entropy);
  const well = make("span", "sbd-learn-entropy-well", { "aria-hidden": "true" }, bar);
  const number = `entropy ${formatNats(entropy)} nats`;
  return make("div", "sbd-learn-entropy", well, make("span", "", number));
}

/** Say what the model thinks of the reader's word. */
function replyWords({ guesses }: Gap, chosen: string) {
  const [best, ...others] = guesses.map(([text, part]) => ({ text: text.trim(), part }));
  if (!best || best.text === chosen) return "The model’s likeliest word too.";
  const own = others.find(({ text }) => text === chosen);
  const part = own ? `gives “${chosen}” ${formatPercent(own.part)}` : `does not expect “${chosen}”`;
  return `The model ${part}; likeliest is “${best.text}”, ${formatPercent(best.part)}.`;
}

function makeGap(gap: Gap, name: string, done: () => void) {
  const best = gap.guesses[0]?.[0].trim() ?? "";
  const gapBox = make("span", "sbd-learn-gap", "?");
  const options = gap.options.map((option) => option.trim());
  const news = make("p", "sbd-learn-yours", { role: "status" });
  const choices = makeChoices(`The word at ${name}`, options, (chosen) => {
    if (!isOpen) setText(news, replyWords(gap, chosen));
    open();
  });
  const sentence = make("p", "sbd-learn-sentence", endOf(gap.before), " ", gapBox);
  const room = makeSizedBox(
    news,
    options.map((option) => replyWords(gap, option)),
  );
  const result = make("div", "sbd-learn-result", makeGuesses(gap.guesses), makeMeter(gap.entropy));
  const nodes = [sentence, choices.root, room, result];
  const root = make("section", "sbd-learn-gap-card", { "aria-label": name }, ...nodes);
  let isOpen = false;
  function open() {
    if (isOpen) return;
    isOpen = true;
    choices.reveal(best);
    setText(gapBox, best);
    root.classList.add("is-shown");
    done();
  }
  return { root, open, isOpen: () => isOpen };
}

export const makeGuessScene: MakeScene = ({ lesson, onActed }) => {
  const gaps = lesson.gaps.map((gap, index) =>
    makeGap(gap, index ? "the second gap" : "the first gap", () => {
      if (gaps.every((each) => each.isOpen())) onActed();
    }),
  );
  return {
    root: make("div", "sbd-learn-guess", ...gaps.map(({ root }) => root), makeLegend()),
    answer: () => {
      for (const gap of gaps) gap.open();
    },
  };
};
