// The results of a run: a headline over the lanes with two numbers (forward passes compared with next-token prediction,
// and time), and a drawer with all numbers, timings and hindsight. core/run.ts does the counting.

import { countOf, formatSeconds, median } from "../core/numbers.ts";
import {
  fasterWords,
  formatTokenTime,
  LEAST_TIMINGS,
  lengthWords,
  NUM_TIMINGS,
  type Numbers,
  passCostWords,
  type Timing,
  timesOf,
  tokenCostRatio,
  whyNotFaster,
} from "../core/times.ts";
import { make, makeClose, setAttribute, setText } from "../dom/elements.ts";
import { makeLegend, question, setTerm, term } from "../dom/terms.ts";
import type { Actions } from "./actions.ts";
import type { View } from "./playhead.ts";

/** a number as shown, and the words for it */
type Cell = { shown: string; label: string };

const SHOWN_DIGITS = 8; // of a digest, enough to tell weights apart
const UNKNOWN = "–";
const WHOLE = "The whole run";

/** Return the range of some times: "1.40 ms to 1.90 ms". */
function rangeWords(seconds: number[]) {
  const [low, high] = [Math.min(...seconds), Math.max(...seconds)];
  return `${formatTokenTime(low)} to ${formatTokenTime(high)}`;
}

/** Return the numbers of the forward passes up to this one. */
function momentCells(
  { run }: View,
  { numPasses, numTokens, numPinned, tokensPerPass }: Numbers,
): Record<string, Cell> {
  const isStarted = run.main.steps.length > 0;
  const tokensLabel = numPinned ? `tokens, ${numPinned} of them given` : "tokens so far";
  return {
    passes: { shown: isStarted ? String(numPasses) : UNKNOWN, label: "forward passes so far" },
    tokens: { shown: isStarted ? String(numTokens) : UNKNOWN, label: tokensLabel },
    perPass: {
      shown: isStarted ? tokensPerPass.toFixed(2) : UNKNOWN,
      label: numPinned ? "decoded a forward pass" : "tokens a forward pass",
    },
  };
}

/**
 * Return the forward passes of the whole run, compared with next-token prediction's if that ran too, no token was
 * given, and both answers are as long.
 */
function savedCell(
  { run }: View,
  { wholePasses, wholeTokens, ntpPasses, ntpTokens }: Numbers,
): Cell {
  if (wholePasses === null) return { shown: UNKNOWN, label: "forward passes, once it is complete" };
  const shown = String(wholePasses);
  if (run.strategy === "ntp") return { shown, label: "forward passes, one a token" };
  const what =
    ntpPasses === null || ntpTokens !== wholeTokens
      ? `for ${countOf(wholeTokens, "token")}${run.main.pins.size ? " not given" : ""}`
      : `instead of ${ntpPasses}`;
  return { shown, label: `forward passes ${what}` };
}

/**
 * Return the whole run's tokens per forward pass; 0 if that is no more than next-token prediction's one, or cannot be
 * compared with it.
 */
function rateOf(run: View["run"], { wholePasses, wholeTokens, ntpPasses }: Numbers) {
  if (run.strategy === "ntp" || !wholePasses || ntpPasses === null) return 0;
  return wholeTokens > wholePasses ? wholeTokens / wholePasses : 0;
}

/** Return the time per token, also of next-token prediction if it is known. */
function clockCell(numbers: Numbers, timing: Timing | null): Cell {
  const { seconds, wholeTokens, ntpTokens } = numbers;
  if (seconds === null || !wholeTokens) return { shown: UNKNOWN, label: "time a token" };
  const times = timesOf(numbers, timing);
  const { seconds: all } = timing?.seconds.length ? timing : { seconds: [seconds] };
  const main = all.map((each) => each / wholeTokens);
  const ntp = (times?.ntpSeconds ?? []).map((each) => each / ntpTokens);
  const shown = formatTokenTime(median(main));
  const beside = ntp.length ? `; next-token ${formatTokenTime(median(ntp))}` : "";
  if (main.length === 1) return { shown, label: `time a token, one timing${beside}` };
  const runs = `a token, median of ${countOf(main.length, "new run")}, ${rangeWords(main)}`;
  return { shown, label: `${runs}${beside}${ntp.length > 1 ? `, ${rangeWords(ntp)}` : ""}` };
}

