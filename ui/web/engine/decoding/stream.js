// stream(): one event per forward pass, of one prompt's token ids; sbd_core/decoding/api.py.

import { ArgumentError } from "../errors.js";
import { Cache } from "../model.js";
import { NextTokenPrediction } from "./ntp.js";
import { setBlockDecoding } from "./sbd.js";
import { DecodingState } from "./state.js";
import { DraftAndVerify } from "./verify.js";
import { NUM_ALTERNATIVES } from "./verify_rows.js";

/** @import { Checkpoint } from "../export.js" */
/** @import { Settings } from "./settings.js" */
/** @import { StepEvent, Strategy } from "./state.js" */

/** @type {Record<string, (state: DecodingState) => Strategy>} */
const STRATEGIES = {
  ntp: (state) => new NextTokenPrediction(state),
  sbd: setBlockDecoding,
  verify: (state) => new DraftAndVerify(state),
};

/**
 * Decode; leaving early gives the cache back too. Raises ArgumentError at the first step.
 * @param {Checkpoint} checkpoint
 * @param {number[]} promptIds
 * @param {Settings} settings
 * @returns {AsyncGenerator<StepEvent, void>}
 */
export async function* stream(checkpoint, promptIds, settings) {
  checkFits(checkpoint, promptIds, settings);
  const { model } = checkpoint;
  const most = Math.max(2 * settings.block_size, mostRowsOf(settings));
  const cache = new Cache(model, promptIds.length + settings.max_new_tokens + most);
  try {
    const state = new DecodingState(checkpoint, cache, promptIds, settings);
    const strategy = STRATEGIES[settings.strategy](state);
    for (let request = strategy.nextRequest(); request; request = strategy.nextRequest()) {
      yield strategy.finish(await model.forward(request));
    }
  } finally {
    cache.release();
  }
}

/** The most rows that a forward pass of verify has beyond the answer. @param {Settings} settings */
function mostRowsOf({ block_size: size, max_rows: most, row_costs: costs }) {
  const allowed = most ?? costs?.at(-1)?.[0] ?? 1;
  const every = (size + 1) * (size + 1 + NUM_ALTERNATIVES * (size + 1));
  return 1 + Math.min(allowed, every); // 1: the token behind an alternative
}

/**
 * Raises ArgumentError naming what does not fit the model.
 * @param {Checkpoint} checkpoint
 * @param {number[]} promptIds
 * @param {Settings} settings
 */
export function checkFits({ model, name, maskId }, promptIds, settings) {
  const { vocabulary, max_positions: maxPositions, block_range: blockRange } = model.shape;
  if (!promptIds.length) throw new ArgumentError("prompt", "must hold at least one token", "[]");
  if (promptIds.length + settings.max_new_tokens > maxPositions) {
    const most = `must leave room: its tokens and max_new_tokens together must be at most ${maxPositions}, the reach of ${name}`;
    throw new ArgumentError("prompt", most, `${promptIds.length} + ${settings.max_new_tokens}`);
  }
  if (settings.strategy === "ntp") return;
  if (maskId === null) {
    const rule = `must be ntp, as the tokenizer of ${name} has no mask token`;
    throw new ArgumentError("strategy", rule, settings.strategy);
  }
  const [low, high] = blockRange ?? [1, Infinity];
  const isIn = low <= settings.block_size && settings.block_size <= high;
  if (!isIn && !settings.allows_untrained_block_size) {
    const sizes = `must be from ${low} to ${high}, the sizes ${name} was trained on`;
    throw new ArgumentError("block_size", sizes, settings.block_size);
  }
  for (const [offset, id] of settings.pinned) {
    if (!(Number.isInteger(id) && id >= 0 && id < vocabulary)) {
      const rule = `must hold token ids from 0 to ${vocabulary - 1}`;
      throw new ArgumentError(`pinned[${offset}]`, rule, id);
    }
    if (id === maskId)
      throw new ArgumentError(`pinned[${offset}]`, "must not be the mask token", id);
  }
}
