// A finished race as the server hands it over, and how each lane's answer compares with that of
// next-token prediction. Knows no DOM.

import { raceSeconds } from "../core/numbers.js";
import { differences } from "../core/text/diff.js";

/** @import { Verdict } from "../core/run/wire.js" */
/** @import { RaceState } from "./player.js" */

/** @typedef {[id: number, text: string, pass: number]} BoardToken a token and the pass that fixed it */

/**
 * One lane's figures, all from its trace.
 * @typedef {object} BoardRow
 * @property {string} name
 * @property {string} label
 * @property {number[]} times of each pass, microseconds
 * @property {BoardToken[]} tokens
 * @property {boolean} has_end whether the last token is the end mark
 * @property {number | null} [limit] the longest answer, where that cut this one off
 * @property {number} num_passes
 * @property {number} num_tokens
 * @property {number} seconds
 * @property {Verdict | null} [verdict]
 */

/** @typedef {{ prompt: string, model?: string, block_size: number, max_new_tokens: number, is_recorded: boolean, lanes: BoardRow[] }} Board */

/**
 * @typedef {object} Comparison
 * @property {Set<number>} differing indexes of tokens that next-token prediction has otherwise
 * @property {Map<number, number>} missing index to how many of its tokens are missing before it
 */

/**
 * Where a lane is: the forward passes it made, or by time when the last of them was over.
 * @param {number} pass the last one that is over, -1 before the first
 * @param {number} seconds when it was
 * @param {boolean} isByTime
 */
export function placeOf(pass, seconds, isByTime) {
  if (isByTime) return { value: raceSeconds(seconds), unit: "" };
  return { value: String(pass + 1), unit: pass === 0 ? "pass" : "passes" };
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

/** @param {BoardRow} row */
const idsOf = ({ tokens }) => tokens.map(([id]) => id);

/**
 * Each lane beside next-token prediction; null for all if that did not race.
 * @param {Board} board
 * @returns {(Comparison | null)[]}
 */
export function compareLanes({ lanes }) {
  const plain = lanes.find(({ name }) => name === "ntp");
  return lanes.map((row) => {
    if (!plain) return null;
    const { onlyRight, missing } = differences(idsOf(plain), idsOf(row));
    return { differing: onlyRight, missing };
  });
}

export const KEY_OF_MARKS =
  "Underlined: a token that differs from next-token prediction’s. " +
  "A number in a dashed box: so many of its tokens are missing there.";

const TIMES_WORDS =
  "Drawing is not in the times; each is a single timing, so another race gives others.";

const COMPARED_WORDS =
  " Lanes are compared by their time for a token, as answers may differ in length.";

const FAIR_WORDS =
  "The lanes ran one after another, after a short warm-up, with the same weights. ";

const RECORDED_WORDS =
  "A recorded run: its lanes ran one after another, with the same weights. " +
  "Press Race to run your own prompt here. ";

/**
 * What the times are, and how they are compared where next-token prediction ran too.
 * @param {Board} board
 */
export function boardWords({ is_recorded, lanes }) {
  const isCompared = lanes.some(({ name }) => name === "ntp");
  const how = is_recorded ? RECORDED_WORDS : FAIR_WORDS;
  return how + TIMES_WORDS + (isCompared ? COMPARED_WORDS : "");
}

/**
 * Where the clock stands.
 * @param {RaceState} state
 * @param {number} finish passes, or microseconds by time
 */
export function clockWords({ clock, isByTime }, finish) {
  if (!isByTime) return `forward pass ${Math.floor(clock)} of ${finish}`;
  return `${raceSeconds(clock / 1e6)} of ${raceSeconds(finish / 1e6)}`;
}

/**
 * How much slower than the engine the lanes are shown, "" by pass.
 * @param {RaceState} state
 * @param {number} finish microseconds
 * @param {number} seconds that the whole race takes on the page at speed 1
 */
export function slownessWords({ isByTime, speed }, finish, seconds) {
  if (!isByTime) return "";
  const slowness = (seconds * 1e6) / Math.max(finish * speed, 1);
  return slowness >= 1
    ? ` · shown ${slowness.toFixed(1)}× slower`
    : ` · shown ${(1 / slowness).toFixed(1)}× faster`;
}
