// The results of a run: a headline over the lanes with two numbers (forward passes compared with next-token prediction,
// and time), and a drawer with all numbers, timings and hindsight. core/run.ts does the counting.

import { html, render } from "lit-html";
import { countOf, formatRaceSeconds, formatSeconds, median } from "../core/numbers.ts";
import {
  fasterWords,
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
import { make, setAttribute, setText } from "../dom/elements.ts";
import { buttonTemplate, closeButton, questionTemplate } from "../dom/templates.ts";
import { glossaryTemplate, LEGEND } from "../dom/terms.ts";
import type { Actions } from "./actions.ts";
import type { View } from "./playhead.ts";

/** a number as shown, and the words for it; look: its class */
type Cell = { shown: string; label: string; look?: string };

const SHOWN_DIGITS = 8; // of a digest, enough to tell weights apart
const UNKNOWN = "–";
const WHOLE = "The whole run";

/** Return the range of some times: "1.40 ms to 1.90 ms". */
function rangeWords(seconds: number[]) {
  const [low, high] = [Math.min(...seconds), Math.max(...seconds)];
  return `${formatRaceSeconds(low)} to ${formatRaceSeconds(high)}`;
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
  const shown = formatRaceSeconds(median(main));
  const beside = ntp.length ? `; next-token ${formatRaceSeconds(median(ntp))}` : "";
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

function group(name: string, title: string, heading: unknown, cells: Record<string, Cell>) {
  const rows = Object.entries(cells).map(
    ([key, { shown, label, look = "" }]) =>
      html`<div class="sbd-number-cell sbd-number-${key} ${look}">
        <dt class="sbd-number-label">${label}</dt>
        <dd class="sbd-number">${shown}</dd>
      </div>`,
  );
  return html`<section aria-label=${title}>
    <h3>${heading}</h3>
    <dl class="sbd-numbers-group sbd-numbers-${name}">${rows}</dl>
  </section>`;
}

export class NumbersView {
  /** by id of the run */
  timings: Map<string, Timing> = new Map();
  root = make("div", "sbd-numbers");

  constructor(readonly actions: Actions) {}

  /** Return the timing of a run that was decoded again; null if it was not. */
  timingOf(run: View["run"]) {
    return this.timings.get(run.id) ?? run.timing;
  }

  update(view: View) {
    const { run } = view;
    const numbers = run.numbersAt(view.pass);
    const timing = this.timingOf(run);
    const rate = rateOf(run, numbers);
    const words = timing?.error ?? wholeWords(view, numbers, timing);
    const isAtEnd = rate > 0 && view.pass >= run.main.lastPass;
    const title = isAtEnd ? `${WHOLE}: ${rate.toFixed(2)} tokens a pass` : WHOLE;
    const saved = { ...savedCell(view, numbers), look: rate > 0 ? "is-fewer" : "" };
    setAttribute(this.root, "data-lane", run.strategy);
    const content = html`${group("moment", "This moment", "This moment", momentCells(view, numbers))}
      ${group("whole", WHOLE, html`<span>${title}</span>${this.timeButton(run, timing)}`, {
        saved,
        clock: clockCell(numbers, timing),
      })}
      <p class="sbd-numbers-why" ?hidden=${!words}>${words}</p>
      <p
        class="sbd-numbers-why sbd-numbers-weights"
        title="Names and the first digits of SHA-256 digests; the trace file has them whole"
        ?hidden=${!Object.keys(run.weights).length}
        >${weightsWords(run)}</p>`;
    render(content, this.root);
  }

  timeButton(run: View["run"], timing: Timing | null) {
    const count = timing?.seconds.length ?? NUM_TIMINGS;
    const isBusy = timing !== null && !timing.error && count < NUM_TIMINGS;
    // A run that was cut short is not timed: decoded again, it would not be cut.
    const isCut = !run.isComplete || run.main.finish === "stopped";
    const isHidden = !this.actions.canRedo || run.strategy === "ntp" || isCut;
    const words = isBusy
      ? `timing ${count + 1} of ${NUM_TIMINGS} …`
      : `run it ${NUM_TIMINGS} times`;
    const state = { isHidden, isDisabled: isBusy };
    return buttonTemplate("sbd-action sbd-time-again", words, this.actions.timeRun, state);
  }
}

const OF_COSTS_WORDS = "An earlier version chose its rows; decoded again, it takes the default";
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

/** The two numbers, each over a term that explains it, and a note that qualifies them. */
export class Headline {
  note = make("p", "sbd-headline-why");
  root = make("div", "sbd-headline");

  update(view: View, timing: Timing | null) {
    const { run } = view;
    const numbers = run.numbersAt(view.pass);
    const { main, ntp } = passesOf(view, numbers);
    const isCompared = view.isOver && run.strategy !== "ntp";
    const isCut = [run.main, run.ntp].some((lane) => lane?.finish === "stopped");
    const isOfCosts = run.strategy === "verify" && run.config.max_rows === null;
    const notes = [
      isCompared && !isCut && lengthWords(numbers),
      isCompared && !timing && passCostWords(run), // of this run alone
      isOfCosts && OF_COSTS_WORDS,
    ];
    setText(this.note, notes.filter(Boolean).join(". "));
    const { shown, ntp: ntpTime, label } = speedCell(view, numbers, timing);
    const about = [
      isCompared && whyNotFaster(run, numbers, timing),
      TIME_WORDS,
      isCompared && !run.isRecorded && !timing && DRAWN_WORDS,
    ];
    const words = about.filter(Boolean).join(" ");
    setAttribute(this.root, "data-lane", run.strategy);
    const content = html`<div class="sbd-headline-passes">
        <div class="sbd-headline-big"
          ><b class="sbd-headline-own">${main ?? UNKNOWN}</b
          ><small
            data-words=${INSTEAD_OF_WORDS}
            aria-description=${INSTEAD_OF_WORDS}
            ?hidden=${ntp === null}
            >instead of</small
          ><b class="sbd-headline-plain">${ntp}</b></div>
        <div class="sbd-headline-cap">${glossaryTemplate("pass", "forward passes")}</div>
      </div>
      <div class="sbd-headline-clock">
        <div class="sbd-headline-big"
          ><b class="sbd-headline-time">${shown}</b><small ?hidden=${!ntpTime}>instead of</small
          ><b class="sbd-headline-plain">${ntpTime}</b></div>
        <div class="sbd-headline-cap"
          ><button
            type="button"
            class="sbd-term sbd-headline-label"
            data-words=${words}
            aria-description=${words}
            >${label}</button
          ></div>
      </div>`;
    render(content, this.root);
  }
}

const HINDSIGHT_WORDS =
  "Next-token prediction reads each finished block of this answer again, and would have gone on with " +
  "another token so often. It is not compared with the answer that it wrote by itself. The last block, " +
  "where it had masks, is never read again.";

export class Details {
  button = make(
    "button",
    "sbd-action sbd-details-open",
    { "aria-expanded": "false" },
    "Details",
    () => this.setOpen(!this.isOpen),
  );
  root = make("aside", "sbd-drawer sbd-details", { "aria-label": "Details" });

  constructor(
    readonly actions: Actions,
    readonly numbers: HTMLElement,
  ) {}

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
    const numRead = main.numWithHindsightAt(pass);
    const isNever = main.finish !== null && main.numWithHindsightAt(main.lastPass) === 0;
    const none = `hindsight: nothing ${isNever ? "is read again" : "read again yet"}`;
    const doubts = numRead ? `hindsight disagrees with ${count} of ${numRead}` : none;
    const state = { isDisabled: count === 0, isPressed: showsHindsight && count > 0 };
    const content = html`<div class="sbd-drawer-head"><h2>Details</h2>${closeButton("Close details", () => this.close(), "sbd-close")}</div>
      ${this.numbers}
      <section ?hidden=${run.strategy !== "sbd"}>
        <h3>Hindsight ${questionTemplate("hindsight", HINDSIGHT_WORDS)}</h3>
        ${buttonTemplate("sbd-action sbd-lane-doubts", doubts, this.actions.toggleHindsight, state)}
      </section>
      <section><h3>Entropy as colour</h3>${LEGEND}</section>`;
    render(content, this.root);
  }
}
