// The playhead moves along the forward passes of a run: by hand, at the chosen speed, or as quickly as a live run
// comes. A mask settles into its token as it comes by; every part draws from the view of where it stands.

import { clamp } from "../core/numbers.js";
import { isStill } from "../dom/screen.js";
import { revealedAt } from "./budget.js";

/** @import { Masked, Run } from "../core/run.js" */

const MANUAL_STEP_MS = 500;

export class Playhead {
  /**
   * @param {Readonly<PlayerState>} state
   * @param {() => Run | null} shown
   * @param {(change: Partial<PlayerState>) => void} change
   */
  constructor(state, shown, change) {
    this.state = state;
    this.shown = shown;
    this.change = change;
    /** @type {number | null} how long the pass stands that comes next [ms], null after a jump */
    this.stepMs = null;
    this.hasMoved = false;
    this.isFollowing = false; // a live run up to its end, as quickly as it came
    this.clock = makeClock(
      () => state.isPlaying || this.isPlainOnItsWay,
      () => this.rate(),
      (numLate) => (this.isPlainOnItsWay ? this.advancePlain() : this.advance(numLate)),
    );
  }

  /** Whether the pass to be drawn is the next one, so that its reveals settle. */
  get isStep() {
    return this.hasMoved && this.stepMs !== null;
  }

  /** Another run is on the stage: forget when the next pass of the old one was due. */
  jump() {
    this.stepMs = null;
    this.hasMoved = true;
    this.isFollowing = false;
    this.clock.stop();
  }

  /** Let the pass at which a run opens settle like the next one. */
  startStep() {
    this.stepMs = 1000 / this.pace();
  }

  /** Passes a second at the chosen speed, more while a live run is ahead. */
  pace() {
    const { state } = this;
    const run = this.shown();
    return playRate(state.speed, this.backlog(), run?.main.steps.length ?? 0);
  }

  /** Passes of a live run that wait to be seen; 0 once it was played to its end. */
  backlog() {
    const run = this.shown();
    const isAhead = run && (this.isFollowing || !run.isComplete);
    return isAhead ? run.main.lastPass - this.state.pass : 0;
  }

  /** The pace, but the pass that only reads a new prompt shows nothing to wait for. */
  rate() {
    const { state } = this;
    const run = this.shown();
    if (!run || run.isRecorded || run.main.lastPass <= state.pass) return this.pace();
    return run.main.steps[state.pass]?.kind === "prefill" ? Infinity : this.pace();
  }

  /** @param {number} pass @param {boolean} isManual */
  seek(pass, isManual) {
    const run = this.shown();
    if (!run) return;
    const target = clamp(pass, 0, Math.max(run.main.lastPass, 0));
    const isStep = target === this.state.pass + 1;
    this.stepMs = !isStep ? null : isManual ? MANUAL_STEP_MS : 1000 / this.pace();
    this.hasMoved = true;
    if (isManual) this.isFollowing = false;
    const stop = isManual ? { isPlaying: false } : {};
    this.change({ pass: target, plainPass: null, gammaPreview: null, ...stop });
  }

  /** Whether next-token prediction goes on alone: it was asked to, and is not at its end. */
  get isPlainOnItsWay() {
    const last = this.shown()?.ntp?.lastPass ?? 0;
    return this.state.plainPass !== null && this.state.plainPass < last;
  }

  /** Let next-token prediction go on from the run's end to its own, at once where motion is not wanted. */
  playPlain() {
    const last = this.shown()?.ntp?.lastPass ?? 0;
    this.change({ isPlaying: false, plainPass: isStill() ? last : this.state.pass });
  }

  advancePlain() {
    this.change({ plainPass: (this.state.plainPass ?? 0) + 1 });
  }

  toggle() {
    const { state } = this;
    const run = this.shown();
    if (!run) return;
    const isAtEnd = state.pass >= run.main.lastPass && run.isComplete;
    if (!state.isPlaying && isAtEnd) this.seek(0, false);
    this.change({ isPlaying: !state.isPlaying, gammaPreview: null });
  }

