// The playhead moves along the forward passes of a run: by hand, at the chosen speed, or as fast as a live run grows.
// Also here: the animation of reveals, and the view of a frame, from which every part draws.

import { clamp } from "../core/numbers.ts";
import type { Masked, Run } from "../core/run.ts";
import { prefersReducedMotion } from "../dom/screen.ts";
import { revealedAt } from "./budget.ts";

const MANUAL_STEP_MS = 500;

export class Playhead {
  /** duration of the pass to which the playhead stepped, ms; null after a jump */
  shownMs: number | null = null;
  hasMoved = false;
  isFollowing = false; // whether playback keeps up with a live run, up to its end
  clock: { start: () => void; hurry: () => void; stop: () => void };

  constructor(
    readonly state: Readonly<PlayerState>,
    readonly getRun: () => Run | null,
    readonly change: (change: Partial<PlayerState>) => void,
  ) {
    this.clock = makeClock(
      () => state.isPlaying || this.isNtpPlaying,
      () => this.clockRate(),
      (numLate) =>
        this.isNtpPlaying
          ? this.change({ ntpPass: (state.ntpPass ?? 0) + 1 })
          : this.advance(numLate),
    );
  }

  /** Whether the playhead stepped to the next pass, so that its reveals are animated. */
  get isStep() {
    return this.hasMoved && this.shownMs !== null;
  }

  /** Prepare for another run: forget when the old run's next pass was due. */
  reset() {
    this.shownMs = null;
    this.hasMoved = true;
    this.isFollowing = false;
    this.clock.stop();
  }

  /** Animate the reveals of the pass at which a run opens, as after a step. */
  startStep() {
    this.shownMs = 1000 / this.rate();
  }

  /**
   * Return how many passes a second to show: by the chosen speed, more while a live run is ahead. By time, a pass takes
   * its share of the time that the mean pass of the run is shown.
   */
  rate() {
    const { state } = this;
    const run = this.getRun();
    const count = run?.main.steps.length ?? 0;
    const rate = playRate(state.speed, this.backlog(), count);
    if (!run || !state.isByTime || this.backlog() > 0) return rate;
    const { main, ntp } = run;
    const next =
      state.ntpPass === null ? main.steps[state.pass + 1] : ntp?.steps[state.ntpPass + 1];
    const mean = main.secondsAt(main.lastPass) / count;
    return next?.seconds && mean ? (rate * mean) / next.seconds : rate;
  }

  /** Return how many passes of a live run are not shown yet; 0 once it was played to its end. */
  backlog() {
    const run = this.getRun();
    const isAhead = run && (this.isFollowing || !run.isComplete);
    return isAhead ? run.main.lastPass - this.state.pass : 0;
  }

  /** Return the rate, or Infinity at a live run's pass that only reads the prompt: it shows nothing. */
  clockRate() {
    const { state } = this;
    const run = this.getRun();
    if (!run || run.isRecorded || run.main.lastPass <= state.pass) return this.rate();
    return run.main.steps[state.pass]?.kind === "prefill" ? Infinity : this.rate();
  }

  seek(pass: number, isManual: boolean) {
    const run = this.getRun();
    if (!run) return;
    const target = clamp(pass, 0, Math.max(run.main.lastPass, 0));
    const isStep = target === this.state.pass + 1;
    this.shownMs = !isStep ? null : isManual ? MANUAL_STEP_MS : 1000 / this.rate();
    this.hasMoved = true;
    if (isManual) this.isFollowing = false;
    const stop = isManual ? { isPlaying: false } : {};
    this.change({ pass: target, ntpPass: null, gammaPreview: null, ...stop });
  }

  /** Whether next-token prediction plays on alone, after the end of the run. */
  get isNtpPlaying() {
    const last = this.getRun()?.ntp?.lastPass ?? 0;
    return this.state.ntpPass !== null && this.state.ntpPass < last;
  }

  /** Play next-token prediction from the run's end to its own, at once if the visitor wants no motion. */
  playNtp() {
    const last = this.getRun()?.ntp?.lastPass ?? 0;
    const { pass, isByTime } = this.state;
    const now = isByTime ? (this.getRun()?.ntpPassAt(pass) ?? 0) : pass;
    this.change({ isPlaying: false, ntpPass: prefersReducedMotion() ? last : now });
  }

