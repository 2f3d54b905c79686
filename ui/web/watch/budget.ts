// The entropy budget of a forward pass, as a bar on a fixed axis in nats: the entropies that count towards gamma, then,
// hatched, the one revealed entropy that does not count, then those of positions not revealed. While gamma is dragged,
// the positions that it would reveal light up, without a forward pass.

import { html, render, type TemplateResult } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import { entropyColour, inkOn } from "../core/colours.ts";
import { clamp, formatGamma, gammaDigits, roundDraggedGamma } from "../core/numbers.ts";
import { MAX_TILES, type Masked, type Run, type Solver } from "../core/run.ts";
import { boundOf, countRevealed, hasBudget, revealCosts, solverOrder } from "../core/solvers.ts";
import { SOLVER_LINES, SOLVER_TITLES } from "../core/words.ts";
import { find, make, setAttribute } from "../dom/elements.ts";
import { buttonTemplate, classes, questionTemplate, tokenTemplate } from "../dom/templates.ts";
import { paperTemplate, termTemplates } from "../dom/terms.ts";
import type { Actions } from "./actions.ts";
import type { View } from "./playhead.ts";

export type BudgetActions = Pick<Actions, "hover" | "previewGamma" | "gamma" | "canRedo" | "redo">;

const THIN = 0.05; // share of the bar below which a segment is too narrow for its token

/** @param place on the axis, 0 to 1 */
function percent(place: number) {
  return `${(place * 100).toFixed(2)}%`;
}

export class Budget {
  layout: BudgetLayout | null = null;
  root = make("section", "sbd-budget");

  /** @param labelOf the exempt position @param aside what stands at the end of the heading */
  constructor(
    readonly actions: BudgetActions,
    readonly labelOf = exemptWords,
    readonly aside: TemplateResult | "" = "",
  ) {}

  get canDragGamma() {
    return Boolean(this.layout?.hasGamma && this.layout.segments.length);
  }

  take(event: PointerEvent) {
    if (!this.canDragGamma) return;
    event.preventDefault();
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    find(this.root, ".sbd-gamma").focus({ preventScroll: true });
    this.drag(event);
  }

  drag(event: PointerEvent) {
    const track = event.currentTarget as HTMLElement;
    if (!track.hasPointerCapture(event.pointerId)) return;
    const box = track.getBoundingClientRect();
    const place = clamp((event.clientX - box.left) / box.width, 0, 1);
    this.actions.previewGamma(roundDraggedGamma(axisNats(place)));
  }

  press(event: KeyboardEvent) {
    const { actions } = this;
    if (event.key === "Escape") actions.previewGamma(null);
    const gamma = gammaAfterKey(event.key, actions.gamma());
    if (gamma === null) return;
    event.preventDefault();
    event.stopPropagation();
    actions.previewGamma(gamma);
  }

  segmentTemplate(view: View, { item, left, width, isRevealed, isExempt }: Segment) {
    const { position, entropy } = item;
    const look = classes({
      "is-in": isRevealed,
      "is-free": isExempt,
      "is-thin": width < THIN,
      "is-focused": view.focus === position && view.showsFocus,
    });
    const inks = `--ink: ${entropyColour(entropy, view.isDark)}; --on-ink: ${inkOn(entropy, view.isDark)}`;
    const { isSum, digits } = this.layout ?? { isSum: true, digits: 2 };
    const why = isSum ? "not counted" : "though not below γ";
    const words = isExempt ? `, revealed, ${why}` : isRevealed ? ", revealed" : "";
    return html`<span
      class="sbd-segment ${look}"
      style="left: ${percent(left)}; width: ${percent(width)}; ${inks}"
      title="Position ${position}: ${entropy.toFixed(digits)} nats${words}"
      @pointerenter=${() => this.actions.hover(position)}
      @pointerleave=${() => this.actions.hover(null)}
      >${tokenTemplate(view.run.shownText(item.top[0]?.token))}</span>`;
  }

