// The legend of the entropy scale: with its ticks in nats, and as a small ramp that explains itself.

import { entropyColour, MAX_ENTROPY, SCALE_TICKS, unsureness } from "../core/scale.js";
import { make } from "./elements.js";
import { question, term } from "./terms.js";

const RAMP =
  "Entropy: how unsure the model was of a token when it came, blue for sure, yellow for unsure. " +
  "The line under it grows with it. No colour: read from left to right or given, not guessed. Lines over and " +
  "under it, or a filled box beside it: new in this forward pass. Outline: the block. Empty places: still masked, " +
  "dashed: drafted. Wavy line: not what next-token prediction says.";

/** The ramp in the colours of both schemes. */
function makeBar() {
  /** @param {boolean} isDark */
  const stops = (isDark) =>
    Array.from({ length: 25 }, (_, i) => entropyColour((i / 24) ** 2 * MAX_ENTROPY, isDark)).join(
      ", ",
    );
  const bar = make("span", "sbd-legend-bar");
  bar.style.setProperty("--ramp-light", `linear-gradient(to right, ${stops(false)})`);
  bar.style.setProperty("--ramp-dark", `linear-gradient(to right, ${stops(true)})`);
  return bar;
}

/** "sure", the ramp, "unsure", and what a text's looks mean. */
export function makeRamp() {
  const [sure, unsure] = ["sure", "unsure"].map((word) => make("span", "sbd-ramp-word", word));
  return make("span", "sbd-ramp", sure ?? "", makeBar(), unsure ?? "", question("colour", RAMP));
}

/** The legend: the ramp with its ticks in nats. */
export function makeLegend() {
  const ticks = make("div", "sbd-legend-ticks", { "aria-hidden": "true" });
  for (const entropy of SCALE_TICKS) {
    const tick = make("span", "", String(entropy));
    tick.style.left = `${unsureness(entropy) * 100}%`;
    ticks.append(tick);
  }
  const ends = make(
    "div",
    "sbd-legend-ends",
    make("span", "", "sure"),
    make("span", "", term("entropy"), ", ", term("nats")),
    make("span", "", "unsure"),
  );
  return make("div", "sbd-legend", makeBar(), ticks, ends);
}
