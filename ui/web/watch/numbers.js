// The row of numbers above the lanes: those of this moment apart from those of the whole run. Shows
// what the run counts, counts nothing itself.

import { formatSeconds, median } from "../core/numbers.js";
import { make, setAttribute, setText } from "../dom/elements.js";

/** @import { Actions } from "./actions.js" */
/** @import { View } from "./view.js" */

/** @typedef {ReturnType<View["run"]["numbersAt"]>} Numbers */
/** @typedef {{ run: string, seconds: number[], ntpSeconds: number[], error?: string }} Timing */
/** @typedef {{ shown: string, label: string }} Cell */

export const NUM_TIMINGS = 5;
const UNKNOWN = "–";
const WHOLE = "The whole run";

/** @type {Readonly<Record<string, string>>} */
const LECTURE_LABELS = {
  passes: "forward passes",
  tokens: "tokens",
  perPass: "a forward pass",
  clock: "engine",
};

/**
 * "0.15 s (0.14 to 0.19)"
 * @param {number[]} seconds
 */
function rangeWords(seconds) {
  const [low, high] = [Math.min(...seconds), Math.max(...seconds)];
  return `${formatSeconds(median(seconds))} (${formatSeconds(low)} to ${formatSeconds(high)})`;
}

/**
 * The moment: what the forward passes up to this one gave.
 * @param {View} view
 * @param {Numbers} numbers
 * @returns {Record<string, Cell>}
 */
function momentCells({ run }, { numPasses, numTokens, numGiven, tokensPerPass }) {
  const isStarted = run.main.steps.length > 0;
  const given = numGiven ? `tokens, ${numGiven} of them given` : "tokens so far";
  return {
    passes: { shown: isStarted ? String(numPasses) : UNKNOWN, label: "forward passes so far" },
    tokens: { shown: isStarted ? String(numTokens) : UNKNOWN, label: given },
    perPass: {
      shown: isStarted ? tokensPerPass.toFixed(2) : UNKNOWN,
      label: "tokens a forward pass",
    },
  };
}

/**
 * The whole run: forward passes instead of those of next-token prediction.
 * @param {View} view
 * @param {Numbers} numbers
 * @returns {Cell}
 */
function savedCell({ run, isLecture }, { wholePasses, ntpPasses }) {
  if (wholePasses === null || ntpPasses === null) {
    return { shown: UNKNOWN, label: "forward passes, once it is complete" };
  }
  if (run.strategy === "ntp")
    return { shown: String(wholePasses), label: "forward passes, one a token" };
  const shown = String(wholePasses);
  const label = `${isLecture ? "" : "forward passes "}instead of ${ntpPasses}`;
  return { shown, label };
}

/**
 * The heading of the whole run; at its end how many times fewer forward passes it took.
 * @param {View} view
 * @param {Numbers} numbers
 */
function wholeTitle({ run, pass }, { wholePasses, ntpPasses }) {
  if (!wholePasses || !ntpPasses || pass < run.main.lastPass) return WHOLE;
  return wholePasses < ntpPasses
    ? `${WHOLE}: ${(ntpPasses / wholePasses).toFixed(1)}× fewer`
    : WHOLE;
}

/**
 * @param {Numbers} numbers
 * @param {Timing | null} timing
 * @returns {Cell}
 */
function clockCell({ seconds, ntpSeconds }, timing) {
  if (seconds === null || ntpSeconds === null) return { shown: UNKNOWN, label: "engine time" };
  if (!timing?.seconds.length) {
    const label = `engine time, one timing; next-token ${formatSeconds(ntpSeconds)}`;
    return { shown: formatSeconds(seconds), label };
  }
  const label = `${rangeWords(timing.seconds)}, median and range of ${timing.seconds.length}; next-token ${rangeWords(timing.ntpSeconds)}`;
  return { shown: formatSeconds(median(timing.seconds)), label };
}

/**
 * Why fewer forward passes were not faster, "" if they were.
 * @param {View} view
 * @param {Numbers} numbers
 * @param {Timing | null} timing
 */
