// The moment of a reveal: a mask settles into its token, the surest of the pass first. As quick as
// the passes come; skipped when stepping back, when jumping, when motion is not wanted, and when
// the passes are over before an eye could follow.

import { clamp } from "../core/numbers.js";
import { revealPace } from "./clock.js";
import { isStill } from "./page.js";

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
