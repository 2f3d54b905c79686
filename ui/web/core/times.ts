// Compares the forward passes and the time of a run with next-token prediction's, and says why fewer passes were not
// faster. Knows no DOM.

import { countOf, formatRaceSeconds, median } from "./numbers.ts";
import type { Run } from "./run.ts";

/**
 * Return what a token costs with next-token prediction, divided by what it costs here; null if a number is 0.
 * @param main forward passes, or seconds, of the whole answer
 * @param numTokens decoded tokens of the answer
 * @param ntp forward passes, or seconds, of next-token prediction
 * @param numNtpTokens tokens of its answer
 */
export function tokenCostRatio(main: number, numTokens: number, ntp: number, numNtpTokens: number) {
  const isKnown = main > 0 && numTokens > 0 && ntp > 0 && numNtpTokens > 0;
  return isKnown ? ntp / numNtpTokens / (main / numTokens) : null;
}

/** Timings from which a speed-up is told; fewer are told as two times. */
export const LEAST_TIMINGS = 3;

/** Describe a speed-up: "2.1× faster", "3.2× slower"; "" for null. @param times ratio of speeds */
export function fasterWords(times: number | null) {
  if (times === null) return "";
  const [less, more] = [times.toFixed(1), (1 / times).toFixed(1)];
  if (less === "1.0" || more === "1.0") return "as fast";
  return times > 1 ? `${less}× faster` : `${more}× slower`;
}

/** Return the numbers behind a comparison with next-token prediction if its answer has another length, else "". */
export function lengthWords({ wholePasses, wholeTokens, ntpTokens, ntpPasses }: Numbers) {
  if (!wholePasses || ntpPasses === null || wholeTokens === ntpTokens) return "";
  return `${countOf(wholePasses, "pass")} for ${wholeTokens} tokens; next-token prediction’s ${ntpTokens} are scaled to ${wholeTokens}`;
}

type Times = Pick<Timing, "seconds" | "ntpSeconds">;
type Counts = Pick<Numbers, "wholePasses" | "wholeTokens" | "ntpTokens">;

/**
 * Return the seconds per token of both answers if a token took fewer forward passes but no less time, else null.
 * @param times of the whole answers, in each repetition
 */
export function slowness(counts: Counts, times: Times) {
  const { wholePasses, wholeTokens, ntpTokens } = counts;
  const [main, ntp] = [median(times.seconds), median(times.ntpSeconds)];
  const isFaster = (tokenCostRatio(main, wholeTokens, ntp, ntpTokens) ?? 0) > 1;
  if (!wholePasses || wholePasses >= wholeTokens || isFaster) return null;
  return { mainSeconds: main / wholeTokens, ntpSeconds: ntp / ntpTokens };
}

/** Return the seconds of the prefill and the mean seconds of later forward passes; null if one of them is missing. */
export function secondsOfPasses(steps: { kind: string; seconds: number }[]) {
  const after = steps.filter(({ kind }) => kind !== "prefill");
  const [prompt] = steps;
  if (!prompt || !after.length || after.length === steps.length) return null;
  const sum = after.reduce((total, { seconds }) => total + seconds, 0);
  return { prompt: prompt.seconds, later: sum / after.length };
}

/** Number of repetitions by which a run's engine time is measured. */
export const NUM_TIMINGS = 5;

export type Numbers = ReturnType<Run["numbersAt"]>;
export type Timing = { run: string; seconds: number[]; ntpSeconds: number[]; error?: string };

/** Return the seconds of both lanes in each repetition or, without any, in the run itself; null if not known yet. */
export function timesOf({ seconds, ntpSeconds }: Numbers, timing: Timing | null) {
  if (seconds === null || ntpSeconds === null) return null;
  if (timing?.seconds.length) return timing;
  return { seconds: [seconds], ntpSeconds: [ntpSeconds] };
}

/** Explain why fewer forward passes were not faster; "" if they were or nothing is known. */
export function whyNotFaster(run: Run, numbers: Numbers, timing: Timing | null) {
  const times = timesOf(numbers, timing);
  const found = times && slowness(numbers, times);
  if (!times || !found) return "";
  const [block, single] = [run.main, run.ntp].map((lane) => secondsOfPasses(lane?.steps ?? []));
  // Repetitions give the times of whole answers only; the times of single passes are from the run itself.
  if (times === timing || !block || !single) {
    const spent = `${formatRaceSeconds(found.mainSeconds)} a token, next-token ${formatRaceSeconds(found.ntpSeconds)}`;
    return `Fewer forward passes, but not faster: ${spent}.`;
  }
  const excess = block.prompt - single.prompt;
  const seconds = [found.mainSeconds * numbers.wholeTokens - excess];
  const isPromptAlone = !slowness(numbers, { ...times, seconds });
  return (
    `Fewer forward passes were not faster: one over a block took ${formatRaceSeconds(block.later)}, ` +
    `one over a single token ${formatRaceSeconds(single.later)}; reading the prompt took ` +
    `${formatRaceSeconds(block.prompt)}, in next-token prediction ${formatRaceSeconds(single.prompt)}` +
    `${isPromptAlone ? ", and that alone made the difference, in one timing" : ""}.`
  );
}

/** Say what a forward pass cost in both lanes of a run; "" if that is not known. */
export function passCostWords({ main, ntp }: Run) {
  const [own, plain] = [secondsOfPasses(main.steps), secondsOfPasses(ntp?.steps ?? [])];
  if (!own?.later || !plain?.later) return "";
  return `A pass took ${formatRaceSeconds(own.later)} and read several tokens, next-token prediction’s ${formatRaceSeconds(plain.later)} and one`;
}
