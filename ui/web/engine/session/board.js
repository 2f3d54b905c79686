// A race: the form of each lane, and the board of a finished one; ui/views/race.py and board.py.

import constants from "../../constants.json" with { type: "json" };
import { Lane as RunLane } from "../../core/run/lane.js";
import { readStep } from "../../core/run/wire.js";
import { ArgumentError } from "../errors.js";
import { dataOf, NOT_CHECKED } from "./wire.js";

/** @import { Board } from "../../race/board.js" */
/** @import { Form } from "./form.js" */
/** @import { Lane } from "./lanes.js" */

/** @typedef {{ prompt: unknown, lanes: string[], low: number | null, high: number | null, [field: string]: unknown }} RaceEntry */

/** @type {Readonly<Record<string, string>>} */
const LANES = constants.race.lanes;
const { predrafting, lowGamma } = constants.race;

/**
 * The form of each lane, next-token prediction first. Raises ArgumentError.
 * @param {RaceEntry} entry
 * @returns {Record<string, Form>}
 */
export function raceForms({ lanes, low, high, ...shared }) {
  if (!lanes.length)
    throw new ArgumentError("The race", "must have one lane or more; check its box", null);
  if (lanes.includes("sbd-low") && lanes.includes("sbd-high") && low === high) {
    throw new ArgumentError("another γ", "must differ from the first, or both run the same", high);
  }
  /** @type {Record<string, number | null>} */
  const gammas = { "sbd-low": low, "sbd-high": high };
  const chosen = Object.keys(LANES).filter((name) => lanes.includes(name));
  return Object.fromEntries(
    chosen.map((name) => {
      const gamma = name in gammas ? gammas[name] : lowGamma;
      const drafting = name === "verify-predraft" ? predrafting : {};
      return [name, { ...shared, ...drafting, strategy: name.split("-")[0], gamma }];
    }),
  );
}

/**
 * @param {Map<string, Lane>} lanes finished ones
 * @returns {Board}
 */
export function boardOf(lanes) {
  const [first] = lanes.values();
  return {
    prompt: first?.prompt ?? "",
    model: first?.checkpoint.name ?? "",
    block_size: Math.max(...[...lanes.values()].map(({ settings }) => settings.block_size)),
    max_new_tokens: first?.settings.max_new_tokens ?? 0,
    is_recorded: false,
    lanes: [...lanes].map(([name, lane]) => ({
      name,
      label: labelOf(name, lane),
      ...timesOf(lane),
      tokens: tokensOf(lane),
      has_end: lane.finish === "end_of_sequence",
      limit: lane.finish === "length" ? lane.settings.max_new_tokens : null,
      num_passes: lane.events.length,
      num_tokens: lane.answer.length,
      verdict: NOT_CHECKED,
    })),
  };
}

/** Of each pass in whole microseconds, and of all of those. @param {Pick<Lane, "events">} lane */
function timesOf({ events }) {
  const times = events.map((event) => Math.round(event.seconds * 1e6));
  return { times, seconds: times.reduce((sum, time) => sum + time, 0) / 1e6 };
}

/** @param {string} name @param {Pick<Lane, "settings">} lane */
export function labelOf(name, { settings }) {
  if (settings.strategy === "sbd") return `SBD, γ ${settings.solver.gamma}`;
  const { num_predrafts: count, draft_threshold: threshold } = settings;
  if (count) return `Verify, ${count} predrafts, threshold ${threshold}`;
  return LANES[name] ?? name;
}

/**
 * Each token of the answer: its id, its text, the forward pass that fixed it.
 * @param {Lane} lane
 * @returns {[number, string, number][]}
 */
function tokensOf({ name, events, answer, checkpoint, settings }) {
  const run = new RunLane(name, new Map(settings.pinned));
  for (const event of events) run.append(readStep(dataOf(event)));
  return answer.map((id, position) => [
    id,
    checkpoint.tokenizer.tokenText(id),
    run.fixed.get(position)?.pass ?? 0,
  ]);
}
