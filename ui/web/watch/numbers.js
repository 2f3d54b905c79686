// The row of numbers above the lanes: those of this moment apart from those of the whole run. Shows
// what the run counts, counts nothing itself.

import { countOf, formatSeconds, median } from "../core/numbers.js";
import { lengthWords, secondsOfPasses, slowness, timesLess } from "../core/run/saving.js";
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
};

/**
 * "0.14 s to 0.19 s"
 * @param {number[]} seconds
 */
function rangeWords(seconds) {
  const [low, high] = [Math.min(...seconds), Math.max(...seconds)];
  return `${formatSeconds(low)} to ${formatSeconds(high)}`;
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
 * How many times fewer forward passes a token took, 0 if no fewer or not known yet.
 * @param {View} view
 * @param {Numbers} numbers
 */
function timesFewer({ run }, { wholePasses, wholeTokens, ntpPasses, ntpTokens }) {
  if (run.strategy === "ntp" || wholePasses === null || ntpPasses === null) return 0;
  const times = timesLess(wholePasses, wholeTokens, ntpPasses, ntpTokens) ?? 0;
  return times > 1 ? times : 0;
}

/**
 * The heading of the whole run; at its end how many times fewer forward passes it took, where both
 * answers are as long.
 * @param {View} view
 * @param {Numbers} numbers
 */
function wholeTitle(view, numbers) {
  const times = timesFewer(view, numbers);
  const isSaid = view.pass < view.run.main.lastPass || numbers.wholeTokens !== numbers.ntpTokens;
  return !times || isSaid ? WHOLE : `${WHOLE}: ${times.toFixed(2)}× fewer`;
}

/**
 * @param {View} view
 * @param {Numbers} numbers
 * @param {Timing | null} timing
 * @returns {Cell}
 */
function clockCell({ isLecture }, { seconds, ntpSeconds }, timing) {
  if (seconds === null || ntpSeconds === null) return { shown: UNKNOWN, label: "engine time" };
  if (isLecture) {
    const all = timing?.seconds.length ? timing : { seconds: [seconds], ntpSeconds: [ntpSeconds] };
    const label = `next-token ${formatSeconds(median(all.ntpSeconds))}`;
    return { shown: formatSeconds(median(all.seconds)), label };
  }
  if (!timing?.seconds.length) {
    const label = `engine time, one timing; next-token ${formatSeconds(ntpSeconds)}`;
    return { shown: formatSeconds(seconds), label };
  }
  const plain = `${formatSeconds(median(timing.ntpSeconds))}, ${rangeWords(timing.ntpSeconds)}`;
  const runs = countOf(timing.seconds.length, "new run");
  const label = `median of ${runs}, ${rangeWords(timing.seconds)}; next-token ${plain}`;
  return { shown: formatSeconds(median(timing.seconds)), label };
}

/**
 * Why fewer forward passes were not faster, "" if they were.
 * @param {View} view
 * @param {Numbers} numbers
 * @param {Timing | null} timing
 */
function whyNotFaster({ run, isLecture }, numbers, timing) {
  const { seconds, ntpSeconds, wholePasses, wholeTokens, ntpTokens } = numbers;
  if (seconds === null || ntpSeconds === null || !run.ntp || !wholePasses) return "";
  const times = timing?.seconds.length ? timing : { seconds: [seconds], ntpSeconds: [ntpSeconds] };
  const numPlain = run.ntp.steps.length;
  const found = slowness({ wholePasses, wholeTokens, numPlain, ntpTokens, ...times });
  if (!found) return "";
  const each = wholeTokens === ntpTokens ? "" : " a token";
  // Timed again, only whole answers are known: their forward passes are those of another run.
  const isAgain = times === timing;
  const [block, single] = [secondsOfPasses(run.main.steps), secondsOfPasses(run.ntp.steps)];
  if (isLecture || isAgain || !block || !single) {
    const own = `${formatSeconds(found.own)}, next-token ${formatSeconds(found.plain)}`;
    return `Fewer forward passes, but not faster${each} here: ${own}.`;
  }
  /** @param {number} time */
  const ms = (time) => `${(time * 1000).toFixed(1)} ms`;
  return (
    `Fewer forward passes were not faster${each} here: one over a block took ${ms(block.later)}, ` +
    `one over a single token ${ms(single.later)}; reading the prompt took ` +
    `${ms(block.prompt)}, in next-token prediction ${ms(single.prompt)}.`
  );
}

/**
 * What the numbers of the whole run leave open: another length, fewer forward passes in more time.
 * @param {View} view
 * @param {Numbers} numbers
 * @param {Timing | null} timing
 */
function wholeWords(view, numbers, timing) {
  const { wholePasses, wholeTokens, ntpTokens } = numbers;
  const isCompared = wholePasses !== null && view.run.strategy !== "ntp";
  const times = view.isLecture ? 0 : timesFewer(view, numbers);
  const length = isCompared ? lengthWords(wholeTokens, ntpTokens, times || null) : "";
  return [length, whyNotFaster(view, numbers, timing)].filter(Boolean).join(" ");
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
      clock: clockCell(view, numbers, timing),
    };
    for (const [key, { value, label }] of cells) {
      setText(value, shown[key]?.shown ?? UNKNOWN);
      setText(label, (isLecture && LECTURE_LABELS[key]) || (shown[key]?.label ?? ""));
    }
    const isFewer = timesFewer(view, numbers) > 0;
    cells.get("saved")?.root.classList.toggle("is-fewer", isFewer);
    const words = timing?.error ?? wholeWords(view, numbers, timing);
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
