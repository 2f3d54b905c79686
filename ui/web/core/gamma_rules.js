// The solvers with a gamma: what gamma bounds, in which order a solver takes the masked positions,
// what each costs, and how many are revealed (sbd_core/rules.py for these rules; a test holds the two
// together). The browser's engine decodes by them, and the page shows by them what another gamma
// would reveal. Knows no run and no DOM.

import constants from "../constants.json" with { type: "json" };

/** @import { Masked, Reveal, Solver } from "./run.js" */

/** @param {Masked} item */
function confidenceOf(item) {
  return item.top[0]?.probability ?? 0;
}

/** @param {Masked} item */
function marginOf(item) {
  return confidenceOf(item) - (item.top[1]?.probability ?? 0);
}

/**
 * Says what gamma bounds in a solver, see Bound of sbd_core/rules.py.
 * @typedef {{ kind: string, title: string, equation: string, gamma: string, exempt: string[] }} Bound
 */

/** @type {Readonly<Record<string, Bound>>} */
const BOUNDS = constants.bounds;

/**
 * A rule that is not known is shown without a budget rather than with a wrong one.
 * @param {Solver} solver
 * @returns {Bound}
 */
export function boundOf({ name }) {
  return BOUNDS[name] ?? constants.noBound;
}

/** @param {Solver} solver */
export function hasBudget(solver) {
  return solver.gamma !== undefined && boundOf(solver).kind !== "none";
}

/** @type {Readonly<Record<string, (item: Masked) => number>>} least first */
const SORT_KEYS = {
  "entropy-bound-by-confidence": (item) => -confidenceOf(item),
  "entropy-bound-by-margin": (item) => -marginOf(item),
  "causal-first": (item) => item.position,
};

/**
 * Masked positions in the order in which the solver would take them. What is alike in the digits
 * that a trace has stands as the engine took it.
 * @param {Solver} solver
 * @param {Map<number, Masked>} masked
 * @param {Reveal[]} [reveals] of the same forward pass
 */
export function solverOrder(solver, masked, reveals = []) {
  const ranks = new Map(reveals.map(({ position, rank }) => [position, rank]));
  /** @param {Masked} item */
  const rankOf = ({ position }) => ranks.get(position) ?? masked.size;
  const key = SORT_KEYS[solver.name] ?? ((item) => item.entropy);
  const order = [...masked.values()].sort(
    (a, b) => key(a) - key(b) || rankOf(a) - rankOf(b) || a.position - b.position,
  );
  if (solver.name !== "entropy-bound-from-left" || !order.length) return order;
  const leftmost = order.reduce((a, b) => (a.position < b.position ? a : b));
  return [leftmost, ...order.filter((item) => item !== leftmost)];
}

/**
 * For each item in order: the least gamma that reveals it. Null for rules without gamma. Summed without
 * the largest rather than by subtraction, so that no rounding creeps in.
 * @param {Solver} solver
 * @param {Masked[]} order
 */
export function revealCosts(solver, order) {
  if (!hasBudget(solver)) return null;
  const isLeftmostFree = boundOf(solver).kind === "all but the leftmost";
  let sum = 0;
  let largest = 0;
  return order.map(({ entropy }, rank) => {
    if (rank === 0 && isLeftmostFree) return 0;
    sum += isLeftmostFree ? entropy : Math.min(entropy, largest);
    largest = Math.max(largest, entropy);
    return rank > 0 && solver.name === "entropy-threshold" ? entropy : sum;
  });
}

/**
 * How many of the items, in order, are revealed at gamma: at least one.
 * @param {Solver} solver
 * @param {number[]} costs
 * @param {number} gamma
 */
export function countRevealed(solver, costs, gamma) {
  const isStrict = solver.name === "entropy-threshold";
  const firstOut = costs.findIndex((cost, rank) =>
    isStrict ? rank > 0 && cost >= gamma : cost > gamma,
  );
  return firstOut === -1 ? costs.length : firstOut;
}
