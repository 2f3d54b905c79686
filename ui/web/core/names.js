// Titles of strategies, solvers and fields, by their names on the wire and in the form.

import constants from "../constants.json" with { type: "json" };

/** @import { Solver } from "./run/wire.js" */

/** @type {Readonly<Record<string, string>>} */
export const LANE_TITLES = constants.laneNames;
/** @type {Readonly<Record<string, string>>} */
export const SOLVER_TITLES = constants.solverNames;
/** @type {Readonly<Record<string, string>>} */
export const FIELD_LABELS = constants.fieldLabels;

/** The solver that Set Block Decoding has by the paper, and goes without naming. */
export const PAPER = "entropy-bound";

/**
 * A way to decode as every view calls it: a strategy, or a solver that is not the paper's.
 * @param {string} strategy
 * @param {string} solver
 */
export function wayTitle(strategy, solver) {
  const isOther = strategy === "sbd" && solver !== PAPER;
  return (isOther ? SOLVER_TITLES[solver] : LANE_TITLES[strategy]) ?? strategy;
}

/**
 * With its settings: "Set Block Decoding, γ 0.35".
 * @param {{ strategy: string, solver: Solver }} run
 */
export function wayWords({ strategy, solver: { name, ...parameters } }) {
  const settings = strategy === "sbd" ? Object.entries(parameters) : [];
  const values = settings.map(([key, value]) => `${FIELD_LABELS[key] ?? key} ${value}`);
  return [wayTitle(strategy, name), ...values].join(", ");
}
