// The forward passes and time that a run saved, and why fewer passes were not faster. Knows no DOM.

import { countOf, median } from "./numbers.js";

/** @import { Run } from "./run.js" */

/**
 * How many times less a token took than one of next-token prediction; null where one is unknown.
 * @param {number} own forward passes, or seconds, of the whole answer
 * @param {number} numTokens of it that were decoded
 * @param {number} plain forward passes, or seconds, of next-token prediction
 * @param {number} numPlainTokens
 */
export function timesLess(own, numTokens, plain, numPlainTokens) {
  const isKnown = own > 0 && numTokens > 0 && plain > 0 && numPlainTokens > 0;
  return isKnown ? plain / numPlainTokens / (own / numTokens) : null;
}

/** "2.1× faster", "3.2× slower"; "" where nothing is known. @param {number | null} times faster */
export function fasterWords(times) {
  if (times === null) return "";
  const [less, more] = [times.toFixed(1), (1 / times).toFixed(1)];
  if (less === "1.0" || more === "1.0") return "as fast";
  return times > 1 ? `${less}× faster` : `${more}× slower`;
}

/**
 * How an answer of another length than next-token prediction's is compared: by the token, of which that
 * writes one a forward pass. "" if both are as long.
 * @param {Numbers} numbers of a run that next-token prediction ran beside
 */
export function lengthWords({ wholePasses, wholeTokens, ntpTokens, ntpPasses }) {
  if (!wholePasses || ntpPasses === null || wholeTokens === ntpTokens) return "";
  return `${countOf(wholePasses, "pass")} for ${wholeTokens} tokens; next-token prediction: ${ntpTokens}`;
}

/**
 * @typedef {object} Engine
 * @property {number} wholePasses
 * @property {number} wholeTokens
 * @property {number} ntpTokens
 * @property {number[]} seconds of the whole run, each time that it was run
 * @property {number[]} ntpSeconds
 */

/**
 * Whether fewer forward passes a token were no faster a token, and the seconds of a token of both
 * answers.
 * @param {Engine} engine
 */
export function slowness({ wholePasses, wholeTokens, ntpTokens, seconds, ntpSeconds }) {
  const [own, plain] = [median(seconds), median(ntpSeconds)];
  const isFaster = (timesLess(own, wholeTokens, plain, ntpTokens) ?? 0) > 1;
  if (wholePasses >= wholeTokens || isFaster) return null;
  return { own: own / wholeTokens, plain: plain / ntpTokens };
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
export const fine = (seconds) => `${(seconds * 1000).toFixed(seconds < 0.1 ? 2 : 0)} ms`;

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
 * Why fewer forward passes were not faster, for a token; null if they were, or nothing is known.
 * isPassDearer: whether a forward pass over several tokens took longer than one over a single one.
 * @param {Run} run
 * @param {Numbers} numbers
 * @param {Timing | null} timing
 */
export function whyNotFaster(run, numbers, timing) {
  const { wholePasses, wholeTokens, ntpTokens } = numbers;
  const times = timesOf(numbers, timing);
  if (!times || !run.ntp || !wholePasses) return null;
  const counts = { wholePasses, wholeTokens, ntpTokens };
  const found = slowness({ ...counts, ...times });
  if (!found) return null;
  const [block, single] = [secondsOfPasses(run.main.steps), secondsOfPasses(run.ntp.steps)];
  // Timed again, only whole answers are known: their forward passes are those of another run.
  if (times === timing || !block || !single) {
    const spent = `${fine(found.own)} a token, next-token ${fine(found.plain)}`;
    const isPassDearer = (found.own * wholeTokens) / wholePasses > found.plain * DEARER;
    return { isPassDearer, words: `Fewer forward passes, but not faster: ${spent}.` };
  }
  const excess = block.prompt - single.prompt;
  const seconds = [found.own * wholeTokens - excess];
  const isPromptAlone = !slowness({ ...counts, ...times, seconds });
  const words =
    `Fewer forward passes were not faster: one over a block took ${ms(block.later)}, ` +
    `one over a single token ${ms(single.later)}; reading the prompt took ` +
    `${ms(block.prompt)}, in next-token prediction ${ms(single.prompt)}` +
    `${isPromptAlone ? ", and that alone made the difference, in one timing" : ""}.`;
  return { isPassDearer: block.later > single.later * DEARER, words };
}
