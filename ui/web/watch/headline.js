// The two numbers over the lanes: forward passes instead of those that next-token prediction needs for
// the same tokens, and time for a token. While the run plays they are those of the moment, at its end
// those of the whole run; of two answers of different length the tokens of a forward pass.

import { formatSeconds, median } from "../core/numbers.js";
import { fasterWords, lengthWords, timesLess, timesOf, whyNotFaster } from "../core/times.js";
import { make, setAttribute, setText } from "../dom/elements.js";
import { explain, term } from "../dom/terms.js";

/** @import { Numbers, Timing } from "../core/times.js" */
/** @import { View } from "./view.js" */

const UNKNOWN = "–";
const DEARER = "a pass over several tokens costs more";
const ONE_ROW = "drafts do not pay on this machine, so it wrote one token a pass";
const DRAWN =
  "This run was drawn while it was computed, next-token prediction’s was not: “run it 5 times” in Details " +
  "compares them without drawing.";
const INSTEAD =
  "Next-token prediction writes one token a forward pass, so it needs as many as there are tokens here.";
const TIME =
  "Seconds that the model computed, without drawing. At the end the page compares those of a token with next-token " +
  "prediction on the same machine. Run again, each takes a little more or less.";

/**
 * Forward passes so far, and how many next-token prediction needs for as many tokens: one each. Null
 * where tokens were given, which it would not know.
 * @param {View} view
 * @param {Numbers} numbers
 */
export function passesOf({ run }, { numPasses, numTokens }) {
  const isStarted = run.main.steps.length > 0;
  const plain = Math.max(numTokens, 1);
  const isCompared = isStarted && run.strategy !== "ntp" && run.main.pins.size === 0;
  return { own: isStarted ? numPasses : null, plain: isCompared ? plain : null };
}

/**
 * The clock while it runs; then how much faster or slower the whole run was, for a token.
 * @param {View} view
 * @param {Numbers} numbers
 * @param {Timing | null} timing
 */
function timeOf({ run, pass, isOver }, numbers, timing) {
  const times = isOver && run.strategy !== "ntp" ? timesOf(numbers, timing) : null;
  if (times) {
    const [own, plain] = [median(times.seconds), median(times.ntpSeconds)];
    const words = fasterWords(timesLess(own, numbers.wholeTokens, plain, numbers.ntpTokens));
    const [shown = "", label = ""] = words.split("× ");
    if (words)
      return label
        ? { shown: `${shown}×`, label: `${label} by the clock` }
        : { shown: "1.0×", label: words };
  }
  if (!run.main.steps.length) return { shown: UNKNOWN, label: "so far" };
  const seconds = formatSeconds(run.main.secondsAt(pass));
  return { shown: seconds, label: isOver ? "in all" : "so far" };
}

/** Both numbers, each over a word that explains itself, and a note: why one saves more than the other. */
export function makeHeadline() {
  const own = make("b", "sbd-headline-own");
  const instead = explain(make("small"), "instead of", INSTEAD);
  const plain = make("b", "sbd-headline-plain");
  const time = make("b", "sbd-headline-time");
  const label = make("button", "sbd-term sbd-headline-label");
  const note = make("p", "sbd-headline-why");
  const tokensOf = make("span", "", "tokens a");
  const unit = term("pass", "forward passes");
  const passes = make(
    "div",
    "sbd-headline-passes",
    make("div", "sbd-headline-big", own, instead, plain),
    make("div", "sbd-headline-cap", tokensOf, unit),
  );
  const clock = make(
    "div",
    "sbd-headline-clock",
    make("div", "sbd-headline-big", time),
    make("div", "sbd-headline-cap", label),
  );
  const root = make("div", "sbd-headline", passes, clock);

  /** @param {View} view @param {Timing | null} timing */
  function update(view, timing) {
    const numbers = view.run.numbersAt(view.pass);
    const count = passesOf(view, numbers);
    const isCompared = view.isOver && view.run.strategy !== "ntp";
    const isCut = [view.run.main, view.run.ntp].some((lane) => lane?.finish === "stopped");
    const length = isCompared && !isCut ? lengthWords(numbers) : "";
    const passes = count.own === null ? UNKNOWN : String(count.own);
    setAttribute(root, "data-lane", view.run.strategy);
    setText(own, length ? numbers.tokensPerPass.toFixed(2) : passes);
    setText(plain, length ? "1" : String(count.plain ?? ""));
    instead.hidden = count.plain === null;
    tokensOf.hidden = !length;
    setText(unit, length ? "forward pass" : "forward passes");
    const { shown, label: said } = timeOf(view, numbers, timing);
    setText(time, shown);
    const slow = isCompared ? whyNotFaster(view.run, numbers, timing) : null;
    const { strategy, config, isRecorded } = view.run;
    const isPlain = isCompared && strategy === "verify" && !config.max_rows;
    const isOneRow = isPlain && numbers.numPasses >= numbers.wholeTokens;
    const why = isOneRow ? ONE_ROW : slow?.isPassDearer ? DEARER : "";
    const drawn = isCompared && !isRecorded && !timing ? DRAWN : "";
    setText(note, [length, why].filter(Boolean).join("; "));
    explain(label, said, [slow?.words, TIME, drawn].filter(Boolean).join(" "));
  }

  return { root, note, update };
}
