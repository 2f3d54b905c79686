// Which masked positions a forward pass reveals: sbd_core/rules.py. Every rule puts the masked
// positions in an order of preference and reveals a prefix of it, at least one position.

import { ArgumentError } from "../errors.js";

/** @import { Generator } from "../random.js" */
/** @import { Row } from "../stats.js" */
/** @import { Solver } from "./settings.js" */

/**
 * The positions to reveal, the rule's first choice first.
 * @param {Solver} solver
 * @param {Row[]} rows of every position
 * @param {number[]} masked left to right
 * @param {Generator} generator used by `random` alone
 */
export function ranked(solver, rows, masked, generator) {
  const entropy = rows.map((row) => row.entropy);
  const probability = rows.map((row) => row.probability);
  const margin = rows.map((row) => row.margin);
  const { gamma, k } = solver;
  /** @param {number[]} values @param {number[]} order */
  const of = (values, order) => order.map((position) => values[position] ?? 0);
  /** @param {number[]} order */
  const bounded = (order) => order.slice(0, countEntropyBound(of(entropy, order), gamma));
  switch (solver.name) {
    case "entropy-bound":
      return bounded(ascending(masked, entropy));
    case "entropy-bound-by-confidence":
      return bounded(descending(masked, probability));
    case "entropy-bound-by-margin":
      return bounded(descending(masked, margin));
    case "entropy-bound-from-left": {
      const order = ascending(masked.slice(1), entropy);
      return [...masked.slice(0, 1), ...order.slice(0, countWithin(of(entropy, order), gamma))];
    }
    case "causal-first":
      return masked.slice(0, 1 + countWithin(of(entropy, masked.slice(1)), gamma));
    case "entropy-threshold": {
      const order = ascending(masked, entropy);
      return order.slice(
        0,
        Math.max(1, of(entropy, order).filter((value) => value < gamma).length),
      );
    }
    case "confidence-threshold": {
      const order = descending(masked, probability);
      const { tau } = solver;
      return order.slice(0, Math.max(1, of(probability, order).filter((top) => top >= tau).length));
    }
    case "factor": {
      const order = descending(masked, probability);
      return order.slice(0, countFactor(of(probability, order), solver.factor));
    }
    case "top-k":
      if (solver.by === "entropy") return ascending(masked, entropy).slice(0, k);
      return descending(masked, solver.by === "margin" ? margin : probability).slice(0, k);
    case "random":
      return generator
        .permutation(masked.length)
        .slice(0, k)
        .map((index) => masked[index] ?? 0);
    case "left-to-right":
      return masked.slice(0, k);
    default:
      throw new ArgumentError("solver", "must be a rule of this engine", solver.name);
  }
}

/** Equal ones stay left to right. @param {number[]} masked @param {number[]} values */
function ascending(masked, values) {
  return [...masked].sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
}

/** @param {number[]} masked @param {number[]} values */
function descending(masked, values) {
  return [...masked].sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0));
}

/**
 * Largest s with (sum of the first s) - (their maximum) <= gamma, Eq. 18; in ascending order Eq. 8.
 * @param {number[]} entropies
 * @param {number} gamma
 */
function countEntropyBound(entropies, gamma) {
  let [others, largest] = [0, 0];
  for (const [count, entropy] of entropies.entries()) {
    others += count ? Math.min(entropy, largest) : 0;
    largest = Math.max(entropy, largest);
    if (count && others > gamma) return count;
  }
  return entropies.length;
}

/** How many of the first sum to at most gamma. @param {number[]} entropies @param {number} gamma */
function countWithin(entropies, gamma) {
  let sum = 0;
  const end = entropies.findIndex((entropy) => {
    sum += entropy;
    return sum > gamma;
  });
  return end < 0 ? entropies.length : end;
}

/**
 * Largest n with (n + 1)(1 - c_n) < factor, up to the first failure; at least 1.
 * @param {number[]} confidences
 * @param {number} factor
 */
function countFactor(confidences, factor) {
  const failure = confidences.findIndex(
    (confidence, index) => !((index + 2) * (1 - confidence) < factor),
  );
  return Math.max(1, failure < 0 ? confidences.length : failure);
}