/** Say how the answer's length differs from next-token prediction's, and why fewer passes were not faster. */
function wholeWords({ run }: View, numbers: Numbers, timing: Timing | null) {
  if (run.strategy === "ntp") return "";
  const length = lengthWords(numbers);
  const isCut = [run.main, run.ntp].some((lane) => lane?.finish === "stopped");
  const words = length && `${isCut ? "It was stopped. " : ""}${length}.`;
  return [words, whyNotFaster(run, numbers, timing)].filter(Boolean).join(" ");
}

/** Name the weights that decoded, with the first digits of their digests; "" if the run does not name them. */
export function weightsWords({ weights }: View["run"]) {
  const [own, base] = Object.entries(weights).map(
    ([name, digest]) => `${name} (${digest.slice(0, SHOWN_DIGITS)})`,
  );
  if (!own) return "";
  return base
    ? `Weights: adapter ${own}, which masks alone read, beside ${base}`
    : `Weights: ${own}`;
}

/**
 * Make a group of numbers under a heading.
 * @param name for the group's class
 * @param keys of the numbers
 */
function makeGroup(name: string, title: string, keys: string[]) {
  const cells = new Map(
    keys.map((key) => {
      const value = make("dd", "sbd-number");
      const label = make("dt", "sbd-number-label");
      const root = make("div", `sbd-number-cell sbd-number-${key}`, label, value);
      return [key, { root, value, label }];
    }),
  );
  const nodes = [...cells.values()].map(({ root }) => root);
  const list = make("dl", `sbd-numbers-group sbd-numbers-${name}`, ...nodes);
  const root = make("section", "", { "aria-label": title }, make("h3", "", title), list);
  return { root, cells };
}

/** Make all the numbers of a run, each in a cell. */
export function makeNumbers(actions: Actions) {
  const moment = makeGroup("moment", "This moment", ["passes", "tokens", "perPass"]);
  const whole = makeGroup("whole", WHOLE, ["saved", "clock"]);
  const timeButton = make("button", "sbd-action sbd-time-again", actions.timeRun);
  const whyNode = make("p", "sbd-numbers-why");
  const title = make("span", "", WHOLE);
  whole.root.querySelector("h3")?.replaceChildren(title, timeButton);
  const weights = make("p", "sbd-numbers-why sbd-numbers-weights", {
    title: "Names and the first digits of SHA-256 digests; the trace file has them whole",
  });
  const root = make("div", "sbd-numbers", moment.root, whole.root, whyNode, weights);
  const cells = new Map([...moment.cells, ...whole.cells]);
  /** by id of the run */
  const timings: Map<string, Timing> = new Map();

  /** Keep the timing of a run. */
  function takeTiming(timing: Timing) {
    timings.set(timing.run, timing);
  }

  /** Return the timing of a run that was decoded again; null if it was not. */
  function timingOf(run: View["run"]) {
    return timings.get(run.id) ?? run.timing;
  }

  function update(view: View) {
    const { run } = view;
    setAttribute(root, "data-lane", run.strategy);
    const numbers = run.numbersAt(view.pass);
    const timing = timingOf(run);
    const shown: Record<string, Cell> = {
      ...momentCells(view, numbers),
      saved: savedCell(view, numbers),
      clock: clockCell(numbers, timing),
    };
    for (const [key, { value, label }] of cells) {
      setText(value, shown[key]?.shown ?? UNKNOWN);
      setText(label, shown[key]?.label ?? "");
    }
    const rate = rateOf(run, numbers);
    cells.get("saved")?.root.classList.toggle("is-fewer", rate > 0);
    const words = timing?.error ?? wholeWords(view, numbers, timing);
    whyNode.hidden = !words;
    setText(whyNode, words);
    const isAtEnd = rate > 0 && view.pass >= run.main.lastPass;
    setText(title, isAtEnd ? `${WHOLE}: ${rate.toFixed(2)} tokens a pass` : WHOLE);
    weights.hidden = !Object.keys(run.weights).length;
    setText(weights, weightsWords(run));
    // A run that was cut short is not timed: decoded again, it would not be cut.
    const isCut = !run.isComplete || run.main.finish === "stopped";
    timeButton.hidden = !actions.canRedo || run.strategy === "ntp" || isCut;
    showProgress(timeButton, timing);
  }

  return { root, update, takeTiming, timingOf };
}