  /**
   * The next pass; on a screen that paints too slowly a live run leaves out passes that are late, so
   * as to stay no more than a second behind.
   * @param {number} [numLate]
   */
  advance(numLate = 0) {
    const run = this.shown();
    if (!run) return;
    const { main } = run;
    if (this.state.pass < main.lastPass) {
      const numLeftOut = clamp(this.backlog() - MOST_A_SECOND, 0, numLate);
      this.seek(this.state.pass + 1 + numLeftOut, false);
    } else if (main.finish !== null || run.isStopped) {
      this.isFollowing = false;
      this.change({ isPlaying: false });
    }
  }
}

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
  /** Stop, and forget when the next pass was due. */
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

/**
 * The visitor's choices.
 * @typedef {object} PlayerState
 * @property {number} pass where the playhead stands
 * @property {number | null} plainPass where next-token prediction goes on alone once the run is over
 * @property {boolean} isPlaying
 * @property {number} speed
 * @property {number | null} hovered position pointed at
 * @property {number | null} held position held by a click
 * @property {number | null} gammaPreview the dragged gamma
 * @property {number | null} alternative token chosen by hand in the inspector
 * @property {boolean} showsHindsight whether the text marks what hindsight disagrees with
 */

/** State of a new player. @returns {PlayerState} */
export function initialState() {
  return {
    pass: 0,
    plainPass: null,
    isPlaying: false,
    speed: 1,
    hovered: null,
    held: null,
    gammaPreview: null,
    alternative: null,
    showsHindsight: false,
  };
}

/**
 * @typedef {object} ViewParts
 * @property {Run} run
 * @property {Reveals} reveals
 * @property {boolean} isDark
 * @property {boolean} isLecture
 * @property {boolean} isStep whether the pass is the next one, so that its reveals settle
 */

/** @typedef {ReturnType<typeof viewOf>} View */

/**
 * The positions that this pass predicted, of those that have a tile.
 * @param {Run} run
 * @param {number} pass
 */
export function predictedTiles(run, pass) {
  const { start, size } = run.windowAt(pass);
  const masked = [...(run.main.steps[pass]?.masked.values() ?? [])];
  return masked.filter(({ position }) => position >= start && position < start + size);
}

/**
 * The ones among them that belong to the answer: none after an end already known.
 * @param {Run} run
 * @param {number} pass
 */
export function openPositions(run, pass) {
  return predictedTiles(run, pass).filter((item) => !run.main.isAfterEnd(item.position, pass));
}

/**
 * The position worth looking at when nobody points: the most uncertain tile in this pass; of those
 * alike the one that the solver took last, if it took them all.
 * @param {Run} run
 * @param {number} pass
 */
function hardestPosition(run, pass) {
  const masked = openPositions(run, pass);
  if (!masked.length) return null;
  const reveals = run.main.steps[pass]?.reveals ?? [];
  const ranks = new Map(reveals.map(({ position, rank }) => [position, rank]));
  /** @param {Masked} item */
  const rankOf = ({ position }) => ranks.get(position) ?? Number.POSITIVE_INFINITY;
  return masked.reduce((most, item) => {
    const isAlike = item.entropy === most.entropy && rankOf(item) > rankOf(most);
    return item.entropy > most.entropy || isAlike ? item : most;
  }).position;
}

/** The view of a frame. @param {PlayerState} state @param {ViewParts} parts */
export function viewOf(state, parts) {
  const chosen = state.hovered ?? state.held;
  const { run } = parts;
  const { pass, gammaPreview } = state;
  const isOver = run.main.finish !== null && pass >= run.main.lastPass; // the whole run has been
  return {
    ...state,
    ...parts,
    plainPass: isOver ? state.plainPass : null,
    focus: chosen ?? hardestPosition(run, pass), // position that the inspector shows
    showsFocus: chosen !== null, // whether the visitor chose it
    isOver,
    // Positions that the dragged gamma would reveal.
    wouldReveal: gammaPreview === null ? null : revealedAt(run, pass, gammaPreview),
  };
}
