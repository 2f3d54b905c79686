// stream() decodes one prompt and yields one event per forward pass; see sbd_core/decoding/api.py.

import type { Checkpoint } from "../export.ts";
import { Cache } from "../model.ts";
import { NextTokenPrediction } from "./ntp.ts";
import { setBlockDecoding } from "./sbd.ts";
import type { Settings } from "./settings.ts";
import { DecodingState, type StepEvent, type Strategy } from "./state.ts";
import { DraftAndVerify } from "./verify.ts";
import { NUM_ALTERNATIVES } from "./verify_rows.ts";

const STRATEGIES: Record<string, (state: DecodingState) => Strategy> = {
  ntp: (state) => new NextTokenPrediction(state),
  sbd: setBlockDecoding,
  verify: (state) => new DraftAndVerify(state),
};

/** Decode with checked settings. The cache is freed even if the caller stops early. */
export async function* stream(
  checkpoint: Checkpoint,
  promptIds: number[],
  settings: Settings,
): AsyncGenerator<StepEvent, void> {
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

/** Return how many rows a verify pass may need in the cache beyond the answer. */
function mostRowsOf({ block_size: size, max_rows: most }: Settings) {
  const every = (size + 1) * (size + 1 + NUM_ALTERNATIVES * (size + 1));
  return 1 + Math.min(most, every); // 1: the token after an alternative
}
