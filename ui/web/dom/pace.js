// How quickly passes and their reveals come. Knows no DOM.

import { clamp } from "../core/numbers.js";

const PASSES_PER_SECOND = 3;

// A run of few forward passes is over before one has looked: each of them stands longer.
const FEW_PASSES = 12;
const FEW_A_SECOND = 1.25;

// While a run is still coming in, fall no further behind it than this.
const MAX_LAG_SECONDS = 0.75;

// A forward pass on the screen costs the browser as much as one of a small model costs the engine,
// which may work beside it on the same cores. So no more than an eye can tell apart.
const MOST_A_SECOND = 32;

/**
 * Passes a second: the speed's pace, or quicker while `backlog` passes of a live run wait.
 * @param {number} speed
 * @param {number} backlog
 * @param {number} numPasses that are known of the run
 */
export function playRate(speed, backlog, numPasses) {
  const pace = (numPasses <= FEW_PASSES ? FEW_A_SECOND : PASSES_PER_SECOND) * speed;
  if (numPasses <= FEW_PASSES) return pace;
  return speed < 1 ? pace : Math.max(pace, Math.min(backlog / MAX_LAG_SECONDS, MOST_A_SECOND));
}

/**
 * The pace of reveals [ms] in a pass that lasts `interval` ms: one reveal, and first to last.
 * @param {number} interval
 */
export function revealPace(interval) {
  return { settle: clamp(interval * 0.8, 40, 480), spread: clamp(interval * 0.45, 0, 360) };
}
