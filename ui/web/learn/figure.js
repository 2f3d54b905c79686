// A recorded run on a scene's stage: the player's own parts, its state set by the scene and not by
// a transport. Drawing happens at most once a frame.

import { clamp } from "../core/numbers.js";
import { isDarkPage, isStill, onScheme } from "../dom/screen.js";
import { initialState, makeClock, Reveals, viewOf } from "../watch/playhead.js";

/** @import { Run } from "../core/run.js" */
/** @import { PlayerState, View } from "../watch/playhead.js" */

/** @import { BudgetActions } from "../watch/budget.js" */
/** @import { Pointing } from "../watch/actions.js" */

/** @typedef {{ update: (view: View) => void }} Part */
/** @typedef {Pointing & BudgetActions} FigureActions */

const PASSES_A_SECOND = 1.2;

export class Figure {
  /** @param {Run} run @param {AbortSignal} signal the scene is left */
  constructor(run, signal) {
    this.run = run;
    this.reveals = new Reveals();
    /** @type {Part[]} */
    this.parts = [];
    this.frame = 0;
    this.target = 0;
    this.hasMoved = false;
    this.isStep = false;
    /** @type {() => void} */
    this.arrived = () => {};
    this.state = initialState();
    this.clock = makeClock(
      () => this.state.isPlaying,
      () => PASSES_A_SECOND,
      () => this.advance(),
    );
    onScheme(() => this.draw(), signal);
    signal.addEventListener("abort", () => {
      this.clock.stop();
      cancelAnimationFrame(this.frame);
    });
  }

  /**
   * The actions that the player's parts may call; a scene says which of them work here.
   * @param {Partial<FigureActions>} own
   * @returns {FigureActions}
   */
  actions(own = {}) {
    return {
      hover: () => {},
      hold: () => {},
      canRedo: false,
      redo: () => {},
      previewGamma: (gamma) => this.set({ gammaPreview: gamma }),
      gamma: () => this.state.gammaPreview ?? this.run.solver.gamma ?? 0,
      ...own,
    };
  }

  /** Show the run in more parts. @param {Part[]} parts */
  add(...parts) {
    this.parts.push(...parts);
    this.draw();
  }

  /** @param {Partial<PlayerState>} change */
  set(change) {
    Object.assign(this.state, change);
    this.draw();
    this.clock.start();
  }

  /**
   * Go to a forward pass; its reveals settle if it arrives.
   * @param {number} pass
   * @param {boolean} isStep
   */
  seek(pass, isStep) {
    this.hasMoved = true;
    this.isStep = isStep;
    this.set({ pass: clamp(pass, 0, this.run.main.lastPass), gammaPreview: null });
  }

  /**
   * Play up to a forward pass, at once where motion is not wanted.
   * @param {number} target
   * @param {() => void} arrived
   */
  play(target, arrived = () => {}) {
    this.target = target;
    this.arrived = arrived;
    if (isStill() || this.state.pass >= target) {
      this.seek(target, false);
      arrived();
      return;
    }
    this.set({ isPlaying: true });
  }

  advance() {
    this.seek(this.state.pass + 1, true);
    if (this.state.pass < this.target) return;
    this.set({ isPlaying: false });
    this.arrived();
  }

  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  paint() {
    if (this.hasMoved) this.reveals.begin(this.isStep ? 1000 / PASSES_A_SECOND : null);
    const view = viewOf(this.state, {
      run: this.run,
      reveals: this.reveals,
      isDark: isDarkPage(),
      isLecture: false,
      isStep: this.hasMoved && this.isStep,
    });
    this.hasMoved = false;
    for (const part of this.parts) part.update(view);
  }
}
