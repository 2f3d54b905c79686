// Where the playhead is and how it moves: by hand, at the chosen speed, and along with a live run.

import { clamp } from "../core/numbers.js";
import { MOST_A_SECOND, makeClock, playRate } from "../dom/clock.js";
import { isStill } from "../dom/screen.js";

/** @import { Run } from "../core/run.js" */
/** @import { PlayerState } from "./view.js" */

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

  /** Another run is on the stage: what the old one's next pass was due at says nothing. */
  jump() {
    this.stepMs = null;
    this.hasMoved = true;
    this.isFollowing = false;
    this.clock.stop();
  }

  /** The pass that the playhead jumped to comes as the next of a run that is read from there. */
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
