// Checks the settings of a decode: those of DecodeConfig in sbd_core/config.py, under the names that a trace has.

import constants from "../../constants.json" with { type: "json" };
import { ArgumentError } from "../errors.js";

const MAX_BLOCK_SIZE = 1024;
/** Smallest and largest repetition penalty. */
export const PENALTIES = /** @type {const} */ ([0.1, 100]);
const STRATEGIES = ["sbd", "ntp", "verify"];
/** The solver that takes a block's first token from the causal row before the block. */
export const CAUSAL_FIRST = "causal-first";
export const MEASURES = ["confidence", "entropy", "margin"];

/**
 * The parameters of each solver with their defaults.
 * @type {Readonly<Record<string, Readonly<Record<string, number | string>>>>}
 */
export const SOLVERS = constants.solverDefaults;

/** @typedef {{ name: string, gamma: number, tau: number, factor: number, k: number, by: string }} Solver */

/**
 * The settings of a decode.
 * @typedef {object} Settings
 * @property {string} strategy
 * @property {Solver} solver has only its own parameters
 * @property {number} block_size
 * @property {number} max_new_tokens
 * @property {number} temperature always 0, as this engine takes the likeliest token
 * @property {number} seed
 * @property {number} top_k_recorded likeliest tokens recorded per position
 * @property {[offset: number, id: number][]} pinned tokens given before decoding, sorted by offset
 * @property {boolean} is_raw_prompt
 * @property {boolean} allows_untrained_block_size
 * @property {number} repetition_penalty 1 for none
 * @property {number} max_rows largest number of rows of a verify pass
 */

/**
 * Check settings and return them. Raises ArgumentError naming field, rule and value.
 * @param {Record<string, unknown>} given all settings; parameters of other solvers are dropped
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
  requireWhole("max_rows", settings.max_rows, 1);
  return { ...settings, pinned: readPinned(settings) };
}

/** Check a solver and return it with only its own parameters. @param {Record<string, unknown>} given */
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

/** Check the pins and return them sorted by offset. @param {Settings} settings @returns {[number, number][]} */
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
 * Raise ArgumentError unless a value is a number from `low` to `high`.
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
