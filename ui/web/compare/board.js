// The lanes of a run beside next-token prediction's, and the words about them. Knows no DOM.

import { answerTokens, differences, differWords } from "../core/differences.js";
import { countOf, raceSeconds } from "../core/numbers.js";

/** @import { Lane, Run } from "../core/run.js" */
/** @import { PlayState } from "./player.js" */

/**
 * @typedef {object} Comparison
 * @property {Set<number>} differing positions of tokens that next-token prediction has otherwise
 * @property {Map<number, number>} missing position to how many of its tokens are missing before it
 * @property {string} words see differWords
 */

/**
 * A lane's answer beside next-token prediction's, as far as both got; null while either runs, and
 * where that is not there.
 * @param {Run} run
 * @param {Lane} lane
 * @returns {Comparison | null}
 */
export function besidePlain(run, lane) {
  const plain = run.lanes.get("ntp");
  if (!plain?.finish || !lane.finish) return null;
  let [left, right] = [plain, lane].map((each) => answerTokens(run, each).map(({ id }) => id));
  if (!left || !right) return null;
  if (plain.finish !== "end_of_sequence") right = right.slice(0, left.length);
  if (lane.finish !== "end_of_sequence") left = left.slice(0, right.length);
  const differ = differences(left, right);
  return { differing: differ.onlyRight, missing: differ.missing, words: differWords(differ) };
}

/**
 * Where a lane is: the forward passes it made, or by time when the last of them was over.
 * @param {number} pass the last one that is over, -1 before the first
 * @param {{ seconds: number, tokens: number }} place when it was, and what was written by then
 * @param {boolean} isByTime
 */
export function placeOf(pass, { seconds, tokens }, isByTime) {
  const written = countOf(pass < 0 ? 0 : tokens, "token");
  if (isByTime) return { value: raceSeconds(seconds), unit: written };
  return { value: String(pass + 1), unit: `${pass === 0 ? "pass" : "passes"}, ${written}` };
}

/**
 * When the next forward pass ends, or the one before; Infinity behind the last, 0 before the first.
 * @param {number[]} ends of the forward passes of every lane
 * @param {number} clock
 * @param {number} by 1 ahead, -1 back
 */
export function endBeside(ends, clock, by) {
  return by > 0
    ? Math.min(...ends.filter((end) => end > clock))
    : Math.max(0, ...ends.filter((end) => end < clock));
}

export const KEY_OF_MARKS =
  "Underlined: a token that differs from next-token prediction’s. " +
  "A number in a dashed box: so many of its tokens are missing there.";

const TIMES_WORDS =
  "One model decoded in every way, a forward pass of each in turn. Times are the model’s, without " +
  "drawing, each a single timing: another run gives others. Answers may differ in length, so they are " +
  "compared by the token.";

/** @param {Pick<Run, "isRecorded">} run */
export function timesWords({ isRecorded }) {
  return isRecorded ? `A recorded run. ${TIMES_WORDS}` : TIMES_WORDS;
}

/**
 * Where the clock stands.
 * @param {PlayState} state
 * @param {number} finish passes, or microseconds by time
 */
export function clockWords({ clock, isByTime }, finish) {
  if (!isByTime) return `forward pass ${Math.floor(clock)} of ${finish}`;
  return `${raceSeconds(clock / 1e6)} of ${raceSeconds(finish / 1e6)}`;
}

/**
 * How much slower than the engine the lanes are shown, "" by pass.
 * @param {PlayState} state
 * @param {number} finish microseconds
 * @param {number} seconds that all of it takes on the page at speed 1
 */
export function slownessWords({ isByTime, speed }, finish, seconds) {
  if (!isByTime) return "";
  const slowness = (seconds * 1e6) / Math.max(finish * speed, 1);
  return slowness >= 1
    ? ` · shown ${slowness.toFixed(1)}× slower`
    : ` · shown ${(1 / slowness).toFixed(1)}× faster`;
}
