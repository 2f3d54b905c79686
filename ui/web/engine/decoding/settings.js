// The checked settings of a decode: DecodeConfig of sbd_core/config.py, in the names of a trace.

import constants from "../../constants.json" with { type: "json" };
import { ArgumentError } from "../errors.js";

/** @import { RowCosts } from "./draft_tree.js" */

const MAX_BLOCK_SIZE = 1024;
/** The smallest and the largest repetition penalty. */
export const PENALTIES = /** @type {const} */ ([0.1, 100]);
const STRATEGIES = ["sbd", "ntp", "verify"];
/** The solver that takes a block's first token from the causal row before it. */
export const CAUSAL_FIRST = "causal-first";
export const MEASURES = ["confidence", "entropy", "margin"];

/** The parameters of each solver with their values where none is given. */
/** @type {Readonly<Record<string, Readonly<Record<string, number | string>>>>} */
export const SOLVERS = constants.solverDefaults;

/** @typedef {{ name: string, gamma: number, tau: number, factor: number, k: number, by: string }} Solver */

/**
 * @typedef {object} Settings
 * @property {string} strategy
 * @property {Solver} solver with the parameters of its own; the others are not read
 * @property {number} block_size
 * @property {number} max_new_tokens
 * @property {number} temperature 0, as this engine takes the likeliest token
 * @property {number} seed
 * @property {number} top_k_recorded
 * @property {[offset: number, id: number][]} pinned by offset
 * @property {boolean} is_raw_prompt
 * @property {boolean} allows_untrained_block_size
 * @property {number} repetition_penalty 1 for none
 * @property {number | null} max_rows rows of a forward pass of verify at most; null is by row_costs
 * @property {RowCosts | null} row_costs of verify where max_rows is null, which needs them
 */

const DEFAULTS = {
  strategy: "sbd",
  block_size: 16,
  max_new_tokens: 256,
  temperature: 0,
  seed: 0,
  top_k_recorded: 5,
  pinned: [],
  is_raw_prompt: false,
  allows_untrained_block_size: false,
  repetition_penalty: 1,
  max_rows: 41,
  row_costs: null,
};

/**
 * The settings with defaults filled in. Raises ArgumentError naming the field, rule and value.
 * @param {Record<string, unknown>} given
 * @returns {Settings}
 */
export function readSettings(given) {
  const settings = /** @type {Settings} */ ({
    ...DEFAULTS,
    ...given,
    solver: readSolver(given.solver ?? { name: "entropy-bound" }),
  });
  if (!STRATEGIES.includes(settings.strategy)) {
    throw new ArgumentError(
      "strategy",
      `must be one of ${STRATEGIES.join(", ")}`,
      settings.strategy,
    );
  }
  requireWhole("block_size", settings.block_size, 1, MAX_BLOCK_SIZE);
  requireWhole("max_new_tokens", settings.max_new_tokens, 1);
  requireWhole("seed", settings.seed, 0);
  requireNumber("repetition_penalty", settings.repetition_penalty, ...PENALTIES);
  checkRows(settings);
  return { ...settings, pinned: readPinned(settings) };
}

/** @param {Settings} settings */
function checkRows({ strategy, max_rows: most, row_costs: costs }) {
  if (most !== null) requireWhole("max_rows", most, 1);
  if (most !== null && costs !== null)
    throw new ArgumentError("row_costs", "needs max_rows null", most);
  if (strategy === "verify" && most === null && costs === null)
    throw new ArgumentError("max_rows", "must be a number where row_costs are not known", most);
}

/** @param {unknown} given */
function readSolver(given) {
  const solver = /** @type {Record<string, unknown>} */ (given);
  const name = String(solver.name);
  const parameters = Object.hasOwn(SOLVERS, name) ? SOLVERS[name] : undefined;
  if (!parameters) {
    throw new ArgumentError(
      "solver",
      `must be one of ${Object.keys(SOLVERS).join(", ")}`,
      solver.name,
    );
  }
  for (const [parameter, value] of Object.entries(solver)) {
    if (parameter !== "name" && !(parameter in parameters)) {
      const rule = `is not a parameter of ${name}, which takes ${Object.keys(parameters).join(", ") || "none"}`;
      throw new ArgumentError(parameter, rule, value);
    }
  }
  const found = /** @type {Solver} */ ({ name, ...parameters, ...solver });
  if ("gamma" in parameters) requireNumber("gamma", found.gamma, 0);
  if ("tau" in parameters) requireNumber("tau", found.tau, 0, 1);
  if ("factor" in parameters) requireNumber("factor", found.factor, 0);
  if ("k" in parameters) requireWhole("k", found.k, 1);
  if ("by" in parameters && !MEASURES.includes(found.by)) {
    throw new ArgumentError("by", `must be one of ${MEASURES.join(", ")}`, found.by);
  }
  return found;
}

/** @param {Settings} settings @returns {[number, number][]} */
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

/** @param {string} argument @param {unknown} value @param {number} low @param {number} high */
export function requireNumber(argument, value, low, high = Infinity) {
  const rule = `must be a finite number >= ${low}${high === Infinity ? "" : ` and <= ${high}`}`;
  const isIn = typeof value === "number" && Number.isFinite(value) && value >= low && value <= high;
  if (!isIn) throw new ArgumentError(argument, rule, value);
}

/** @param {string} argument @param {unknown} value @param {number} low @param {number} high */
function requireWhole(argument, value, low, high = Infinity) {
  const rule = `must be a whole number >= ${low}${high === Infinity ? "" : ` and <= ${high}`}`;
  const isIn = Number.isSafeInteger(value) && Number(value) >= low && Number(value) <= high;
  if (!isIn) throw new ArgumentError(argument, rule, value);
}
