// The solvers, which choose the masked positions that a forward pass reveals. sbd_core/solvers.py has the same ones; a
// test compares them. Each orders the positions and reveals a prefix of that order, at least one position. The engine
// in the browser decodes with them, and the page computes what another gamma would reveal. Knows no run and no DOM.

import constants from "../constants.json" with { type: "json" };

/** @import { Solver as Settings } from "../engine/decoding/settings.js" */
/** @import { Masked, Reveal, Solver } from "./run.js" */

/** @typedef {(count: number) => number[]} Shuffle returns the numbers from 0 to count - 1 in random order */

/** @param {Masked} item */
function confidenceOf(item) {
  return item.top[0]?.probability ?? 0;
}

/** @param {Masked} item */
function marginOf(item) {
  return confidenceOf(item) - (item.top[1]?.probability ?? 0);
}

/**
 * The quantity that a solver's gamma bounds; see assets/solvers.json.
 * @typedef {{ kind: string, title: string, equation: string, gamma: string, exempt: string[] }} Bound
 */

/** @type {Readonly<Record<string, Bound>>} */
const BOUNDS = constants.bounds;

/**
 * Return what a solver's gamma bounds; nothing for an unknown solver, as no budget is better than a wrong one.
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

/**
 * Sort keys, lowest first, of the solvers with a gamma that do not sort by entropy.
 * @type {Readonly<Record<string, (item: Masked) => number>>}
 */
const SORT_KEYS = {
  "entropy-bound-by-confidence": (item) => -confidenceOf(item),
  "entropy-bound-by-margin": (item) => -marginOf(item),
  "causal-first": (item) => item.position,
};

/** Sort by a falling key; equal items stay in order. @param {Masked[]} items @param {(item: Masked) => number} key */
function sortDescending(items, key) {
  return [...items].sort((a, b) => key(b) - key(a));
}

/**
 * For each solver without a gamma: the items to reveal, in the solver's order, of masked items given left to right.
 * @type {Readonly<Record<string, (items: Masked[], solver: Settings, shuffle: Shuffle) => Masked[]>>}
 */
const PREFIXES = {
  "confidence-threshold": (items, { tau }) => {
    const count = items.filter((item) => confidenceOf(item) >= tau).length;
    return sortDescending(items, confidenceOf).slice(0, Math.max(1, count));
  },
  factor: (items, { factor }) => {
    // Stops before the first n with (n + 1)(1 - c_n) >= factor, where c_n is the n-th largest confidence.
    const order = sortDescending(items, confidenceOf);
    const failure = order.findIndex(
      (item, index) => !((index + 2) * (1 - confidenceOf(item)) < factor),
    );
    return failure < 0 ? order : order.slice(0, Math.max(1, failure));
  },
  "top-k": (items, { k, by }) => {
    if (by === "entropy") return sortDescending(items, (item) => -item.entropy).slice(0, k);
    return sortDescending(items, by === "margin" ? marginOf : confidenceOf).slice(0, k);
  },
  random: (items, { k }, shuffle) => {
    const order = shuffle(items.length).slice(0, k);
    return order.map((index) => items[index]);
  },
  "left-to-right": (items, { k }) => items.slice(0, k),
};

/**
 * Return the positions to reveal, in the order of the solver.
 * @param {Settings} solver
 * @param {{ entropy: number, probability: number, second: number }[]} rows by position: the entropy in nats and the
 *   probabilities of the two likeliest tokens
 * @param {number[]} masked positions, left to right
 * @param {Shuffle} shuffle
 */
export function revealOrderFromScores(solver, rows, masked, shuffle) {
  const items = masked.map((position) => {
    const { entropy, probability, second } = rows[position];
    const top = [probability, second].map((chance) => ({ token: 0, probability: chance }));
    return { position, entropy, top };
  });
  return revealedItems(solver, items, shuffle).map(({ position }) => position);
}

/** @param {Settings} solver @param {Masked[]} items @param {Shuffle} shuffle @returns {Masked[]} */
function revealedItems(solver, items, shuffle) {
  if (!hasBudget(solver)) return PREFIXES[solver.name](items, solver, shuffle);
  const order = solverOrder(solver, new Map(items.map((item) => [item.position, item])));
  return order.slice(0, countRevealed(solver, revealCosts(solver, order) ?? [], solver.gamma));
}

/**
 * Sort masked positions in the order in which a solver with a gamma takes them; for other solvers, by entropy.
 * Positions that are equal in the digits of a trace keep the order in which the engine revealed them.
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
  if (!isLeftmostExempt(solver) || !order.length) return order;
  const leftmost = order.reduce((a, b) => (a.position < b.position ? a : b));
  return [leftmost, ...order.filter((item) => item !== leftmost)];
}

/** @param {Solver} solver */
function isLeftmostExempt(solver) {
  return boundOf(solver).kind === "all but the leftmost";
}

/** Whether gamma bounds each revealed entropy, not a sum of them. @param {Solver} solver */
function boundsEachEntropy(solver) {
  return boundOf(solver).kind === "each";
}

/**
 * Return, for each item in order, the gamma needed to reveal it, 0 for the first; null for solvers without gamma. The
 * sum is built without the largest entropy: subtracting it afterwards would round.
 * @param {Solver} solver
 * @param {Masked[]} order
 */
export function revealCosts(solver, order) {
  if (!hasBudget(solver)) return null;
  let sum = 0;
  let largest = 0;
  return order.map(({ entropy }, rank) => {
    if (rank > 0) sum += isLeftmostExempt(solver) ? entropy : Math.min(entropy, largest);
    largest = Math.max(largest, entropy);
    return boundsEachEntropy(solver) && rank > 0 ? largest : sum;
  });
}

/**
 * Count the items, in order, that are revealed at a gamma: at least one.
 * @param {Solver} solver
 * @param {number[]} costs see revealCosts()
 * @param {number} gamma
 */
export function countRevealed(solver, costs, gamma) {
  const firstOut = costs.findIndex(
    (cost, rank) => rank > 0 && (boundsEachEntropy(solver) ? cost >= gamma : cost > gamma),
  );
  return firstOut === -1 ? costs.length : firstOut;
}
