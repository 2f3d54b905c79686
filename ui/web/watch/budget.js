// The entropies of the pass on an axis of nats: what was spent of gamma, hatched what the solver
// reveals whatever gamma says. Gamma can be dragged: what it would reveal lights up, no forward pass.

import {
  AXIS_END,
  AXIS_TICKS,
  axisNats,
  axisPlace,
  budgetNote,
  freeWords,
  keyedGamma,
  layOut,
} from "../core/budget_layout.js";
import { boundOf } from "../core/gamma_rules.js";
import { clamp, draggedGamma, formatGamma } from "../core/numbers.js";
import { MAX_TILES } from "../core/run.js";
import { entropyColour, inkOn } from "../core/scale.js";
import { SOLVER_LINES, SOLVER_TITLES } from "../core/words.js";
import { make, setAttribute, setStyle, setText, showToken } from "../dom/elements.js";
import { explain, paperLink, question, withTerms } from "../dom/terms.js";

/** @import { BudgetLayout, Segment } from "../core/budget_layout.js" */
/** @import { Bound } from "../core/gamma_rules.js" */
/** @import { Actions } from "./actions.js" */
/** @import { View } from "./view.js" */

/** @typedef {Pick<Actions, "hover" | "previewGamma" | "gamma" | "canRedo" | "redo">} BudgetActions */

const THIN = 0.05; // of the bar: too narrow for a token

/** The ticks under the bar. */
function makeTicks() {
  return AXIS_TICKS.map((nats) => {
    const tick = make("span", "sbd-budget-tick", String(nats));
    tick.style.left = percent(axisPlace(nats));
    return tick;
  });
}

/** @param {number} place 0 to 1 */
function percent(place) {
  return `${(place * 100).toFixed(2)}%`;
}

