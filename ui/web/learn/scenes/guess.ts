// The scene “Sure and unsure”: the reader guesses a word at two gaps, then sees the model's guesses and their entropy.

import { html } from "lit-html";
import { entropyColour, unsureness } from "../../core/colours.ts";
import { formatNats, formatPercent } from "../../core/numbers.ts";
import { tokenTemplate } from "../../dom/templates.ts";
import { LEGEND } from "../../dom/terms.ts";
import { choices, news } from "../parts.ts";
import type { Gap, MakeScene } from "../view.ts";

const SHOWN_BEFORE = 80; // characters before a gap

function endOf(text: string) {
  if (text.length <= SHOWN_BEFORE) return text;
  return `…${text.slice(-SHOWN_BEFORE).replace(/^\S*/, "")}`;
}

export function guessesTemplate(guesses: Gap["guesses"]) {
  const rows = guesses.map(
    ([text, probability]) =>
      html`<li>
        <span class="sbd-learn-guess-token">${tokenTemplate(text)}</span>
        <span class="sbd-learn-guess-track"
          ><span class="sbd-learn-guess-fill" style="--part: ${probability}"></span
        ></span>
        <span class="sbd-learn-guess-number">${formatPercent(probability)}</span>
      </li>`,
  );
  return html`<ul class="sbd-learn-guesses">${rows}</ul>`;
}

/** Return a bar of an entropy, as on the tiles. @param entropy nats */
function meter(entropy: number) {
  const inks = `--ink-light: ${entropyColour(entropy, false)}; --ink-dark: ${entropyColour(entropy, true)}`;
  return html`<div class="sbd-learn-entropy">
    <span class="sbd-learn-entropy-well" aria-hidden="true"
      ><span
        class="sbd-learn-entropy-bar sbd-learn-ink"
        style="${inks}; --level: ${unsureness(entropy).toFixed(3)}"
      ></span
    ></span>
    <span>entropy ${formatNats(entropy)} nats</span>
  </div>`;
}

function replyWords({ guesses }: Gap, chosen: string) {
  const [best, ...others] = guesses.map(([text, part]) => ({ text: text.trim(), part }));
  if (!best || best.text === chosen) return "The model’s likeliest word too.";
  const own = others.find(({ text }) => text === chosen);
  const part = own ? `gives “${chosen}” ${formatPercent(own.part)}` : `does not expect “${chosen}”`;
  return `The model ${part}; likeliest is “${best.text}”, ${formatPercent(best.part)}.`;
}

export const makeGuessScene: MakeScene = ({ lesson, onActed, draw }) => {
  const gaps = lesson.gaps.map((gap) => ({ gap, chosen: "", isOpen: false }));
  type State = (typeof gaps)[number];
  function open(state: State, chosen: string) {
    if (!state.isOpen) Object.assign(state, { chosen, isOpen: true });
    draw();
    if (gaps.every(({ isOpen }) => isOpen)) onActed();
  }
  function card(state: State, index: number) {
    const { gap, chosen, isOpen } = state;
    const name = index ? "the second gap" : "the first gap";
    const best = gap.guesses[0]?.[0].trim() ?? "";
    const options = gap.options.map((option) => ({ name: option.trim(), value: option.trim() }));
    const choose = (option: string) => open(state, option);
    return html`<section
      class="sbd-learn-gap-card ${isOpen ? "is-shown" : ""}"
      aria-label=${name}
    >
      <p class="sbd-learn-sentence"
        >${endOf(gap.before)} <span class="sbd-learn-gap">${isOpen ? best : "?"}</span></p>
      ${choices(`The word at ${name}`, options, chosen, choose, isOpen ? { right: best } : {})}
      ${news(chosen && replyWords(gap, chosen))}
      <div class="sbd-learn-result">${guessesTemplate(gap.guesses)}${meter(gap.entropy)}</div>
    </section>`;
  }
  return {
    view: () => html`<div class="sbd-learn-guess">${gaps.map(card)}${LEGEND}</div>`,
    answer: () => {
      for (const state of gaps) open(state, "");
    },
  };
};
