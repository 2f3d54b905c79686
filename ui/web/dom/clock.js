// The clock that moves a playhead through the passes known so far, and how quickly passes and their
// reveals come.

import { clamp } from "../core/numbers.js";

const FRAME_MS = 1000 / 60;

/**
 * Calls `advance` at `rate()` a second while `isPlaying()`, at most once a frame.
 * @param {() => boolean} isPlaying
 * @param {() => number} rate
 * @param {() => void} advance
 */
export function makeClock(isPlaying, rate, advance) {
  let frame = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let due = 0;
  /** Come back in the frame in which the next pass is due; a frame for nothing costs the engine. */
  function wait() {
    const left = due - performance.now();
    if (left > FRAME_MS) timer = setTimeout(wake, left - FRAME_MS / 2);
    else frame = requestAnimationFrame(tick);
  }
  function wake() {
    timer = undefined;
    frame = requestAnimationFrame(tick);
  }
  function tick() {
    if (!isPlaying()) {
      frame = 0;
      return;
    }
    // Not the time of the frame: what came in since it began may be due.
    const now = performance.now();
    // `frame` stays set meanwhile, so that start() adds no second tick.
    if (now >= due) {
      advance();
      due = Math.max(due + 1000 / rate(), now);
    }
    frame = 0;
    // After advance(): what it draws in the next frame must come before the next advance.
    wait();
  }
  function start() {
    if (!isPlaying()) return stop();
    if (frame || timer) return;
    due = performance.now() + 1000 / rate();
    wait();
  }
  /** Something changed that may make the next pass due sooner. */
  function hurry() {
    due = Math.min(due, performance.now() + 1000 / rate());
    if (!timer) return;
    clearTimeout(timer);
    timer = undefined;
    wait();
  }
  /** The next start() begins anew: what the old run's next pass was due at says nothing. */
  function stop() {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    frame = 0;
    timer = undefined;
  }
  return { start, hurry, stop };
}

const PASSES_PER_SECOND = 3;

// A run of few forward passes is over before one has looked: each of them stands longer.
const FEW_PASSES = 12;
const FEW_A_SECOND = 1.25;

// While a run is still coming in, fall no further behind it than this.
const MAX_LAG_SECONDS = 0.3; // the server sends news every 0.125 s

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
