// What a race says of itself: how it was timed, where its clock stands, how slowly it is shown.

import { raceSeconds } from "../core/numbers.js";

/** @import { Board } from "./board.js" */
/** @import { RaceState } from "./player.js" */

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
