// The legend of the entropy scale.

import { entropyColour, MAX_ENTROPY, SCALE_TICKS, unsureness } from "../core/scale.js";
import { make } from "./elements.js";
import { term } from "./terms.js";

/** The legend: the ramp with its ticks in nats. */
export function makeLegend() {
  /** @param {boolean} isDark */
  const stops = (isDark) =>
    Array.from({ length: 25 }, (_, i) => entropyColour((i / 24) ** 2 * MAX_ENTROPY, isDark)).join(
      ", ",
    );
  const bar = make("div", "sbd-legend-bar");
  bar.style.setProperty("--ramp-light", `linear-gradient(to right, ${stops(false)})`);
  bar.style.setProperty("--ramp-dark", `linear-gradient(to right, ${stops(true)})`);
  const ticks = make("div", "sbd-legend-ticks", { "aria-hidden": "true" });
  for (const entropy of SCALE_TICKS) {
    const tick = make("span", "", {}, String(entropy));
    tick.style.left = `${unsureness(entropy) * 100}%`;
    ticks.append(tick);
  }
  const ends = make(
    "div",
    "sbd-legend-ends",
    {},
    make("span", "", {}, "sure"),
    make("span", "", {}, term("entropy"), ", ", term("nats")),
    make("span", "", {}, "unsure"),
  );
  return make("div", "sbd-legend", {}, bar, ticks, ends);
}
