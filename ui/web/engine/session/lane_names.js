// Lanes to compare by their names, as a link has them: "ntp", "verify:41", "sbd:0.1", "top-k:2". The
// counterpart of lane_settings in ui/decode/form.py.

import constants from "../../constants.json" with { type: "json" };
import { GLOSSARY, SOLVER_LINES } from "../../core/glossary.js";
import { LANE_TITLES, PAPER, SOLVER_TITLES } from "../../core/names.js";
import { SOLVERS } from "../decoding/settings.js";
import { ArgumentError } from "../errors.js";

/** @import { Form } from "./form.js" */

/** @type {Readonly<Record<string, string>>} */
const LETTERS = { gamma: "γ", tau: "τ", max_rows: "rows ≤" };

/** The names of lanes: the strategies, and every other solver of Set Block Decoding. */
export const KINDS = ["ntp", "verify", "sbd", ...Object.keys(SOLVERS).filter((k) => k !== PAPER)];

/** @param {string} kind */
const ruleOf = (kind) => SOLVERS[kind === "sbd" ? PAPER : kind] ?? null;

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

/**
 * The form of each lane by its name, none twice. Raises ArgumentError.
 * @param {string[]} lanes
 * @param {Form} form what they share
 * @returns {[lane: string, form: Form][]}
 */
export function laneForms(lanes, form) {
  if (!lanes.length || lanes.length > constants.maxLanes) {
    const rule = `must be 1 to ${constants.maxLanes}; choose one`;
    throw new ArgumentError("Ways to decode", rule, null);
  }
  return [...new Set(lanes)].map((lane) => {
    const [kind = "", value] = lane.split(":");
    if (!KINDS.includes(kind) && kind !== PAPER) {
      const rule = `must each be one of ${KINDS.join(", ")}, as in sbd:0.1`;
      throw new ArgumentError("lanes", rule, lane);
    }
    const dial = dialOf(kind);
    if (value !== undefined && !dial)
      throw new ArgumentError("lanes", `${kind} takes no value`, lane);
    const solver = ruleOf(kind) ? { solver: kind === "sbd" ? PAPER : kind } : {};
    const own = value === undefined || !dial ? {} : { [dial[0]]: Number(value) };
    return [lane, { ...form, strategy: strategyOf(lane), ...solver, ...own }];
  });
}
