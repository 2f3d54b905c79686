// The checked settings of a decode: DecodeConfig of sbd_core/config.py, in the names of a trace.

import constants from "../../constants.json" with { type: "json" };
import { ArgumentError } from "../errors.js";

/** @import { RowCosts } from "./verify_rows.js" */

const MAX_BLOCK_SIZE = 1024;
/** The smallest and the largest repetition penalty. */
export const PENALTIES = /** @type {const} */ ([0.1, 100]);
const STRATEGIES = ["sbd", "ntp", "verify"];
/** The solver that takes a block's first token from the causal row before it. */
export const CAUSAL_FIRST = "causal-first";
export const MEASURES = ["confidence", "entropy", "margin"];

/**
 * The parameters of each solver, with the value that each has where none is given.
 * @type {Readonly<Record<string, Readonly<Record<string, number | string>>>>}
 */
export const SOLVERS = constants.solverDefaults;

/** @typedef {{ name: string, gamma: number, tau: number, factor: number, k: number, by: string }} Solver */

/**
 * What a decode was asked for.
 * @typedef {object} Settings
 * @property {string} strategy
 * @property {Solver} solver with its own parameters; the others are not read
 * @property {number} block_size
 * @property {number} max_new_tokens
 * @property {number} temperature 0, as this engine takes the likeliest token
 * @property {number} seed
 * @property {number} top_k_recorded
 * @property {[offset: number, id: number][]} pinned in the order of their offsets
 * @property {boolean} is_raw_prompt
 * @property {boolean} allows_untrained_block_size
 * @property {number} repetition_penalty 1 for none
 * @property {number | null} max_rows rows of a forward pass of verify at most; null is by row_costs
 * @property {RowCosts | null} row_costs what verify needs where max_rows is null
 */

/**
 * The settings, checked. Raises ArgumentError naming the field, rule and value.
 * @param {Record<string, unknown>} given all of them; parameters that are not the solver's are dropped
 * @returns {Settings}
 */
export function readSettings(given) {
  const solver = readSolver(/** @type {Record<string, unknown>} */ (given.solver));
  const settings = /** @type {Settings} */ ({ ...given, solver });
  requireOneOf("strategy", settings.strategy, STRATEGIES);
  requireWhole("block_size", settings.block_size, 1, MAX_BLOCK_SIZE);
  requireWhole("max_new_tokens", settings.max_new_tokens, 1);
  requireWhole("seed", settings.seed, 0);
  requireNumber("repetition_penalty", settings.repetition_penalty, ...PENALTIES);
  if (settings.max_rows !== null) requireWhole("max_rows", settings.max_rows, 1);
  return { ...settings, pinned: readPinned(settings) };
}

/** The solver of that name with its own parameters alone. @param {Record<string, unknown>} given */
function readSolver({ name, ...given }) {
  requireOneOf("solver", name, Object.keys(SOLVERS));
  const parameters = SOLVERS[String(name)];
  const own = Object.entries(parameters).map(([key, usual]) => [key, given[key] ?? usual]);
  const found = /** @type {Solver} */ ({ name, ...Object.fromEntries(own) });
  if ("gamma" in parameters) requireNumber("gamma", found.gamma, 0);
  if ("tau" in parameters) requireNumber("tau", found.tau, 0, 1);
  if ("factor" in parameters) requireNumber("factor", found.factor, 0);
  if ("k" in parameters) requireWhole("k", found.k, 1);
  if ("by" in parameters) requireOneOf("by", found.by, MEASURES);
  return found;
}

/** The pins by their offsets, checked. @param {Settings} settings @returns {[number, number][]} */
function readPinned({ pinned, strategy, solver, max_new_tokens }) {
  if (pinned.length && strategy !== "sbd")
    throw new ArgumentError("pinned", "needs strategy sbd", strategy);
  if (pinned.length && solver.name === CAUSAL_FIRST) {
    const rule = "needs another solver, as a causal row sees no token pinned after it";
    throw new ArgumentError("pinned", rule, solver.name);
  }
  const offsets = new Set();
  for (const [offset] of pinned) {
    requireWhole("pinned offset", offset, 0, max_new_tokens - 1);
    if (offsets.has(offset))
      throw new ArgumentError("pinned", "must name each position once", offset);
    offsets.add(offset);
  }
  return [...pinned].sort(([a], [b]) => a - b);
}

/**
 * Raises ArgumentError unless the value is a number within bounds.
 * @param {string} argument
 * @param {unknown} value
 * @param {number} low
 * @param {number} [high]
 * @param {"finite" | "whole"} [kind]
 */
export function requireNumber(argument, value, low, high = Infinity, kind = "finite") {
  const rule = `must be a ${kind} number >= ${low}${high === Infinity ? "" : ` and <= ${high}`}`;
  const isOfKind = kind === "whole" ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (!isOfKind || !(Number(value) >= low && Number(value) <= high))
    throw new ArgumentError(argument, rule, value);
}

/** @param {string} argument @param {unknown} value @param {number} low @param {number} [high] */
function requireWhole(argument, value, low, high) {
  requireNumber(argument, value, low, high, "whole");
}

/** @param {string} argument @param {unknown} value @param {string[]} names */
function requireOneOf(argument, value, names) {
  if (!names.some((name) => name === value))
    throw new ArgumentError(argument, `must be one of ${names.join(", ")}`, value);
}