  update(view: View) {
    const { run, pass, gammaPreview } = view;
    const { solver } = run;
    const revealed = new Set(run.main.steps[pass]?.reveals.map(({ position }) => position));
    const gamma = gammaPreview ?? solver.gamma;
    const layout = layOut(run, pass, view.wouldReveal ?? revealed, gamma);
    this.layout = layout;
    const { actions, aside, canDragGamma } = this;
    const bound = boundOf(solver);
    const rule = `${SOLVER_TITLES[solver.name] ?? solver.name}: ${SOLVER_LINES[solver.name] ?? ""}`;
    const again = () => actions.redo({ gamma: actions.gamma() }, { kind: "gamma" });
    const isHidden = gammaPreview === null || !actions.canRedo;
    const note = budgetNote(run, pass, gammaPreview, layout);
    const content = html`<div class="sbd-budget-head">
        <h3
          >${termTemplates(bound.title)}${
            bound.equation ? html`, ${paperTemplate(bound.equation)}` : ""
          }</h3>
        <span>${questionTemplate("solver", rule)}</span>
        ${buttonTemplate("sbd-action sbd-again", "Decode again at this γ", again, { isHidden })}
        <span class="sbd-budget-note">${note}</span>${aside}
      </div>
      <div
        class="sbd-budget-track"
        @pointerdown=${(event: PointerEvent) => this.take(event)}
        @pointermove=${(event: PointerEvent) => this.drag(event)}
      >
        <div class="sbd-budget-bar"
          >${keyed(
            pass,
            layout.segments.slice(0, MAX_TILES).map((each) => this.segmentTemplate(view, each)),
          )}</div>
        <div
          class="sbd-gamma"
          role="slider"
          tabindex="0"
          aria-label="Gamma, ${bound.gamma}"
          aria-valuemin="0"
          aria-valuenow=${formatGamma(gamma ?? 0)}
          aria-valuemax=${formatGamma(Math.max(gamma ?? 0, AXIS_END))}
          aria-valuetext=${note}
          style="left: ${percent(axisPlace(gamma ?? 0))}"
          @keydown=${(event: KeyboardEvent) => this.press(event)}
        ><span class="sbd-gamma-grip" aria-hidden="true">γ</span></div>
      </div>
      <div class="sbd-budget-axis" aria-hidden="true">${TICKS}${this.exemptTemplate(view)}</div>`;
    render(content, this.root);
    setAttribute(this.root, "aria-label", find(this.root, "h3").textContent ?? "");
    this.root.classList.toggle("has-gamma", canDragGamma);
    this.root.classList.toggle("is-cut", layout.isCut);
    this.root.classList.toggle("is-preview", gammaPreview !== null);
  }

  /** Return the label of the hatched segment, under its middle but never outside the bar. */
  exemptTemplate({ run }: View) {
    const { layout } = this;
    const segment = layout?.segments.find(({ isExempt }) => isExempt);
    if (!layout || !segment) return html`<span class="sbd-budget-free" hidden></span>`;
    const middle = percent(clamp(segment.left + segment.width / 2, 0, 1));
    return html`<span
      class="sbd-budget-free"
      style="left: ${middle}; transform: translateX(-${middle})"
      >${this.labelOf(run.solver, layout)}</span>`;
  }
}

/** A masked position on the axis. left, width: 0 to 1. isExempt: revealed whatever gamma is. */
type Segment = {
  item: Masked;
  left: number;
  width: number;
  isRevealed: boolean;
  isExempt: boolean;
};
export type BudgetLayout = ReturnType<typeof layOut>;
export const AXIS_END = 16; // nats; the bar cuts off what is beyond
const TICKS = [0, 0.01, 0.1, 0.5, 1, 2, 4, 8, AXIS_END].map(
  (nats) =>
    html`<span class="sbd-budget-tick" style="left: ${percent(axisPlace(nats))}">${nats}</span>`,
);

const GAMMA_KEYS: Readonly<Record<string, number>> = {
  ArrowRight: 0.01,
  ArrowUp: 0.01,
  ArrowLeft: -0.01,
  ArrowDown: -0.01,
  PageUp: 0.1,
  PageDown: -0.1,
  Home: -Infinity,
  End: Infinity,
};

/** Return gamma as a key pressed on its line changes it; null if the key does not move it. */
export function gammaAfterKey(key: string, gamma: number) {
  const change = GAMMA_KEYS[key];
  if (change === undefined) return null;
  return roundDraggedGamma(clamp(gamma + change, 0, Math.max(gamma, AXIS_END)));
}

/** Return the place of a sum of entropies on the axis, 0 to 1; the cube root spreads out small sums. */
export function axisPlace(nats: number) {
  return Math.cbrt(clamp(nats, 0, AXIS_END) / AXIS_END);
}

/** Return the sum of entropies at a place on the axis. @param place 0 to 1 */
export function axisNats(place: number) {
  return AXIS_END * clamp(place, 0, 1) ** 3;
}