function whyNotFaster({ run }, { seconds, ntpSeconds, wholePasses }, timing) {
  if (seconds === null || ntpSeconds === null || !run.ntp || !wholePasses) return "";
  const own = timing?.seconds.length ? median(timing.seconds) : seconds;
  const plain = timing?.ntpSeconds.length ? median(timing.ntpSeconds) : ntpSeconds;
  const numPlain = run.ntp.steps.length;
  if (own < plain || wholePasses >= numPlain) return "";
  /** @param {number} each */
  const ms = (each) => `${(each * 1000).toFixed(1)} ms`;
  return (
    `Fewer forward passes were not faster here: one over a block took ${ms(own / wholePasses)}, ` +
    `one over a single token ${ms(plain / numPlain)}.`
  );
}

/**
 * A group of numbers under its heading.
 * @param {string} name
 * @param {string} title
 * @param {string[]} keys
 */
function makeGroup(name, title, keys) {
  const cells = new Map(
    keys.map((key) => {
      const value = make("dd", "sbd-number");
      const label = make("dt", "sbd-number-label");
      const root = make("div", `sbd-number-cell sbd-number-${key}`, {}, label, value);
      return [key, { root, value, label }];
    }),
  );
  const nodes = [...cells.values()].map(({ root }) => root);
  const list = make("dl", `sbd-numbers-group sbd-numbers-${name}`, {}, ...nodes);
  const root = make("section", "", { "aria-label": title }, make("h3", "", {}, title), list);
  return { root, cells };
}

/**
 * The row, with a cell a number.
 * @param {Actions} actions
 */
export function makeNumbers(actions) {
  const moment = makeGroup("moment", "This moment", ["passes", "tokens", "perPass"]);
  const whole = makeGroup("whole", WHOLE, ["saved", "clock"]);
  const again = make("button", "sbd-action sbd-time-again", { type: "button" });
  const why = make("p", "sbd-numbers-why");
  again.addEventListener("click", actions.timeAgain);
  const title = make("span", "", {}, WHOLE);
  whole.root.querySelector("h3")?.replaceChildren(title, again);
  const root = make("div", "sbd-numbers", {}, moment.root, whole.root, why);
  const cells = new Map([...moment.cells, ...whole.cells]);
  /** @type {Map<string, Timing>} by run */
  const timings = new Map();

  /**
   * What came of timing a run again.
   * @param {Timing} timing
   */
  function take(timing) {
    timings.set(timing.run, timing);
  }

  /** @param {View} view */
  function update(view) {
    const { run, isLecture } = view;
    setAttribute(root, "data-lane", run.strategy);
    const numbers = run.numbersAt(view.pass);
    const timing = timings.get(run.id) ?? null;
    /** @type {Record<string, Cell>} */
    const shown = {
      ...momentCells(view, numbers),
      saved: savedCell(view, numbers),
      clock: clockCell(numbers, timing),
    };
    for (const [key, { value, label }] of cells) {
      setText(value, shown[key]?.shown ?? UNKNOWN);
      setText(label, (isLecture && LECTURE_LABELS[key]) || (shown[key]?.label ?? ""));
    }
    const { wholePasses, ntpPasses } = numbers;
    const isFewer = wholePasses !== null && ntpPasses !== null && wholePasses < ntpPasses;
    cells.get("saved")?.root.classList.toggle("is-fewer", isFewer && run.strategy !== "ntp");
    const words = timing?.error ?? whyNotFaster(view, numbers, timing);
    why.hidden = words === "";
    setText(why, words);
    setText(title, wholeTitle(view, numbers));
    again.hidden = !actions.canRedo || run.strategy === "ntp" || numbers.wholePasses === null;
    showProgress(again, timing);
  }

  return { root, update, take };
}

/**
 * @param {HTMLButtonElement} button
 * @param {Timing | null} timing
 */
function showProgress(button, timing) {
  const count = timing?.seconds.length ?? NUM_TIMINGS;
  const isBusy = timing !== null && !timing.error && count < NUM_TIMINGS;
  button.disabled = isBusy;
  setText(
    button,
    isBusy ? `timing ${count + 1} of ${NUM_TIMINGS} …` : `run it ${NUM_TIMINGS} times`,
  );
}
