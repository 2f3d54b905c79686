// The pace of a playhead: the clock that moves it through the passes known so far, and the moment of a
// reveal, in which a mask settles into its token, the surest of the pass first: as quick as the passes
// come; skipped when stepping back, when jumping, when motion is not wanted, and when the passes are over
// before an eye could follow.

import { clamp } from "../core/numbers.js";
import { isStill } from "./screen.js";

const FRAME_MS = 1000 / 60;

/**
 * Calls `advance` at `rate()` a second while `isPlaying()`, at most once a frame, with the number of
 * further passes that were due while frames took too long.
 * @param {() => boolean} isPlaying
 * @param {() => number} rate
 * @param {(numLate: number) => void} advance
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
      const step = 1000 / rate();
      advance(step > 0 ? Math.floor((now - due) / step) : 0);
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
export const MOST_A_SECOND = 32;

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

const SHORTEST_MS = 60;

const GHOST = {
  color: "var(--sbd-ghost)",
  opacity: 0.35,
  fontWeight: 400,
  transform: "translateY(-4px)",
};

const SETTLE = {
  tile: [
    { backgroundColor: "var(--sbd-well)", borderColor: "var(--sbd-line)", boxShadow: "none" },
    {
      backgroundColor: "var(--sbd-accent-soft)",
      borderColor: "var(--sbd-accent)",
      offset: 0.3,
      boxShadow: "0 0 0 0 var(--sbd-accent)",
    },
    { boxShadow: "0 0 0 7px transparent" },
  ],
  token: [GHOST, { color: "var(--sbd-text)", opacity: 1, offset: 0.6, transform: "none" }, {}],
  text: [
    { opacity: 0, transform: "translateY(-3px)" },
    { opacity: 1, transform: "none" },
  ],
  fade: [{ opacity: 0.25 }, { opacity: 1 }],
};

/** Plays the reveals of the pass on the screen; a new pass ends those of the one before. */
export class Reveals {
  constructor() {
    /** @type {Animation[]} */
    this.running = [];
    /** @type {{ settle: number, spread: number } | null} */
    this.pace = null;
    /** @type {number | null} */
    this.interval = null;
    this.began = 0;
  }

  /**
   * A pass is about to be painted; `interval` is how long it will stand, null for no motion.
   * @param {number | null} interval
   */
  begin(interval) {
    for (const animation of this.running) animation.cancel();
    this.running = [];
    this.interval = interval;
    this.pace = interval === null || this.isQuick || isStill() ? null : revealPace(interval);
    this.began = performance.now();
  }

  /** Passes come too quickly for motion. */
  get isQuick() {
    return this.interval !== null && this.interval < SHORTEST_MS;
  }

  /**
   * How long after the start of the pass the reveal of this rank begins [ms].
   * @param {number} rank
   * @param {number} count
   */
  delay(rank, count) {
    return this.pace ? (this.pace.spread * rank) / Math.max(count, 1) : 0;
  }

  /**
   * Let `node` settle as the rank-th of `count` reveals; `kind` names the frames.
   * @param {HTMLElement} node
   * @param {keyof typeof SETTLE} kind
   * @param {number} rank
   * @param {number} count
   */
  play(node, kind, rank, count) {
    if (!this.pace) return;
    this.running.push(
      node.animate(SETTLE[kind], {
        duration: this.pace.settle,
        delay: this.delay(rank, count),
        fill: "backwards",
        easing: "cubic-bezier(.2,.7,.2,1)",
      }),
    );
  }

  /** A new run takes the place of another one in `node`. @param {HTMLElement} node */
  takeOver(node) {
    if (!isStill()) node.animate(SETTLE.fade, { duration: 280, easing: "ease-out" });
  }

  /** How far the reveal of this rank is, 0 to 1. @param {number} rank @param {number} count */
  progress(rank, count) {
    if (!this.pace) return 1;
    const age = performance.now() - this.began - this.delay(rank, count);
    return clamp(age / (this.pace.settle * 0.6), 0, 1);
  }

  get isOver() {
    return !this.pace || performance.now() - this.began > this.pace.settle + this.pace.spread;
  }
}