/**
 * Return the position revealed whatever gamma is, null for none: where gamma bounds a sum, the largest entropy or the
 * leftmost mask, which the sum leaves out; where gamma bounds each entropy, the surest one if none is below gamma.
 * @param revealed in the solver's order
 */
function exemptOf(solver: Solver, revealed: Masked[], gamma: number): Masked | null {
  const [first] = revealed;
  if (!first || !hasBudget(solver)) return null;
  const { kind } = boundOf(solver);
  if (kind === "all but the leftmost") return first;
  if (kind === "each") return first.entropy >= gamma ? first : null;
  return revealed.reduce((most, item) => (item.entropy >= most.entropy ? item : most));
}

/** Return the positions that a pass saw masked, in the solver's order. */
function orderOf(run: Run, pass: number) {
  const step = run.main.steps[pass];
  return step ? solverOrder(run.solver, step.masked, step.reveals) : [];
}

/** Lay out the budget of a pass, as it was or as it would be at another gamma. */
export function layOut(
  run: Run,
  pass: number,
  revealed: Set<number>,
  gamma: number = run.solver.gamma ?? 0,
) {
  const { solver } = run;
  const order = orderOf(run, pass);
  const chosen = order.filter((item) => revealed.has(item.position));
  const rest = order.filter((item) => !revealed.has(item.position));
  const exempt = exemptOf(solver, chosen, gamma);
  const counted = chosen.filter((item) => item !== exempt);
  const isSum = boundOf(solver).kind !== "each";
  let end = 0;
  const segments = [...counted, ...(exempt ? [exempt] : []), ...rest].map((item) => {
    const left = axisPlace(end);
    end = isSum ? end + item.entropy : Math.max(end, item.entropy);
    const isRevealed = revealed.has(item.position);
    return { item, left, width: axisPlace(end) - left, isRevealed, isExempt: item === exempt };
  });
  const spent = counted.reduce((sum, item) => sum + item.entropy, 0);
  return {
    segments, // from left to right
    spent, // nats of the revealed positions, without the exempt one
    exempt, // the position revealed whatever gamma is; null for none
    isCut: hasBudget(solver) && Math.max(end, gamma) > AXIS_END, // whether gamma or the sum is beyond the axis
    digits: Math.max(2, gammaDigits(gamma)) + 1, // one more than of gamma, so that no sum reads above it
    count: chosen.length,
    numAfterEnd: chosen.filter(({ position }) => run.main.isAfterEnd(position, pass)).length,
    hasGamma: hasBudget(solver),
    isSum, // false where gamma bounds each entropy, not their sum
  };
}

/** Return the positions that `gamma` would reveal in a pass; none if the solver has no gamma. */
export function revealedAt(run: Run, pass: number, gamma: number) {
  const order = orderOf(run, pass);
  const costs = revealCosts(run.solver, order);
  const count = costs ? countRevealed(run.solver, costs, gamma) : 0;
  return new Set(order.slice(0, count).map((item) => item.position));
}

/** Say which position is revealed whatever gamma is; "" for none. */
export function exemptWords(solver: Solver, { exempt, digits }: BudgetLayout) {
  if (!exempt) return "";
  return `${boundOf(solver).exempt.join(" ")}: ${exempt.entropy.toFixed(digits)}`;
}

/** Say how much was revealed, or would be at the dragged gamma. */
export function budgetNote(run: Run, pass: number, preview: number | null, layout: BudgetLayout) {
  const { segments, spent, digits, hasGamma, isSum, numAfterEnd } = layout;
  const { solver } = run;
  const count = layout.count - numAfterEnd;
  if (!segments.length) {
    return pass === 0 ? "the first forward pass reads the prompt" : "nothing masked";
  }
  const numDropped = preview === null ? run.main.numDroppedAt(pass) : 0;
  const behind = numAfterEnd ? `, ${numAfterEnd} after the end` : "";
  const older = numDropped ? `, ${numDropped} older ${behind ? "too" : "now after the end"}` : "";
  const more = behind + older;
  if (!hasGamma) return `${SOLVER_TITLES[solver.name] ?? solver.name} · ${count} revealed${more}`;
  const gamma = formatGamma(preview ?? solver.gamma ?? 0);
  const verb = preview === null ? "revealed" : "would be revealed";
  if (!isSum) {
    const who = layout.exempt ? "none" : "each";
    return `${who} below γ ${gamma} nats · ${count} ${verb}${more}`;
  }
  return `${spent.toFixed(digits)} of γ ${gamma} · ${count} ${verb}${more}`;
}
