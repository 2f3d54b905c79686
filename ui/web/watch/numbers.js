// The row of numbers above the lanes. Shows what history counts, counts nothing itself.

import { formatSeconds } from "../core/numbers.js";
import { make, setText } from "../dom/elements.js";

/** @import { View } from "./view.js" */

const LECTURE_LABELS = {
  passes: "passes",
  tokens: "tokens",
  perPass: "a pass",
  saved: "fewer passes",
  clock: "engine",
};

const NUMBER_LABELS = {
  passes: "forward passes",
  tokens: "tokens decoded",
  perPass: "tokens per pass",
  saved: "fewer passes than next-token",
  clock: "engine time",
};

/** @typedef {keyof typeof NUMBER_LABELS} NumberName */
const NAMES = /** @type {NumberName[]} */ (Object.keys(NUMBER_LABELS));

/**
 * What stands under each number, in words.
 * @param {View} view
 * @param {ReturnType<View["run"]["numbersAt"]>} numbers
 * @returns {Record<NumberName, string>}
 */
function labelsOf({ run, isLecture }, { numGiven, isWhole, ntpSeconds }) {
  if (isLecture) return LECTURE_LABELS;
  const whole = isWhole ? NUMBER_LABELS.saved : "fewer passes, so far";
  return {
    ...NUMBER_LABELS,
    tokens: numGiven ? `tokens, ${numGiven} of them given` : NUMBER_LABELS.tokens,
    saved: run.main.pins.size ? "fewer passes than one a token" : whole,
    clock:
      ntpSeconds === null ? "engine time" : `engine time; next-token ${formatSeconds(ntpSeconds)}`,
  };
}

/** The row, with a cell a number. */
export function makeNumbers() {
  const root = make("dl", "sbd-numbers");
  const cells = new Map(
    NAMES.map((key) => {
      const value = make("dd", "sbd-number");
      const name = make("dt", "sbd-number-label", {}, NUMBER_LABELS[key]);
      root.append(make("div", `sbd-number-cell sbd-number-${key}`, {}, name, value));
      return [key, { value, name }];
    }),
  );

  /** @param {View} view */
  function update(view) {
    const numbers = view.run.numbersAt(view.pass);
    const isStarted = view.run.main.steps.length > 0;
    const shown = {
      passes: isStarted ? String(numbers.numPasses) : "–",
      tokens: isStarted ? String(numbers.numTokens) : "–",
      perPass: isStarted ? numbers.tokensPerPass.toFixed(2) : "–",
      saved: isStarted ? `${numbers.passesSaved.toFixed(1)}×` : "–",
      clock: numbers.seconds === null ? "–" : formatSeconds(numbers.seconds),
    };
    const labels = labelsOf(view, numbers);
    for (const [key, { value, name }] of cells) {
      setText(value, shown[key]);
      setText(name, labels[key]);
    }
  }

  return { root, update };
}
