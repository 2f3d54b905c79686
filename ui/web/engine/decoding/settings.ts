// Checks the settings of a decode: those of DecodeConfig in sbd_core/config.py, under the names that a trace has.

import constants from "../../constants.json" with { type: "json" };
import type { Config } from "../../core/run.ts";
import { SOLVERS } from "../../core/words.ts";
import { ArgumentError } from "../errors.ts";

/** The solver that takes a block's first token from the causal row before the block. */
export const CAUSAL_FIRST = "causal-first";

/** Kind, limits and choices of every setting, from sbd_core/config.py. */
const DECLARED = new Map<string, (typeof constants.settings)[number]>(
  constants.settings.map((setting) => [setting.name, setting]),
);

/** The settings of every decode by name, with what they are where nobody says otherwise; 0 where that is decided later. */
export const FIRST_VALUES: Readonly<Record<string, unknown>> = Object.fromEntries(
  constants.settings
    .filter(({ solvers }) => solvers === null)
    .map((setting) => [setting.name, setting.default ?? 0]),
);

export type Solver = {
  name: string;
  gamma: number;
  tau: number;
  factor: number;
  k: number;
  by: string;
};

/** The settings of a run with what only the engine asks about; the temperature is always 0. */
export interface Settings extends Config {
  solver: Solver; // has only its own parameters
  top_k_recorded: number; // likeliest tokens recorded per position
  is_raw_prompt: boolean;
  allows_untrained_block_size: boolean;
  max_rows: number; // largest number of rows of a verify pass
}

/**
 * Check settings and return them. Raises ArgumentError naming field, rule and value.
 * @param given all settings; parameters of other solvers are dropped
 */
export function readSettings(given: Record<string, unknown>): Settings {
  const solver = readSolver(given.solver as Record<string, unknown>);
  const settings = { ...given, solver } as Settings;
  for (const { name, solvers } of constants.settings)
    if (solvers === null) requireSetting(name, settings[name as keyof Settings]);
  return { ...settings, pinned: readPinned(settings) };
}

/** Check a solver and return it with only its own parameters. */
function readSolver({ name, ...given }: Record<string, unknown>) {
  requireOneOf("solver", name, Object.keys(SOLVERS));
  const parameters = SOLVERS[String(name)];
  const own = Object.entries(parameters).map(([key, usual]) => [key, given[key] ?? usual]);
  const found = { name, ...Object.fromEntries(own) } as Solver;
  for (const key of Object.keys(parameters)) requireSetting(key, found[key as keyof Solver]);
  return found;
}

/** Raise ArgumentError unless a value keeps the limits of a setting. @param argument its name in the error */
export function requireSetting(name: string, value: unknown, argument = name) {
  const { kind, low, high, choices } = DECLARED.get(name) ?? {};
  if (kind === "choice" && name !== "solver") requireOneOf(argument, value, choices ?? []);
  if (kind !== "whole" && kind !== "number") return;
  const most = Number.isSafeInteger(high ?? 0.5) ? Number(high) : Infinity; // not 2 ** 63
  requireNumber(argument, value, low ?? 0, most, kind === "whole" ? "whole" : "finite");
}

/** Check the pins and return them sorted by offset. */
function readPinned({ pinned, strategy, solver, max_new_tokens }: Settings): [number, number][] {
  const isList =
    Array.isArray(pinned) && pinned.every((pin) => Array.isArray(pin) && pin.length === 2);
  if (!isList) throw new ArgumentError("pinned", "must be a list of offsets and token ids", pinned);
  if (pinned.length && strategy !== "sbd")
    throw new ArgumentError("pinned", "needs strategy sbd", strategy);
  if (pinned.length && solver.name === CAUSAL_FIRST) {
    const rule = "needs another solver, as a causal row sees no token pinned after it";
    throw new ArgumentError("pinned", rule, solver.name);
  }
  const offsets = new Set();
  for (const [offset] of pinned) {
    requireNumber("pinned offset", offset, 0, max_new_tokens - 1, "whole");
    if (offsets.has(offset))
      throw new ArgumentError("pinned", "must name each position once", offset);
    offsets.add(offset);
  }
  return [...pinned].sort(([a], [b]) => a - b);
}

/** Raise ArgumentError unless a value is a number from `low` to `high`. */
export function requireNumber(
  argument: string,
  value: unknown,
  low: number,
  high: number = Infinity,
  kind: "finite" | "whole" = "finite",
) {
  const isOfKind = kind === "whole" ? Number.isSafeInteger(value) : Number.isFinite(value);
  const hasMost = high !== Infinity && (isOfKind || kind === "finite");
  const rule = `must be a ${kind} number >= ${low}${hasMost ? ` and <= ${high}` : ""}`;
  if (!isOfKind || !(Number(value) >= low && Number(value) <= high))
    throw new ArgumentError(argument, rule, value);
}

function requireOneOf(argument: string, value: unknown, names: string[]) {
  if (!names.some((name) => name === value))
    throw new ArgumentError(argument, `must be one of ${names.join(", ")}`, value);
}
