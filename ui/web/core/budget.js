// The entropy budget of a pass as lengths: masked positions in the solver's order, each as wide as
// its entropy, and the way from a gamma to a place on the bar and back. Knows no DOM.

import constants from "../constants.json" with { type: "json" };
import { clamp, formatNats } from "./numbers.js";
import { countRevealed, revealCosts, solverOrder } from "./rules.js";

/** @import { Run } from "./run.js" */
/** @import { Masked } from "./wire.js" */

/** @typedef {{ item: Masked, left: number, width: number }} Segment its place on the bar, 0 to 1 */
/** @typedef {{ segments: Segment[], total: number, costs: number[] | null }} BudgetLayout */
/** @typedef {{ gamma: number, place: number }} Point */

/** @type {Readonly<Record<string, string>>} */
const RULE_NAMES = constants.solverNames;
const MIN_SHARE = 0.018;

/**
 * Segments in order, their total entropy, and the least gamma that reveals each.
 * @param {Run} run
 * @param {number} pass
 * @returns {BudgetLayout}
 */
export function layOut(run, pass) {
  const step = run.main.steps[pass];
  const order = step ? solverOrder(run.solver, step.masked) : [];
  const total = order.reduce((sum, item) => sum + item.entropy, 0);
  const rest = 1 - MIN_SHARE * order.length;
  let left = 0;
  const segments = order.map((item) => {
    const share = total > 0 ? item.entropy / total : 1 / order.length;
    const segment = { item, left, width: MIN_SHARE + rest * share };
    left += segment.width;
    return segment;
  });
  const costs = run.strategy === "sbd" ? revealCosts(run.solver, order) : null;
  return { segments, total, costs };
}

/**
 * A segment starts at the least gamma that reveals it; none where no gamma counts.
 * @param {BudgetLayout | null} layout
 * @returns {Point[]}
 */
export function breakpoints(layout) {
  const last = layout?.segments.at(-1);
  const { segments, costs } = layout ?? {};
  if (!segments || !last || !costs) return [];
  const points = segments.map(({ left }, rank) => ({ gamma: costs[rank] ?? 0, place: left }));
  const end = (costs.at(-1) ?? 0) + Math.max(last.item.entropy, 1e-4);
  return [...points, { gamma: end, place: 1 }];
}

/**
 * What belongs to a value between the points that it lies between.
 * @param {Point[]} points
 * @param {"gamma" | "place"} from what the value is
 * @param {"gamma" | "place"} to what is asked for
 * @param {number} value
 */
export function interpolate(points, from, to, value) {
  let low = points[0] ?? { gamma: 0, place: 0 };
  let high = low;
  for (const point of points) {
    high = point;
    if (point[from] > value) break;
    low = point;
  }
  const span = high[from] - low[from];
  return span > 0 ? low[to] + (high[to] - low[to]) * ((value - low[from]) / span) : low[to];
}

/**
 * Positions that `gamma` would reveal in a pass; none for a rule without gamma.
 * @param {Run} run
 * @param {number} pass
 * @param {number} gamma
 */
export function revealedAt(run, pass, gamma) {
  const order = solverOrder(run.solver, run.main.steps[pass]?.masked ?? new Map());
  const costs = revealCosts(run.solver, order);
  const count = costs ? countRevealed(run.solver, costs, gamma) : 0;
  return new Set(order.slice(0, count).map((item) => item.position));
}

/**
 * The words beside the bar: what was, or at the dragged gamma would be, revealed.
 * @param {Run} run
 * @param {number} pass
 * @param {number | null} preview the dragged gamma
 * @param {BudgetLayout} layout
 * @param {number} count of positions revealed
 */
export function budgetNote(run, pass, preview, { segments, costs }, count) {
  const { solver } = run;
  if (!segments.length) return pass === 0 ? "the first pass reads the prompt" : "nothing masked";
  if (!costs) return `${RULE_NAMES[solver.name] ?? solver.name} · ${count} revealed`;
  const gamma = preview ?? solver.gamma ?? 0;
  const verb = preview === null ? "revealed" : "would be revealed";
  if (solver.name === "entropy-threshold") {
    return `each H < γ ${formatNats(gamma)} · ${count} ${verb}`;
  }
  const cost = costs[clamp(count - 1, 0, costs.length - 1)] ?? 0;
  const sign = cost <= gamma ? "≤" : ">";
  return `Σ ${formatNats(cost)} ${sign} γ ${formatNats(gamma)} nats · ${count} ${verb}`;
}
