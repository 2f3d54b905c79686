// Measures once what forward passes cost on this device, in seconds by number of rows; see
// sbd_core/models/row_costs.py.

import { median } from "../core/numbers.ts";
import { NUM_ALTERNATIVES, type RowCosts } from "./decoding/verify_rows.ts";
import type { Checkpoint } from "./export.ts";
import { Cache } from "./model.ts";
import { measureRows } from "./sampling.ts";

const NUM_ROWS = [1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 40, 48];
const NUM_PROMPT = 64;
const MAX_CAUSAL = 5;
const ROWS_A_CAUSAL = 3;
const NUM_DRAFTED = 4;
const BUDGET_MS = 2000;
const MAX_ROUNDS = 40;

/** Return the costs of rows, measured if they are not known yet. */
export async function rowCostsOf(checkpoint: Checkpoint) {
  if (!checkpoint.rowCosts) {
    checkpoint.rowCosts = await measureRowCosts(checkpoint);
    checkpoint.storeCosts(checkpoint.rowCosts);
  }
  return checkpoint.rowCosts;
}

/** Measure the median seconds of forward passes of 1 to 48 rows, including what a draft computes from their logits. */
async function measureRowCosts({
  model,
  maskId: mask,
  samplerHead,
}: Checkpoint): Promise<RowCosts> {
  const maskId = mask ?? 0;
  const { max_positions: maxPositions } = model.shape;
  const longest = Math.min(48, maxPositions - 1);
  const numPrompt = Math.min(NUM_PROMPT, maxPositions - longest);
  const sizes = NUM_ROWS.filter((size) => size <= longest);
  const cache = new Cache(model, numPrompt + longest);
  const spec = { forbiddenIds: [maskId], numTop: 0 };
  const drafted = { ...spec, numTop: 1 + NUM_ALTERNATIVES };
  /** Return the seconds of one pass. */
  const seconds = async (numCausal: number, numMasks: number) => {
    const began = performance.now();
    const first = Math.min(numCausal, MAX_CAUSAL);
    const logits = await model.forward({
      cache,
      causalIds: new Array(numCausal).fill(0),
      blockIds: new Array(numMasks).fill(maskId),
      numCausalLogits: first,
      predraftBlocks: [],
    });
    const stop = Math.min(logits.numRows, first + NUM_DRAFTED);
    measureRows(logits, 0, first, spec);
    const follow = samplerHead?.begin(logits, Math.min(first + 1, stop), stop);
    for (let row = first + 1; row < stop; row += 1) follow?.(row - first - 1, 0);
    measureRows(logits, first, stop, drafted);
    return (performance.now() - began) / 1000;
  };
  try {
    await seconds(numPrompt, 0);
    const times: number[][] = sizes.map(() => []);
    const began = performance.now();
    // The first round does not count: it allocates memory.
    for (let round = 0; round <= MAX_ROUNDS; round += 1) {
      // In decodes a pass of one row mostly follows another one, which makes it faster.
      cache.truncate(numPrompt);
      await seconds(1, 0);
      for (const [index, size] of sizes.entries()) {
        cache.truncate(numPrompt);
        const wanted = size === 2 ? 2 : Math.max(1, Math.floor(size / ROWS_A_CAUSAL));
        const numCausal = Math.min(wanted, MAX_CAUSAL);
        const time = await seconds(numCausal, size - numCausal);
        if (round) times[index].push(time);
      }
      if (round && performance.now() - began > BUDGET_MS) break;
    }
    // Noise only lengthens a time, so no number of rows costs more than a larger one. A browser's clock may be too
    // coarse to measure a pass, hence the minimum.
    const medians = times.map((own) => Math.max(median(own), 1e-6));
    return sizes.map((size, index) => [size, Math.min(...medians.slice(index))]);
  } finally {
    cache.release();
  }
}
