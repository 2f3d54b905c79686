// What a run saved against next-token prediction: forward passes and time for a token, so that an
// answer that merely ended earlier gains nothing. The one rule of every view. Knows no DOM.

import { countOf, median } from "../numbers.js";

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