  toggle() {
    const { state } = this;
    const run = this.getRun();
    if (!run) return;
    const isAtEnd = state.pass >= run.main.lastPass && run.isComplete;
    if (!state.isPlaying && isAtEnd) this.seek(0, false);
    this.change({ isPlaying: !state.isPlaying, gammaPreview: null });
  }

  /**
   * Go to the next pass, or stop at the end. If the screen paints too slowly for a live run, skip late passes, to
   * stay at most a second behind.
   * @param numLate further passes that were due
   */
  advance(numLate: number = 0) {
    const run = this.getRun();
    if (!run) return;
    const { main } = run;
    if (this.state.pass < main.lastPass) {
      const numLeftOut = clamp(this.backlog() - MAX_PASSES_A_SECOND, 0, numLate);
      this.seek(this.state.pass + 1 + numLeftOut, false);
    } else if (main.finish !== null || run.isStopped) {
      this.isFollowing = false;
      this.change({ isPlaying: false });
    }
  }
}

const FRAME_MS = 1000 / 60;

/**
 * Make a clock that calls `advance` `rate()` times a second while `isPlaying()`, at most once a frame. `advance` gets
 * the number of further passes that were due because frames took too long.
 */
export function makeClock(
  isPlaying: () => boolean,
  rate: () => number,
  advance: (numLate: number) => void,
) {
  let frame = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let due = 0;
  /** Wake in the frame in which the next pass is due: idle frames would take time from the engine. */
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
    // Not the frame's own time, as a pass that came in since the frame began may be due.
    const now = performance.now();
    // `frame` stays set during advance(), so that start() adds no second tick.
    if (now >= due) {
      const step = 1000 / rate();
      advance(step > 0 ? Math.floor((now - due) / step) : 0);
      due = Math.max(due + 1000 / rate(), now);
    }
    frame = 0;
    // Only after advance(): in the next frame, what it draws must come before the next tick.
    wait();
  }
  function start() {
    if (!isPlaying()) return stop();
    if (frame || timer) return;
    due = performance.now() + 1000 / rate();
    wait();
  }
  /** Bring the next pass forward if the rate has grown. */
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

// A run of few forward passes would be over too soon, so each pass is shown longer.
const FEW_PASSES = 12;
const FEW_A_SECOND = 1.25;

// While a run is still coming in, fall no further behind it than this.
const MAX_LAG_SECONDS = 0.3; // the server sends news every 0.125 s

// Drawing a pass costs the browser as much as a forward pass of a small model costs the engine, which may use the same
// cores. So draw no more passes a second than an eye can tell apart.
export const MAX_PASSES_A_SECOND = 32;

/** Return how many passes a second to show: by the speed, or more while `backlog` passes of a live run wait. */
export function playRate(speed: number, backlog: number, numPasses: number) {
  const pace = (numPasses <= FEW_PASSES ? FEW_A_SECOND : PASSES_PER_SECOND) * speed;
  if (numPasses <= FEW_PASSES) return pace;
  return speed < 1
    ? pace
    : Math.max(pace, Math.min(backlog / MAX_LAG_SECONDS, MAX_PASSES_A_SECOND));
}

/**
 * Return how long one reveal takes (settle), and the time from the first reveal's start to the last's (spread), ms.
 * @param interval how long the pass is shown, ms
 */
export function revealDurations(interval: number) {
  return { animation: clamp(interval * 0.8, 40, 480), spread: clamp(interval * 0.45, 0, 360) };
}

const SHORTEST_MS = 60; // of a pass whose reveals are animated

const GHOST = {
  color: "var(--sbd-ghost)",
  opacity: 0.35,
  fontWeight: 400,
  transform: "translateY(-4px)",
};

