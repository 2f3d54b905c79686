// The numbers in full, for the drawer of details: those of this moment apart from those of the whole
// run. Shows what the run counts, counts nothing itself.

import { countOf, formatSeconds, median } from "../core/numbers.js";
import { lengthWords, NUM_TIMINGS, timesLess, timesOf, whyNotFaster } from "../core/run/times.js";
import { make, setAttribute, setText } from "../dom/elements.js";

/** @import { Numbers, Timing } from "../core/run/times.js" */
/** @import { Actions } from "./actions.js" */
/** @import { View } from "./view.js" */

/** @typedef {{ shown: string, label: string }} Cell */

const SHOWN_DIGITS = 8; // of a digest: enough to tell weights apart
const UNKNOWN = "–";
const WHOLE = "The whole run";

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
      label: numGiven ? "decoded a forward pass" : "tokens a forward pass",
    },
  };
}

/**
 * The whole run: forward passes instead of those of next-token prediction, if it ran beside this one
 * and no token was given, which it would not know.
 * @param {View} view
 * @param {Numbers} numbers
 * @returns {Cell}
 */
function savedCell({ run }, { wholePasses, wholeTokens, ntpPasses }) {
  if (wholePasses === null) {
    return { shown: UNKNOWN, label: "forward passes, once it is complete" };
  }
  if (run.strategy === "ntp")
    return { shown: String(wholePasses), label: "forward passes, one a token" };
  const shown = String(wholePasses);
  const what =
    ntpPasses === null
      ? `for ${countOf(wholeTokens, "token")}${run.main.pins.size ? " not given" : ""}`
      : `instead of ${ntpPasses}`;
  return { shown, label: `forward passes ${what}` };
}

/**
 * How many times fewer forward passes a token took, 0 if no fewer or not known yet.
 * @param {View["run"]} run
 * @param {Numbers} numbers
 */
function timesFewer(run, { wholePasses, wholeTokens, ntpPasses, ntpTokens }) {
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
  const times = timesFewer(view.run, numbers);
  const isSaid = view.pass < view.run.main.lastPass || numbers.wholeTokens !== numbers.ntpTokens;
  return !times || isSaid ? WHOLE : `${WHOLE}: ${times.toFixed(2)}× fewer`;
}

/**
 * @param {Numbers} numbers
 * @param {Timing | null} timing
 * @returns {Cell}
 */
function clockCell(numbers, timing) {
  const { seconds } = numbers;
  const times = timesOf(numbers, timing);
  const own = timing?.seconds.length ? timing.seconds : [seconds ?? 0];
  if (seconds === null) return { shown: UNKNOWN, label: "engine time" };
  if (!times) return { shown: formatSeconds(median(own)), label: ownTimeWords(own) };
  const shown = formatSeconds(median(times.seconds));
  const plain = formatSeconds(median(times.ntpSeconds));
  if (times !== timing) return { shown, label: `engine time, one timing; next-token ${plain}` };
  const runs = countOf(timing.seconds.length, "new run");
  const plainRange = `${plain}, ${rangeWords(timing.ntpSeconds)}`;
  const label = `median of ${runs}, ${rangeWords(timing.seconds)}; next-token ${plainRange}`;
  return { shown, label };
}

/**
 * Text for a run's time where there is none beside it.
 * @param {number[]} seconds of every time that it ran
 */
function ownTimeWords(seconds) {
  if (seconds.length === 1) return "engine time, one timing";
  return `median of ${countOf(seconds.length, "new run")}, ${rangeWords(seconds)}`;
}

/**
 * Explains the numbers of the whole run: another length, fewer forward passes in more time.
 * @param {View} view
 * @param {Numbers} numbers
 * @param {Timing | null} timing
 */
function wholeWords({ run }, numbers, timing) {
  const { wholeTokens, ntpPasses, ntpTokens } = numbers;
  const isCompared = ntpPasses !== null && run.strategy !== "ntp";
  const times = timesFewer(run, numbers);
  const length = isCompared ? lengthWords(wholeTokens, ntpTokens, times || null) : "";
  return [length, whyNotFaster(run, numbers, timing)].filter(Boolean).join(" ");
}

/**
 * Names the weights that decoded by the first digits of their digests; "" where the run does not say it.
 * @param {View["run"]} run
 */
export function weightsWords({ weights }) {
  const [own, base] = Object.entries(weights).map(
    ([name, digest]) => `${name} (${digest.slice(0, SHOWN_DIGITS)})`,
  );
  if (!own) return "";
  return base ? `Weights: adapter ${own} beside ${base}` : `Weights: ${own}`;
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
  const weights = make("p", "sbd-numbers-why sbd-numbers-weights", {
    title: "Names and the first digits of SHA-256 digests; the trace file has them whole",
  });
  const root = make("div", "sbd-numbers", {}, moment.root, whole.root, why, weights);
  const cells = new Map([...moment.cells, ...whole.cells]);
  /** @type {Map<string, Timing>} by run */
  const timings = new Map();

  /**
   * Result of timing a run again.
   * @param {Timing} timing
   */
  function take(timing) {
    timings.set(timing.run, timing);
  }

  /**
   * How long a run took when it was made again; null if it was not.
   * @param {View["run"]} run
   */
  function timingOf(run) {
    return timings.get(run.id) ?? run.timing;
  }

  /** @param {View} view */
  function update(view) {
    const { run } = view;
    setAttribute(root, "data-lane", run.strategy);
    const numbers = run.numbersAt(view.pass);
    const timing = timingOf(run);
    /** @type {Record<string, Cell>} */
    const shown = {
      ...momentCells(view, numbers),
      saved: savedCell(view, numbers),
      clock: clockCell(numbers, timing),
    };
    for (const [key, { value, label }] of cells) {
      setText(value, shown[key]?.shown ?? UNKNOWN);
      setText(label, shown[key]?.label ?? "");
    }
    const isFewer = timesFewer(run, numbers) > 0;
    cells.get("saved")?.root.classList.toggle("is-fewer", isFewer);
    const said = timing?.error ?? wholeWords(view, numbers, timing);
    why.hidden = !said;
    setText(why, said);
    setText(title, wholeTitle(view, numbers));
    weights.hidden = !Object.keys(run.weights).length;
    setText(weights, weightsWords(run));
    again.hidden = !actions.canRedo || run.strategy === "ntp" || numbers.wholePasses === null;
    showProgress(again, timing);
  }

  return { root, update, take, timingOf };
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
