// A run of two blocks, the first of which rides along with the second.

import { END, FIRST, masks, PREFILL, reveals, runOf, SECOND, start, wire } from "../lines.js";

/** Two layers of 26 weights, an output layer of 20, 8 operations for a query and a key. */
export const SHAPE = {
  hidden_size: 2,
  feed_forward_size: 3,
  num_heads: 1,
  num_kv_heads: 1,
  head_size: 1,
  num_feed_forward_matrices: 3,
  num_layers: 2,
  vocabulary_size: 10,
  bytes_per_value: 4,
};

/** The second block's first forward pass: the first block rides along. */
export const THIRD = {
  ...FIRST,
  seq: 4,
  context: [3, 2],
  block: [2, 2],
  masked: masks([2, 0.3, 2, 0.9], [3, 0.01, 3, 0.99]),
  reveals: reveals([3, 3], [2, 2]),
  committed: [2, 3],
  seconds: 0.004,
};

const OPENING = start({ prompt_token_ids: [0, 1, 2], shape: SHAPE });
export const RUN = runOf(wire(OPENING, PREFILL, FIRST, SECOND, THIRD, { ...END, seq: 5 }));