const KEYFRAMES = {
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

/** Animates the reveals of the pass shown; a new pass ends the animations of the last. */
export class Reveals {
  running: Animation[] = [];
  durations: { animation: number; spread: number } | null = null;
  interval: number | null = null;

  /**
   * Prepare for a pass that is about to be painted.
   * @param interval how long it will be shown, ms; null for no motion
   */
  begin(interval: number | null) {
    for (const animation of this.running) animation.cancel();
    this.running = [];
    this.interval = interval;
    this.durations =
      interval === null || this.isQuick || prefersReducedMotion()
        ? null
        : revealDurations(interval);
  }

  get isQuick() {
    return this.interval !== null && this.interval < SHORTEST_MS;
  }

  /** Return how long after the start of the pass the reveal of this rank begins, ms. */
  delay(rank: number, count: number) {
    return this.durations ? (this.durations.spread * rank) / Math.max(count, 1) : 0;
  }

  /** Animate `node` as the reveal of this rank among `count`; `kind` names the keyframes. */
  play(node: HTMLElement, kind: keyof typeof KEYFRAMES, rank: number, count: number) {
    if (!this.durations) return;
    this.running.push(
      node.animate(KEYFRAMES[kind], {
        duration: this.durations.animation,
        delay: this.delay(rank, count),
        fill: "backwards",
        easing: "cubic-bezier(.2,.7,.2,1)",
      }),
    );
  }

  fadeIn(node: HTMLElement) {
    if (!prefersReducedMotion())
      node.animate(KEYFRAMES.fade, { duration: 280, easing: "ease-out" });
  }
}

/** What the visitor chose, and where playback is. */
export type PlayerState = ReturnType<typeof initialState>;

export function initialState() {
  return {
    pass: 0, // index of the forward pass at the playhead
    ntpPass: null as number | null, // pass of next-token prediction as it plays on alone; null before
    isPlaying: false,
    isByTime: true, // whether passes are shown as long as they took, and both lanes at the same time
    speed: 1, // 1 is normal
    hovered: null as number | null, // position pointed at; null for none
    held: null as number | null, // position that the inspector keeps showing; null for none
    gammaPreview: null as number | null, // the dragged gamma; null while none is dragged
    alternative: null as number | null, // id of the candidate chosen in the inspector; null for none
    showsHindsight: false, // whether the text marks the tokens with which hindsight disagrees
  };
}

interface ViewParts {
  run: Run;
  reveals: Reveals;
  isDark: boolean;
  isLecture: boolean;
  isStep: boolean; // whether the playhead stepped to the next pass, so that its reveals are animated
}

export type View = ReturnType<typeof viewOf>;

/** Return the predicted positions that have a tile and may belong to the answer: none after an end already known. */
function openPositions(run: Run, pass: number) {
  const { start, size } = run.windowAt(pass);
  const masked = [...(run.main.steps[pass]?.masked.values() ?? [])];
  return masked.filter(
    ({ position }) =>
      position >= start && position < start + size && !run.main.isAfterEnd(position, pass),
  );
}

/**
 * Return the position to inspect when the visitor chose none: the predicted tile with the highest entropy; among equal
 * ones one that was not revealed, else the one revealed last. Null if this pass predicted none.
 */
function leastSurePosition(run: Run, pass: number) {
  const masked = openPositions(run, pass);
  if (!masked.length) return null;
  const reveals = run.main.steps[pass]?.reveals ?? [];
  const ranks = new Map(reveals.map(({ position, rank }) => [position, rank]));
  const rankOf = ({ position }: Masked) => ranks.get(position) ?? Number.POSITIVE_INFINITY;
  return masked.reduce((most, item) => {
    const isAlike = item.entropy === most.entropy && rankOf(item) > rankOf(most);
    return item.entropy > most.entropy || isAlike ? item : most;
  }).position;
}

/** Return what a frame shows, from which every part draws. */
export function viewOf(state: PlayerState, parts: ViewParts) {
  const chosen = state.hovered ?? state.held;
  const { run } = parts;
  const { pass, gammaPreview } = state;
  const isOver = run.main.finish !== null && pass >= run.main.lastPass;
  return {
    ...state,
    ...parts,
    // The pass at which next-token prediction is shown, and whether that has run on alone after the end of the run.
    ntpPass: (isOver ? state.ntpPass : null) ?? (state.isByTime ? run.ntpPassAt(pass) : pass),
    focus: chosen ?? leastSurePosition(run, pass), // the position that the inspector shows
    showsFocus: chosen !== null, // whether the visitor chose that position
    isOver,
    // The positions that the dragged gamma would reveal; null while none is dragged.
    wouldReveal: gammaPreview === null ? null : revealedAt(run, pass, gammaPreview),
  };
}
