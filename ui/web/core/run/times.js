// What a run saved in forward passes and time, and why fewer forward passes were not faster. Knows no DOM.

import { countOf, formatSeconds, median } from "../numbers.js";

/** @import { Run } from "./run.js" */

/**
 * How often one way to decode goes into another, for a token each; null where that says nothing.
 * @param {number} own forward passes, or seconds, of the whole answer
 * @param {number} numTokens of it that were decoded
 * @param {number} plain the same of next-token prediction
 * @param {number} numPlainTokens
 */
export function timesLess(own, numTokens, plain, numPlainTokens) {
  const isKnown = own > 0 && numTokens > 0 && plain > 0 && numPlainTokens > 0;
  return isKnown ? plain / numPlainTokens / (own / numTokens) : null;
}

/**
 * "2.1× faster", "3.2× slower"; "" where nothing is known.
 * @param {number | null} times faster
 */
export function fasterWords(times) {
  if (times === null) return "";
  const [less, more] = [times.toFixed(1), (1 / times).toFixed(1)];
  if (less === "1.0" || more === "1.0") return "as fast";
  return times > 1 ? `${less}× faster` : `${more}× slower`;
}

/**
 * How an answer of another length than next-token prediction's is compared; "" if both are as long.
 * @param {number} numTokens
 * @param {number} numPlainTokens
 * @param {number | null} times fewer forward passes, for a token
 */
export function lengthWords(numTokens, numPlainTokens, times) {
  if (numTokens === numPlainTokens) return "";
  const which = numTokens < numPlainTokens ? "shorter" : "longer";
  const counts = `${countOf(numTokens, "token")}, next-token prediction’s ${numPlainTokens}`;
  const fewer = times === null ? "" : `; for a token ${times.toFixed(2)}× fewer forward passes`;
  return `Its answer is ${which}: ${counts}${fewer}.`;
}

/**
 * @typedef {object} Engine
 * @property {number} wholePasses
 * @property {number} wholeTokens
 * @property {number} numPlain forward passes of next-token prediction
 * @property {number} ntpTokens
 * @property {number[]} seconds of the whole run, each time that it was run
 * @property {number[]} ntpSeconds
 */

/**
 * Whether fewer forward passes a token were no faster a token, and the seconds of both answers.
 * @param {Engine} engine
 */
export function slowness({ wholePasses, wholeTokens, numPlain, ntpTokens, seconds, ntpSeconds }) {
  const [own, plain] = [median(seconds), median(ntpSeconds)];
  const fewer = timesLess(wholePasses, wholeTokens, numPlain, ntpTokens) ?? 0;
  const faster = timesLess(own, wholeTokens, plain, ntpTokens) ?? 0;
  if (fewer <= 1 || faster > 1) return null;
  return { own, plain };
}

/**
 * The seconds of the forward pass that read the prompt, and of one after it on average; null where
 * a run has not both.
 * @param {{ kind: string, seconds: number }[]} steps
 */
export function secondsOfPasses(steps) {
  const after = steps.filter(({ kind }) => kind !== "prefill");
  const [prompt] = steps;
  if (!prompt || !after.length || after.length === steps.length) return null;
  const sum = after.reduce((total, { seconds }) => total + seconds, 0);
  return { prompt: prompt.seconds, later: sum / after.length };
}

/** How often a run is made again for its engine time. */
export const NUM_TIMINGS = 5;

const DEARER = 1.1; // times as long: less is noise

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
 * Whether a forward pass took longer than one of next-token prediction, so that time was saved less
 * than forward passes; false until both are known.
 * @param {Numbers} numbers
 * @param {Timing | null} timing
 */
export function isPassDearer(numbers, timing) {
  const { wholePasses, ntpPasses } = numbers;
  const times = timesOf(numbers, timing);
  if (!times || !wholePasses || !ntpPasses) return false;
  const [own, plain] = [median(times.seconds) / wholePasses, median(times.ntpSeconds) / ntpPasses];
  return own > plain * DEARER;
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
 * Time per token, where a longer answer took longer in spite of fewer forward passes.
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