function showProgress(button: HTMLButtonElement, timing: Timing | null) {
  const count = timing?.seconds.length ?? NUM_TIMINGS;
  const isBusy = timing !== null && !timing.error && count < NUM_TIMINGS;
  button.disabled = isBusy;
  setText(
    button,
    isBusy ? `timing ${count + 1} of ${NUM_TIMINGS} …` : `run it ${NUM_TIMINGS} times`,
  );
}

const OF_COSTS_WORDS = "an earlier version chose its rows; decoded again, it takes the default";
const DRAWN_WORDS =
  "This run was drawn while it was computed, next-token prediction’s was not: “run it 5 times” in Details " +
  "compares them without drawing.";
const INSTEAD_OF_WORDS =
  "Next-token prediction writes one token a forward pass, so it needs as many as there are tokens here.";
const TIME_WORDS =
  "Seconds that the model computed on the same machine, without drawing. Run again, each takes a little more or less: " +
  "so how much faster a token was is said from three timings on.";

/**
 * Count the forward passes so far (main), and those that next-token prediction needs for as many tokens, one each
 * (ntp; null if there is nothing to compare, as with given tokens, which next-token prediction does not get).
 */
export function passesOf({ run }: View, { numPasses, numTokens }: Numbers) {
  const isStarted = run.main.steps.length > 0;
  const ntp = Math.max(numTokens, 1);
  const isCompared = isStarted && run.strategy !== "ntp" && run.main.pins.size === 0;
  return { main: isStarted ? numPasses : null, ntp: isCompared ? ntp : null };
}

/**
 * Return the time so far; at the end of the run beside next-token prediction's, or how much faster or slower a token was
 * by the median of several timings, if the passes differ.
 */
function speedCell({ run, pass, isOver }: View, numbers: Numbers, timing: Timing | null) {
  const times = isOver && run.strategy !== "ntp" ? timesOf(numbers, timing) : null;
  if (!run.main.steps.length) return { shown: UNKNOWN, ntp: "", label: "so far" };
  if (!times) {
    const seconds = formatSeconds(run.main.secondsAt(pass));
    return { shown: seconds, ntp: "", label: isOver ? "in all" : "so far" };
  }
  const [main, ntp] = [median(times.seconds), median(times.ntpSeconds)];
  const { wholePasses, wholeTokens, ntpPasses, ntpTokens } = numbers;
  const count = times.seconds.length;
  if (count < LEAST_TIMINGS || wholePasses === ntpPasses) {
    const label = count > 1 ? `median of ${count}` : "timed once";
    return { shown: formatSeconds(main), ntp: formatSeconds(ntp), label };
  }
  const words = fasterWords(tokenCostRatio(main, wholeTokens, ntp, ntpTokens));
  const [shown = "", label = ""] = words.split("× ");
  const of = `, median of ${count}`;
  return label
    ? { shown: `${shown}×`, ntp: "", label: label + of }
    : { shown: "1.0×", ntp: "", label: words + of };
}

