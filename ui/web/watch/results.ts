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
import { buttonTemplate, closeButton } from "../dom/templates.ts";
import { glossaryTemplate, LEGEND } from "../dom/terms.ts";
import type { Actions } from "./actions.ts";
import type { View } from "./playhead.ts";

/** a number as shown, and the words for it */
type Cell = { shown: string; label: string };

const SHOWN_DIGITS = 8; // of a digest, enough to tell weights apart
const UNKNOWN = "–";

/** Return the range of some times: "1.40 ms to 1.90 ms". */
function rangeWords(seconds: number[]) {
  const [low, high] = [Math.min(...seconds), Math.max(...seconds)];
  return `${formatRaceSeconds(low)} to ${formatRaceSeconds(high)}`;
}

/** Return the tokens of the forward passes up to this one, whose number the headline has. */
function momentCells(
  { run }: View,
  { numTokens, numPinned, tokensPerPass }: Numbers,
): Record<string, Cell> {
  const isStarted = run.main.steps.length > 0;
  const tokensLabel = numPinned ? `tokens, ${numPinned} of them given` : "tokens so far";
  return {
    tokens: { shown: isStarted ? String(numTokens) : UNKNOWN, label: tokensLabel },
    perPass: {
      shown: isStarted ? tokensPerPass.toFixed(2) : UNKNOWN,
      label: numPinned ? "decoded a forward pass" : "tokens a forward pass",
    },
  };
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

const DRAWN_WORDS =
  "This run was drawn while it was computed, next-token prediction’s was not: “run it 5 more times” in Details " +
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
 * Return the time so far; at the end of the run beside next-token prediction's for as many tokens, or how much faster or
 * slower a token was by the median of several timings, if the passes differ.
 */
function speedCell({ run, pass, isOver }: View, numbers: Numbers, timing: Timing | null) {
  const times = isOver && run.strategy !== "ntp" ? timesOf(numbers, timing) : null;
  if (!run.main.steps.length) return { shown: UNKNOWN, ntp: "", label: "so far" };
  if (!times) {
    const seconds = formatSeconds(run.main.secondsAt(pass));
    return { shown: seconds, ntp: "", label: isOver ? "in all" : "so far" };
  }
  const { wholePasses, wholeTokens, ntpPasses, ntpTokens } = numbers;
  const main = median(times.seconds);
  const ntp = (median(times.ntpSeconds) / ntpTokens) * wholeTokens;
  const count = times.seconds.length;
  if (count < LEAST_TIMINGS || wholePasses === ntpPasses) {
    const label = count > 1 ? `median of ${count}` : "timed once";
    return { shown: formatSeconds(main), ntp: formatSeconds(ntp), label };
  }
  const words = fasterWords(tokenCostRatio(main, wholeTokens, ntp, wholeTokens));
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
    const notes = [
      isCompared && lengthWords(numbers),
      isCompared && !timing && passCostWords(run), // of this run alone
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

/** The drawer with the numbers that the headline leaves out, timings and hindsight. */
export class Details {
  /** by id of the run */
  timings: Map<string, Timing> = new Map();
  button = make(
    "button",
    "sbd-action sbd-details-open",
    { "aria-expanded": "false" },
    "Details",
    () => this.setOpen(!this.isOpen),
  );
  root = make("aside", "sbd-drawer sbd-details", { "aria-label": "Details" });

  constructor(readonly actions: Actions) {}

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

  /** Return the timing of a run that was decoded again; null if it was not. */
  timingOf(run: View["run"]) {
    return this.timings.get(run.id) ?? run.timing;
  }

  update(view: View) {
    const { run } = view;
    const timing = this.timingOf(run);
    const numbers = run.numbersAt(view.pass);
    const cells = { ...momentCells(view, numbers), clock: clockCell(numbers, timing) };
    const rows = Object.entries(cells).map(
      ([key, { shown, label }]) =>
        html`<div class="sbd-number-cell sbd-number-${key}">
          <dt class="sbd-number-label">${label}</dt>
          <dd class="sbd-number">${shown}</dd>
        </div>`,
    );
    const content = html`<div class="sbd-drawer-head"><h2>Details</h2>${closeButton("Close details", () => this.close(), "sbd-close")}</div>
      <div class="sbd-numbers">
        <dl class="sbd-numbers-group">${rows}</dl>
        ${this.timeButton(run, timing)}
        <p class="sbd-numbers-why" ?hidden=${!timing?.error}>${timing?.error}</p>
        <p
          class="sbd-numbers-why"
          title="Names and the first digits of SHA-256 digests; the trace file has them whole"
          ?hidden=${!Object.keys(run.weights).length}
          >${weightsWords(run)}</p>
      </div>
      <section ?hidden=${run.strategy !== "sbd"}>
        <h3>${glossaryTemplate("hindsight", "Hindsight")}</h3>
        ${this.doubtsButton(view)}
      </section>
      <section><h3>Entropy as colour</h3>${LEGEND}</section>`;
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
      : `run it ${NUM_TIMINGS} more times`;
    const state = { isHidden, isDisabled: isBusy };
    return buttonTemplate("sbd-action sbd-time-again", words, this.actions.timeRun, state);
  }

  /** Return the button that says how many tokens hindsight disagrees with; a press marks them in the text. */
  doubtsButton({ run: { main }, pass, showsHindsight }: View) {
    const count = main.disagreementsAt(pass).length;
    const numRead = main.numWithHindsightAt(pass);
    const isNever = main.finish !== null && main.numWithHindsightAt(main.lastPass) === 0;
    const none = `hindsight: nothing ${isNever ? "is read again" : "read again yet"}`;
    const doubts = numRead ? `hindsight disagrees with ${count} of ${numRead}` : none;
    const state = { isDisabled: count === 0, isPressed: showsHindsight && count > 0 };
    return buttonTemplate(
      "sbd-action sbd-lane-doubts",
      doubts,
      this.actions.toggleHindsight,
      state,
    );
  }
}
