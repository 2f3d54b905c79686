// stream() decodes one prompt and yields one event per forward pass; see sbd_core/decoding/api.py.

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
 * Decode with checked settings. The cache is freed even if the caller stops early.
 * @param {Checkpoint} checkpoint
 * @param {number[]} promptIds
 * @param {Settings} settings
 * @returns {AsyncGenerator<StepEvent, void>}
 */
export async function* stream(checkpoint, promptIds, settings) {
  const { model } = checkpoint;
  const most = Math.max(2 * settings.block_size, mostRowsOf(settings));
  const cache = new Cache(model, promptIds.length + settings.max_new_tokens + most);
  try {
    const state = new DecodingState(checkpoint, cache, promptIds, settings);
    const strategy = STRATEGIES[settings.strategy](state);
    for (let request = strategy.nextRequest(); request; request = strategy.nextRequest()) {
      yield strategy.update(await model.forward(request));
    }
  } finally {
    cache.release();
  }
}

/** Return how many rows a verify pass may need in the cache beyond the answer. @param {Settings} settings */
function mostRowsOf({ block_size: size, max_rows: most }) {
  const every = (size + 1) * (size + 1 + NUM_ALTERNATIVES * (size + 1));
  return 1 + Math.min(most, every); // 1: the token after an alternative
}
