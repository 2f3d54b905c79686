// Titles of strategies, solvers and fields, by their names on the wire and in the form.

import constants from "../constants.json" with { type: "json" };

/** @import { Solver } from "./run/wire.js" */

/** @type {Readonly<Record<string, string>>} */
export const LANE_TITLES = constants.laneNames;
/** @type {Readonly<Record<string, string>>} */
export const SOLVER_TITLES = constants.solverNames;
/** @type {Readonly<Record<string, string>>} */
export const FIELD_LABELS = constants.fieldLabels;

/**
 * A solver with its settings: "Entropy bound (Eq. 8), γ 0.35".
 * @param {Solver} solver
 */
export function solverWords({ name, ...parameters }) {
  const values = Object.entries(parameters).map(
    ([key, value]) => `${FIELD_LABELS[key] ?? key} ${value}`,
  );
  return [SOLVER_TITLES[name] ?? name, ...values].join(", ");
}
