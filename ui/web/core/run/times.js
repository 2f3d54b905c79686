// What is said of a run's engine times: why fewer forward passes were not faster, and where the
// answers differ in length what a token took. Knows no DOM.

import { formatSeconds, median } from "../numbers.js";
import { secondsOfPasses, slowness, timesLess } from "./saving.js";

/** @import { Run } from "./run.js" */

/** @typedef {ReturnType<Run["numbersAt"]>} Numbers */
/** @typedef {{ run: string, seconds: number[], ntpSeconds: number[], error?: string }} Timing */

/** @param {number} seconds */
const ms = (seconds) => `${(seconds * 1000).toFixed(1)} ms`;

/** @param {number} seconds of a token */
const fine = (seconds) => `${(seconds * 1000).toFixed(2)} ms`;

/**
 * Both lanes' seconds, of every time that the run was timed; null until both are known.
 * @param {Numbers} numbers
 * @param {Timing | null} timing
 */
export function timesOf({ seconds, ntpSeconds }, timing) {
  if (seconds === null || ntpSeconds === null) return null;
  if (timing?.seconds.length) return timing;
  return { seconds: [seconds], ntpSeconds: [ntpSeconds] };
}

/**
 * Why fewer forward passes were not faster, "" if they were. An answer of another length is judged
 * by the time of a token; where its whole took longer all the same, that is said.
 * @param {Run} run
 * @param {Numbers} numbers
 * @param {Timing | null} timing
 */
export function whyNotFaster(run, numbers, timing) {
  const { wholePasses, wholeTokens, ntpTokens } = numbers;
  const times = timesOf(numbers, timing);
  if (!times || !run.ntp || !wholePasses) return "";
  const numPlain = run.ntp.steps.length;
  const counts = { wholePasses, wholeTokens, numPlain, ntpTokens };
  const found = slowness({ ...counts, ...times });
  if (!found) return tokenTimes(numbers, times, numPlain);
  const each = wholeTokens === ntpTokens ? "" : " a token";
  // Timed again, only whole answers are known: their forward passes are those of another run.
  const isAgain = times === timing;
  const [block, single] = [secondsOfPasses(run.main.steps), secondsOfPasses(run.ntp.steps)];
  if (isAgain || !block || !single) {
    const spent = each
      ? [fine(found.own / wholeTokens), fine(found.plain / ntpTokens)]
      : [formatSeconds(found.own), formatSeconds(found.plain)];
    const words = spent.join(", next-token ");
    return `Fewer forward passes, but not faster${each} here: ${words}.`;
  }
  const excess = block.prompt - single.prompt;
  const isPromptAlone = !slowness({ ...counts, ...times, seconds: [found.own - excess] });
  return (
    `Fewer forward passes were not faster${each} here: one over a block took ${ms(block.later)}, ` +
    `one over a single token ${ms(single.later)}; reading the prompt took ` +
    `${ms(block.prompt)}, in next-token prediction ${ms(single.prompt)}` +
    `${isPromptAlone ? ", and that alone made the difference, in one timing" : ""}.`
  );
}

/**
 * What a token took where a longer answer took longer in spite of fewer forward passes.
 * @param {Numbers} numbers
 * @param {{ seconds: number[], ntpSeconds: number[] }} times
 * @param {number} numPlain forward passes of next-token prediction
 */
function tokenTimes({ wholePasses, wholeTokens, ntpTokens }, times, numPlain) {
  const [own, plain] = [median(times.seconds), median(times.ntpSeconds)];
  const isSlower = own >= plain && (timesLess(own, wholeTokens, plain, ntpTokens) ?? 0) > 1;
  if (!isSlower || (wholePasses ?? 0) >= numPlain) return "";
  const [each, other] = [own / wholeTokens, plain / ntpTokens];
  const whole = `It took ${formatSeconds(own)} in all, next-token ${formatSeconds(plain)}`;
  return `${whole}; a token took less: ${fine(each)}, next-token ${fine(other)}.`;
}
