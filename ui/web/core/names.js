// Titles and words of strategies, solvers, fields and lanes, by their names on the wire, in the form
// and in links. A lane has the name of what decodes, and may have a value of its first setting: "ntp",
// "verify:41", "sbd:0.1", "top-k:2".

import constants from "../constants.json" with { type: "json" };
import { GLOSSARY, SOLVER_LINES } from "./glossary.js";

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

/** @type {Readonly<Record<string, string>>} */
const LETTERS = { gamma: "γ", tau: "τ", max_rows: "rows ≤" };

/** @type {Readonly<Record<string, Readonly<Record<string, number | string>>>>} settings by solver */
const RULES = constants.solverDefaults;
/** The names of lanes: the strategies, and every other solver of Set Block Decoding. */
export const KINDS = ["ntp", "verify", "sbd", ...Object.keys(RULES).filter((k) => k !== PAPER)];

/** @param {string} kind */
const ruleOf = (kind) => RULES[kind === "sbd" ? PAPER : kind] ?? null;

/**
 * The setting that a kind of lane takes a value of, and the value that it has without; null for none.
 * @param {string} kind
 * @returns {[name: string, value: number] | null}
 */
export function dialOf(kind) {
  if (kind === "verify") return ["max_rows", 0]; // 0: as many as pay here
  const [first] = Object.entries(ruleOf(kind) ?? {});
  return first ? [first[0], Number(first[1])] : null;
}

/** @param {string} kind */
export function kindTitle(kind) {
  return LANE_TITLES[kind] ?? SOLVER_TITLES[kind] ?? kind;
}

/** @param {string} name what the setting is called in a line */
export function dialLetter(name) {
  return LETTERS[name] ?? name;
}

/** @param {string} lane */
export function laneTitle(lane) {
  const [kind = "", value] = lane.split(":");
  const dial = dialOf(kind);
  if (value === undefined || !dial) return kindTitle(kind);
  const words = kind === "verify" ? `at most ${value} rows` : `${dialLetter(dial[0])} ${value}`;
  return `${kindTitle(kind)}, ${words}`;
}

/** An explanation of how a lane decodes. @param {string} lane */
export function laneWords(lane) {
  const [kind = ""] = lane.split(":");
  return GLOSSARY[kind]?.words ?? SOLVER_LINES[kind] ?? "";
}

/** @param {string} lane */
export function strategyOf(lane) {
  const [kind = ""] = lane.split(":");
  return ruleOf(kind) ? "sbd" : kind;
}
