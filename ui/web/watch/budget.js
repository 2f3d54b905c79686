// The entropy budget of the pass: masked positions in the solver's order, each as wide as its
// entropy, up to gamma. Gamma can be dragged: what it would reveal lights up, no forward pass.

import { breakpoints, budgetNote, interpolate, layOut } from "../core/budget.js";
import { clamp, formatNats } from "../core/numbers.js";
import { entropyColour, inkOn } from "../core/scale.js";
import { make, setAttribute, setStyle, setText } from "../dom/elements.js";
import { showToken } from "../dom/tokens.js";

/** @import { BudgetLayout, Segment } from "../core/budget.js" */
/** @import { Actions } from "./actions.js" */
/** @import { View } from "./view.js" */

/** @type {Readonly<Record<string, number>>} */
const GAMMA_KEYS = {
  ArrowRight: 0.01,
  ArrowUp: 0.01,
  ArrowLeft: -0.01,
  ArrowDown: -0.01,
  PageUp: 0.1,
  PageDown: -0.1,
};

/** The budget as a bar of segments, with the line of gamma that can be dragged. */
export class Budget {
  /** @param {Actions} actions */
  constructor(actions) {
    this.actions = actions;
    /** @type {BudgetLayout | null} */
    this.layout = null;
    /** @type {{ node: HTMLElement, at: number }[]} segments on the page and their positions */
    this.segments = [];
    this.note = make("span", "sbd-budget-note");
    this.again = make(
      "button",
      "sbd-action sbd-again",
      { type: "button" },
      "Decode again at this γ",
    );
    this.again.addEventListener("click", () =>
      actions.redo({ gamma: Number(actions.gamma().toFixed(2)) }, { kind: "gamma" }),
    );
    this.bar = make("div", "sbd-budget-bar");
    this.handle = make(
      "div",
      "sbd-gamma",
      {
        role: "slider",
        tabindex: "0",
        "aria-label": "Gamma, the entropy budget of a pass in nats",
        "aria-valuemin": "0",
      },
      make("span", "sbd-gamma-grip", { "aria-hidden": "true" }, "γ"),
    );
    this.track = make("div", "sbd-budget-track", {}, this.bar, this.handle);
    this.root = make(
      "section",
      "sbd-budget",
      { "aria-label": "Entropy budget" },
      make(
        "div",
        "sbd-budget-head",
        {},
        make("h3", "", {}, "Entropy budget of this pass"),
        this.again,
        this.note,
      ),
      this.track,
    );
    this.listen();
  }

  listen() {
    const { track, handle, actions } = this;
    track.addEventListener("pointerdown", (event) => {
      if (!this.hasLine) return;
      event.preventDefault();
      track.setPointerCapture(event.pointerId);
      handle.focus({ preventScroll: true });
      this.drag(event);
    });
    track.addEventListener("pointermove", (event) => {
      if (track.hasPointerCapture(event.pointerId)) this.drag(event);
    });
    handle.addEventListener("keydown", (event) => {
      if (event.key === "Escape") actions.previewGamma(null);
      const change = GAMMA_KEYS[event.key];
      if (change === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      actions.previewGamma(Math.max(0, actions.gamma() + change));
    });
  }

  get hasLine() {
    return Boolean(this.layout?.costs && this.layout.segments.length);
  }

  /** @param {PointerEvent} event */
  drag(event) {
    const box = this.track.getBoundingClientRect();
    const place = clamp((event.clientX - box.left) / box.width, 0, 1);
    this.actions.previewGamma(interpolate(breakpoints(this.layout), "place", "gamma", place));
  }

  /** @param {number} rank */
  segmentAt(rank) {
    const known = this.segments[rank];
    if (known) return known;
    const segment = { node: make("span", "sbd-segment"), at: 0 };
    segment.node.addEventListener("pointerenter", () => this.actions.hover(segment.at));
    segment.node.addEventListener("pointerleave", () => this.actions.hover(null));
    this.segments[rank] = segment;
    return segment;
  }

  /**
   * @param {View} view
   * @param {Segment} segment
   * @param {number} rank
   * @param {boolean} isIn
   */
  showSegment(view, { item, left, width }, rank, isIn) {
    const segment = this.segmentAt(rank);
    const { node } = segment;
    const isThin = width < 0.07;
    const classes = ["sbd-segment"];
    if (isIn) classes.push("is-in");
    if (isThin) classes.push("is-thin");
    if (view.focus === item.position && view.showsFocus) classes.push("is-focused");
    segment.at = item.position;
    node.className = classes.join(" ");
    setStyle(node, "left", `${(left * 100).toFixed(3)}%`);
    setStyle(node, "width", `${(width * 100).toFixed(3)}%`);
    setStyle(node, "--ink", entropyColour(item.entropy, view.isDark));
    setStyle(node, "--on-ink", inkOn(item.entropy, view.isDark));
    showToken(node, isThin ? "\u200a" : view.run.tokenText(item.top[0]?.token));
    setAttribute(node, "title", `Position ${item.position}: ${formatNats(item.entropy)} nats`);
  }

  /** @param {View} view */
  update(view) {
    this.layout = layOut(view.run, view.pass);
    const { segments } = this.layout;
    const step = view.run.main.steps[view.pass];
    const revealed = view.wouldReveal ?? new Set((step?.reveals ?? []).map((r) => r.position));
    segments.forEach((segment, rank) => {
      this.showSegment(view, segment, rank, revealed.has(segment.item.position));
    });
    if (this.bar.childNodes.length !== segments.length) {
      const shown = this.segments.slice(0, segments.length);
      this.bar.replaceChildren(...shown.map(({ node }) => node));
    }
    setText(
      this.note,
      budgetNote(view.run, view.pass, view.gammaPreview, this.layout, revealed.size),
    );
    this.root.classList.toggle("has-gamma", this.hasLine);
    this.root.classList.toggle("is-preview", view.gammaPreview !== null);
    this.again.hidden = view.gammaPreview === null || !this.actions.canRedo;
    if (this.hasLine) this.showGamma(view.gammaPreview ?? view.run.solver.gamma ?? 0);
  }

  /** @param {number} gamma */
  showGamma(gamma) {
    const place = interpolate(breakpoints(this.layout), "gamma", "place", gamma);
    setStyle(this.handle, "left", `${(place * 100).toFixed(2)}%`);
    setAttribute(this.handle, "aria-valuenow", gamma.toFixed(2));
    setAttribute(this.handle, "aria-valuemax", Math.max(gamma, this.layout?.total ?? 0).toFixed(2));
    setAttribute(this.handle, "aria-valuetext", this.note.textContent ?? "");
  }
}
