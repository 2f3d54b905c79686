// Where the playhead stands and how it moves: by the clock, by the visitor, to another run. Knows
// no view.

import { clamp } from "../../core/numbers.js";
import { makeClock } from "../../dom/clock.js";
import { playRate } from "../../dom/pace.js";

/** @import { Run } from "../../core/run/run.js" */
/** @import { PlayerState } from "../view.js" */

const MANUAL_STEP_MS = 500;

export class Playback {
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
    this.clock = makeClock(
      () => state.isPlaying,
      () => this.rate(),
      () => this.advance(),
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
    if (!run) return playRate(state.speed, 0, 0);
    const backlog = run.isComplete ? 0 : run.main.lastPass - state.pass;
    return playRate(state.speed, backlog, run.main.steps.length);
  }

  /** The pace, but the pass that only reads a new prompt shows nothing to wait for. */
  rate() {
    const { state } = this;
    const run = this.shown();
    if (!run || run.isRecorded || run.main.lastPass <= state.pass) return this.pace();
    return run.main.steps[state.pass]?.kind === "prefill" ? Infinity : this.pace();
  }

  /**
   * @param {number} pass
   * @param {boolean} isManual
   */
  seek(pass, isManual) {
    const run = this.shown();
    if (!run) return;
    const target = clamp(pass, 0, Math.max(run.main.lastPass, 0));
    const isStep = target === this.state.pass + 1;
    this.stepMs = !isStep ? null : isManual ? MANUAL_STEP_MS : 1000 / this.pace();
    this.hasMoved = true;
    this.change({ pass: target, gammaPreview: null, ...(isManual ? { isPlaying: false } : {}) });
  }

  toggle() {
    const { state } = this;
    const run = this.shown();
    if (!run) return;
    const isAtEnd = state.pass >= run.main.lastPass && run.isComplete;
    if (!state.isPlaying && isAtEnd) this.seek(0, false);
    this.change({ isPlaying: !state.isPlaying, gammaPreview: null });
  }

  advance() {
    const run = this.shown();
    if (!run) return;
    const { main } = run;
    if (this.state.pass < main.lastPass) {
      this.seek(this.state.pass + 1, false);
    } else if (main.finish !== null || run.isStopped) {
      this.change({ isPlaying: false });
    }
  }
}
