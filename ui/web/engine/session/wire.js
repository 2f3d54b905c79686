// Writes the player's wire lines of one run, as sbd_core/replay/wire_format.py does on a server, so
// that what shows a run does not know who decoded it.

import constants from "../../constants.json" with { type: "json" };
import { BYTES_PER_VALUE, costParts, eventCost } from "./cost.js";

/** @import { Verdict } from "../../core/run/wire.js" */
/** @import { Checkpoint } from "../checkpoint/folder.js" */
/** @import { Solver, Settings } from "../decoding/settings.js" */
/** @import { MaskedPosition, StepEvent } from "../decoding/state.js" */

const MIN_SHOWN_PROBABILITY = 0.0005;

/** @type {Verdict} of every answer: this engine decodes, only the server checks. */
export const NOT_CHECKED = {
  right: null,
  words: "Not checked in the browser.",
};

export class RunWire {
  /**
   * @param {string} runId
   * @param {Checkpoint} checkpoint
   */
  constructor(runId, checkpoint) {
    this.runId = runId;
    this.checkpoint = checkpoint;
    /** @type {Map<number, number>} */
    this.indexes = new Map();
    /** @type {number[]} */
    this.unsent = [];
    this.sequence = 0;
    this.numPrompt = 0;
  }

  /**
   * The line that opens the run.
   * @param {{ prompt: string, promptIds: number[], settings: Settings, lanes: string[], ask: string }} run
   */
  start({ prompt, promptIds, settings, lanes, ask }) {
    const pinned = settings.pinned.map(([offset, id]) => [offset, this.index(id)]);
    const read = promptIds.map((id) => this.index(id));
    const drafting = {
      num_predrafts: settings.num_predrafts || null,
      draft_threshold: settings.draft_threshold,
      row_policy: settings.row_policy === "fixed" ? null : settings.row_policy,
    };
    return this.line("run", {
      tokens: this.newTokens(),
      read,
      pinned,
      prompt,
      model: this.checkpoint.name,
      lanes,
      strategy: settings.strategy,
      solver: ownParameters(settings.solver),
      block_size: settings.block_size,
      max_new_tokens: settings.max_new_tokens,
      seed: settings.seed || null,
      repetition_penalty: settings.repetition_penalty === 1 ? null : settings.repetition_penalty,
      ...(settings.strategy === "verify" ? drafting : {}),
      ask,
      ends: [...this.checkpoint.endIds].sort((a, b) => a - b),
      value_bytes: BYTES_PER_VALUE,
      ...costParts(this.checkpoint.model.shape),
      is_recorded: false,
    });
  }

  /**
   * One forward pass of a lane, which is named by its strategy.
   * @param {string} lane
   * @param {StepEvent} event
   */
  step(lane, event) {
    if (event.kind === "prefill") this.numPrompt = event.numCausal;
    const fields = this.eventFields(event);
    const cost = eventCost(this.checkpoint.model.shape, event, lane, this.numPrompt);
    return this.line("step", { lane, tokens: this.newTokens(), ...fields, cost });
  }

  /**
   * The lane is complete.
   * @param {string} lane
   * @param {string} finish
   * @param {string} text the whole decoded answer
   */
  end(lane, finish, text) {
    return this.line("end", { lane, finish, text, verdict: NOT_CHECKED });
  }

  /** @param {number} id of a token */
  index(id) {
    const known = this.indexes.get(id);
    if (known !== undefined) return known;
    const index = this.indexes.size;
    this.indexes.set(id, index);
    this.unsent.push(id);
    return index;
  }

  newTokens() {
    const tokens = this.unsent.map((id) => [id, this.checkpoint.tokenizer.tokenText(id)]);
    this.unsent = [];
    return tokens;
  }

  /** @param {StepEvent} event */
  eventFields(event) {
    /** @param {number} id */
    const index = (id) => this.index(id);
    return {
      kind: event.kind === "decode" ? null : event.kind,
      context: [event.numCached, event.numCausal],
      block: [event.block.start, event.block.size],
      masked: event.masked.map((item) => [
        item.position,
        scaledEntropy(item.entropy),
        ...this.top(item),
      ]),
      reveals: this.reveals(event),
      committed: event.committed.map(index),
      draft: event.draft.map(index),
      hindsight: event.hindsight.map((item) => [
        item.position,
        scaled(item.probability),
        index(item.argmaxId),
        scaled(item.argmaxProbability),
      ]),
      time: rounded(event.seconds * 1e6),
      predrafts: event.predrafts.map(({ block, isUsed, tokenIds }) => [
        block.start,
        block.size,
        isUsed ? 1 : 0,
        ...tokenIds.map(index),
      ]),
    };
  }

  /**
   * [position, token]; the probability only if "masked" does not hold it.
   * @param {StepEvent} event
   */
  reveals({ masked, reveals }) {
    const recorded = new Map(masked.map((item) => [item.position, item.topIds]));
    return reveals.map(({ position, tokenId, probability }) => {
      const row = [position, this.index(tokenId)];
      return recorded.get(position)?.includes(tokenId) ? row : [...row, scaled(probability)];
    });
  }

  /**
   * Token, probability, token, ... best first; what would read 0.0 % is left out.
   * @param {MaskedPosition} item
   */
  top({ topIds, topProbabilities }) {
    const small = topProbabilities.findIndex(
      (share, rank) => rank > 0 && share < MIN_SHOWN_PROBABILITY,
    );
    const shown = small < 0 ? topIds : topIds.slice(0, small);
    return shown.flatMap((id, rank) => [this.index(id), scaled(topProbabilities[rank] ?? 0)]);
  }

  /**
   * @param {string} type
   * @param {Record<string, unknown>} fields
   */
  line(type, fields) {
    /** @param {unknown} value */
    const isSaid = (value) =>
      value !== "" && value !== null && !(Array.isArray(value) && !value.length);
    const said = Object.entries(fields).filter(([, value]) => isSaid(value));
    const body = { run: this.runId, seq: this.sequence, type, ...Object.fromEntries(said) };
    this.sequence += 1;
    return RunWire.text(body);
  }

  /** One line of JSON that is safe inside markup and scripts. @param {Record<string, unknown>} body */
  static text(body) {
    return JSON.stringify(body).replace(/[<>&\u2028\u2029]/g, escaped);
  }
}

/** @param {string} character that markup could mistake for its own */
function escaped(character) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** @param {Solver} solver */
export function ownParameters(solver) {
  const known = Object.entries(solver).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known);
}

/** `value` in wire units. @param {number} value */
function scaled(value) {
  return rounded(value * constants.wireUnits);
}

/** To four digits at least: a bound near 0 adds up the smallest. @param {number} nats */
function scaledEntropy(nats) {
  const units = nats * constants.wireUnits;
  return units >= 1000 ? rounded(units) : Number(units.toPrecision(4));
}

/** Halves go to the even neighbour, as Python rounds. @param {number} value */
function rounded(value) {
  const below = Math.floor(value);
  if (value - below === 0.5) return below % 2 ? below + 1 : below;
  return Math.round(value);
}