/** The budget as a bar of segments, with the line of gamma that can be dragged. */
export class Budget {
  /** @param {BudgetActions} actions */
  constructor(actions) {
    this.actions = actions;
    /** @type {BudgetLayout | null} */
    this.layout = null;
    /** @type {{ node: HTMLElement, at: number }[]} segments on the page and their positions */
    this.segments = [];
    this.note = make("span", "sbd-budget-note");
    this.rule = question("solver", "");
    this.again = make("button", "sbd-action sbd-again", "Decode again at this γ");
    this.again.addEventListener("click", () =>
      actions.redo({ gamma: actions.gamma() }, { kind: "gamma" }),
    );
    this.bar = make("div", "sbd-budget-bar");
    this.handle = make(
      "div",
      "sbd-gamma",
      {
        role: "slider",
        tabindex: "0",
        "aria-valuemin": "0",
      },
      make("span", "sbd-gamma-grip", { "aria-hidden": "true" }, "γ"),
    );
    this.track = make("div", "sbd-budget-track", this.bar, this.handle);
    this.free = make("span", "sbd-budget-free");
    const hidden = { "aria-hidden": "true" };
    this.axis = make("div", "sbd-budget-axis", hidden, ...makeTicks(), this.free);
    this.title = make("h3");
    /** @type {Bound | null} what the title is of */
    this.titled = null;
    this.head = make("div", "sbd-budget-head", this.title, this.rule, this.again, this.note);
    this.root = make("section", "sbd-budget", this.head, this.track, this.axis);
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
      const gamma = keyedGamma(event.key, actions.gamma());
      if (gamma === null) return;
      event.preventDefault();
      event.stopPropagation();
      actions.previewGamma(gamma);
    });
  }

  get hasLine() {
    return Boolean(this.layout?.hasGamma && this.layout.segments.length);
  }

  /** @param {PointerEvent} event */
  drag(event) {
    const box = this.track.getBoundingClientRect();
    const place = clamp((event.clientX - box.left) / box.width, 0, 1);
    this.actions.previewGamma(draggedGamma(axisNats(place)));
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

  /** Title of the picture, by the solver. @param {Bound} bound */
  showTitle(bound) {
    if (bound === this.titled) return;
    this.titled = bound;
    const equation = bound.equation ? [", ", paperLink(bound.equation)] : [];
    this.title.replaceChildren(...withTerms(bound.title), ...equation);
    setAttribute(this.root, "aria-label", this.title.textContent ?? "");
    setAttribute(this.handle, "aria-label", `Gamma, ${bound.gamma}`);
  }

  /** @param {View} view @param {Segment} segment @param {number} rank */
  showSegment(view, { item, left, width, isIn, isFree }, rank) {
    const segment = this.segmentAt(rank);
    const { node } = segment;
    const isThin = width < THIN;
    const classes = ["sbd-segment"];
    if (isIn) classes.push("is-in");
    if (isFree) classes.push("is-free");
    if (isThin) classes.push("is-thin");
    if (view.focus === item.position && view.showsFocus) classes.push("is-focused");
    segment.at = item.position;
    node.className = classes.join(" ");
    setStyle(node, "left", percent(left));
    setStyle(node, "width", percent(width));
    setStyle(node, "--ink", entropyColour(item.entropy, view.isDark));
    setStyle(node, "--on-ink", inkOn(item.entropy, view.isDark));
    showToken(node, view.run.shownText(item.top[0]?.token));
    const { isSum, digits } = this.layout ?? { isSum: true, digits: 2 };
    const why = isSum ? "not counted" : "though not below γ";
    const words = isFree ? `, revealed, ${why}` : isIn ? ", revealed" : "";
    setAttribute(
      node,
      "title",
      `Position ${item.position}: ${item.entropy.toFixed(digits)} nats${words}`,
    );
  }

  /** @param {View} view */
  update(view) {
    const step = view.run.main.steps[view.pass];
    const revealed = view.wouldReveal ?? new Set((step?.reveals ?? []).map((r) => r.position));
    const { solver } = view.run;
    const layout = layOut(view.run, view.pass, revealed, view.gammaPreview ?? solver.gamma);
    const segments = layout.segments.slice(0, MAX_TILES);
    this.layout = layout;
    this.showTitle(boundOf(solver));
    segments.forEach((segment, rank) => {
      this.showSegment(view, segment, rank);
    });
    if (this.bar.childNodes.length !== segments.length) {
      const shown = this.segments.slice(0, segments.length);
      this.bar.replaceChildren(...shown.map(({ node }) => node));
    }
    setText(this.note, budgetNote(view.run, view.pass, view.gammaPreview, layout));
    this.showFree(layout, freeWords(solver, layout));
    const rule = SOLVER_TITLES[solver.name] ?? solver.name;
    explain(this.rule, "", `${rule}: ${SOLVER_LINES[solver.name] ?? ""}`);
    this.root.classList.toggle("has-gamma", this.hasLine);
    this.root.classList.toggle("is-cut", layout.isCut);
    this.root.classList.toggle("is-preview", view.gammaPreview !== null);
    this.again.hidden = view.gammaPreview === null || !this.actions.canRedo;
    if (this.hasLine) this.showGamma(view.gammaPreview ?? solver.gamma ?? 0);
  }

  /**
   * The label of the hatched segment, under its middle and never outside the bar.
   * @param {BudgetLayout} layout
   * @param {string} words
   */
  showFree(layout, words) {
    const segment = layout.segments.find(({ isFree }) => isFree);
    this.free.hidden = !segment;
    const middle = segment ? clamp(segment.left + segment.width / 2, 0, 1) : 0;
    if (!segment) return;
    setText(this.free, words);
    setStyle(this.free, "left", percent(middle));
    setStyle(this.free, "transform", `translateX(-${percent(middle)})`);
  }

  /** @param {number} gamma */
  showGamma(gamma) {
    setStyle(this.handle, "left", percent(axisPlace(gamma)));
    setAttribute(this.handle, "aria-valuenow", formatGamma(gamma));
    setAttribute(this.handle, "aria-valuemax", formatGamma(Math.max(gamma, AXIS_END)));
    setAttribute(this.handle, "aria-valuetext", this.note.textContent ?? "");
  }
}