/** Make the two numbers, each over a term that explains it, and a note that qualifies them. */
export function makeHeadline() {
  const mainNode = make("b", "sbd-headline-own");
  const insteadNode = setTerm(make("small"), "instead of", INSTEAD_OF_WORDS);
  const ntpNode = make("b", "sbd-headline-plain");
  const time = make("b", "sbd-headline-time");
  const label = make("button", "sbd-term sbd-headline-label");
  const note = make("p", "sbd-headline-why");
  const timeInstead = make("small", "", "instead of");
  const ntpTime = make("b", "sbd-headline-plain");
  const passes = make(
    "div",
    "sbd-headline-passes",
    make("div", "sbd-headline-big", mainNode, insteadNode, ntpNode),
    make("div", "sbd-headline-cap", term("pass", "forward passes")),
  );
  const clock = make(
    "div",
    "sbd-headline-clock",
    make("div", "sbd-headline-big", time, timeInstead, ntpTime),
    make("div", "sbd-headline-cap", label),
  );
  const root = make("div", "sbd-headline", passes, clock);

  function update(view: View, timing: Timing | null) {
    const numbers = view.run.numbersAt(view.pass);
    const count = passesOf(view, numbers);
    const isCompared = view.isOver && view.run.strategy !== "ntp";
    const isCut = [view.run.main, view.run.ntp].some((lane) => lane?.finish === "stopped");
    const length = isCompared && !isCut ? lengthWords(numbers) : "";
    const passes = count.main === null ? UNKNOWN : String(count.main);
    setAttribute(root, "data-lane", view.run.strategy);
    setText(mainNode, passes);
    setText(ntpNode, String(count.ntp ?? ""));
    insteadNode.hidden = count.ntp === null;
    const { shown, ntp, label: timeLabel } = speedCell(view, numbers, timing);
    setText(time, shown);
    setText(ntpTime, ntp);
    timeInstead.hidden = ntp === "";
    const slow = isCompared ? whyNotFaster(view.run, numbers, timing) : "";
    const { strategy, config, isRecorded } = view.run;
    const isOfCosts = strategy === "verify" && config.max_rows === null;
    const cost = isCompared && !timing ? passCostWords(view.run) : ""; // of this run alone
    const drawnWords = isCompared && !isRecorded && !timing ? DRAWN_WORDS : "";
    const why = [length, cost, isOfCosts ? OF_COSTS_WORDS : ""].filter(Boolean).join("; ");
    setText(note, why);
    setTerm(label, timeLabel, [slow, TIME_WORDS, drawnWords].filter(Boolean).join(" "));
  }

  return { root, note, update };
}

const HINDSIGHT_WORDS =
  "Next-token prediction reads each finished block of this answer again, and would have gone on with " +
  "another token so often. It is not compared with the answer that it wrote by itself. The last block, " +
  "where it had masks, is never read again.";

/** The button Details, and the drawer that it opens. */
export class Details {
  button: HTMLButtonElement;
  hindsightButton: HTMLButtonElement;
  root: HTMLElement;

  constructor(actions: Actions, numbers: HTMLElement) {
    const folded = { "aria-expanded": "false" };
    const open = () => this.setOpen(!this.isOpen);
    this.button = make("button", "sbd-action sbd-details-open", folded, "Details", open);
    this.hindsightButton = make("button", "sbd-action sbd-lane-doubts", actions.toggleHindsight);
    const hindsight = make("h3", "", "Hindsight ", question("hindsight", HINDSIGHT_WORDS));
    const close = makeClose("Close details", () => this.close(), "sbd-close");
    this.root = make(
      "aside",
      "sbd-drawer sbd-details",
      { "aria-label": "Details" },
      make("div", "sbd-drawer-head", make("h2", "", "Details"), close),
      numbers,
      make("section", "", hindsight, this.hindsightButton),
      make("section", "", make("h3", "", "Entropy as colour"), makeLegend()),
    );
  }

  get isOpen() {
    return this.root.classList.contains("is-open");
  }

  close() {
    if (!this.isOpen) return;
    this.setOpen(false);
    this.button.focus({ preventScroll: true });
  }

  setOpen(isOpen: boolean) {
    this.root.classList.toggle("is-open", isOpen);
    this.button.setAttribute("aria-expanded", String(isOpen));
  }

  /** Show how many tokens hindsight disagrees with; a press marks them in the text. */
  update({ run, pass, showsHindsight }: View) {
    const { main } = run;
    const count = main.disagreementsAt(pass).length;
    const section = this.hindsightButton.parentElement;
    if (section) section.hidden = run.strategy !== "sbd";
    this.hindsightButton.disabled = count === 0;
    const numRead = main.numWithHindsightAt(pass);
    const isNever = main.finish !== null && main.numWithHindsightAt(main.lastPass) === 0;
    const none = `hindsight: nothing ${isNever ? "is read again" : "read again yet"}`;
    setText(
      this.hindsightButton,
      numRead ? `hindsight disagrees with ${count} of ${numRead}` : none,
    );
    setAttribute(this.hindsightButton, "aria-pressed", showsHindsight && count > 0);
  }
}
