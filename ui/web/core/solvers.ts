// The solvers, which choose the masked positions that a forward pass reveals. sbd_core/solvers.py has the same ones; a
// test compares them. Each orders the positions and reveals a prefix of that order, at least one position. The engine
// in the browser decodes with them, and the page computes what another gamma would reveal. Knows no run and no DOM.

import constants from "../constants.json" with { type: "json" };
import type { Solver as Settings } from "../engine/decoding/settings.ts";
import type { Masked, Reveal, Solver } from "./run.ts";

/** returns the numbers from 0 to count - 1 in random order */
type Shuffle = (count: number) => number[];

function confidenceOf(item: Masked) {
  return item.top[0]?.probability ?? 0;
}

function marginOf(item: Masked) {
  return confidenceOf(item) - (item.top[1]?.probability ?? 0);
}

/** The quantity that a solver's gamma bounds; see assets/solvers.json. */
export type Bound = {
  kind: string;
  title: string;
  equation: string;
  gamma: string;
  exempt: string[];
};

const BOUNDS: Readonly<Record<string, Bound>> = constants.bounds;

/** Return what a solver's gamma bounds; nothing for an unknown solver, as no budget is better than a wrong one. */
export function boundOf({ name }: Solver): Bound {
  return BOUNDS[name] ?? constants.noBound;
}

export function hasBudget(solver: Solver) {
  return solver.gamma !== undefined && boundOf(solver).kind !== "none";
}

/** The order in which each solver takes positions, and the rule that says how many; see sbd_core/solvers.py. */
const RULES: Readonly<Record<string, { ranking: string; stop: string }>> = constants.solverRules;

/** Sort keys by ranking, lowest first. */
const KEYS: Readonly<Record<string, (item: Masked) => number>> = {
  entropy: (item) => item.entropy,
  "leftmost, then entropy": (item) => item.entropy,
  confidence: (item) => -confidenceOf(item),
  margin: (item) => -marginOf(item),
  left: (item) => item.position,
};

/** Return the positions to reveal, in the order of the solver. @param rows by position */
export function revealOrderFromScores(
  solver: Settings,
  rows: { entropy: number; probability: number; second: number }[],
  masked: number[],
  shuffle: Shuffle,
) {
  const items = masked.map((position) => {
    const { entropy, probability, second } = rows[position];
    const top = [probability, second].map((chance) => ({ token: 0, probability: chance }));
    return { position, entropy, top };
  });
  return revealedItems(solver, items, shuffle).map(({ position }) => position);
}

function revealedItems(solver: Settings, items: Masked[], shuffle: Shuffle): Masked[] {
  if (hasBudget(solver)) {
    const order = solverOrder(solver, new Map(items.map((item) => [item.position, item])));
    return order.slice(0, countRevealed(solver, revealCosts(solver, order) ?? [], solver.gamma));
  }
  const { ranking, stop } = RULES[solver.name];
  const key = KEYS[ranking === "by" ? solver.by : ranking];
  const order = key
    ? [...items].sort((a, b) => key(a) - key(b))
    : shuffle(items.length).map((index) => items[index]);
  return order.slice(0, Math.max(1, countOf(stop, solver, order)));
}

/** Return how many items, in order, a solver without a gamma reveals; 0 may come out. */
function countOf(stop: string, { k, tau, factor }: Settings, order: Masked[]) {
  if (stop === "count") return k;
  if (stop === "threshold") return order.filter((item) => confidenceOf(item) >= tau).length;
  // The first n with (n + 1)(1 - c_n) >= factor, where c_n is the n-th largest confidence.
  const failure = order.findIndex(
    (item, index) => !((index + 2) * (1 - confidenceOf(item)) < factor),
  );
  return failure < 0 ? order.length : failure;
}

/**
 * Sort masked positions in the order in which a solver with a gamma takes them; for other solvers, by entropy.
 * Positions that are equal in the digits of a trace keep the order in which the engine revealed them.
 * @param reveals of the same forward pass
 */
export function solverOrder(solver: Solver, masked: Map<number, Masked>, reveals: Reveal[] = []) {
  const ranks = new Map(reveals.map(({ position, rank }) => [position, rank]));
  const rankOf = ({ position }: Masked) => ranks.get(position) ?? masked.size;
  const key = KEYS[boundOf(solver).kind === "none" ? "entropy" : RULES[solver.name].ranking];
  const order = [...masked.values()].sort(
    (a, b) => key(a) - key(b) || rankOf(a) - rankOf(b) || a.position - b.position,
  );
  if (!isLeftmostExempt(solver) || !order.length) return order;
  const leftmost = order.reduce((a, b) => (a.position < b.position ? a : b));
  return [leftmost, ...order.filter((item) => item !== leftmost)];
}

function isLeftmostExempt(solver: Solver) {
  return boundOf(solver).kind === "all but the leftmost";
}

function boundsEachEntropy(solver: Solver) {
  return boundOf(solver).kind === "each";
}

/**
 * Return, for each item in order, the gamma needed to reveal it, 0 for the first; null for solvers without gamma. The
 * sum is built without the largest entropy: subtracting it afterwards would round.
 */
export function revealCosts(solver: Solver, order: Masked[]) {
  if (!hasBudget(solver)) return null;
  let sum = 0;
  let largest = 0;
  return order.map(({ entropy }, rank) => {
    if (rank > 0) sum += isLeftmostExempt(solver) ? entropy : Math.min(entropy, largest);
    largest = Math.max(largest, entropy);
    return boundsEachEntropy(solver) && rank > 0 ? largest : sum;
  });
}

/** Count the items, in order, that are revealed at a gamma: at least one. */
export function countRevealed(solver: Solver, costs: number[], gamma: number) {
  const firstOut = costs.findIndex(
    (cost, rank) => rank > 0 && (boundsEachEntropy(solver) ? cost >= gamma : cost > gamma),
  );
  return firstOut === -1 ? costs.length : firstOut;
}
