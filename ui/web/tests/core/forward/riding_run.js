// A run of two blocks, the first of which rides along with the second.

import { END, FIRST, PREFILL, runOf, SECOND, start, wire } from "../lines.js";

/** @import { WireLine } from "../../../core/run/wire.js" */

/** @type {WireLine} the second block's first forward pass: the first block rides along */
export const THIRD = {
  run: "r",
  seq: 4,
  type: "step",
  lane: "sbd",
  context: [3, 2],
  block: [2, 2],
  masked: [
    [2, 3000, 2, 9000],
    [3, 100, 3, 9900],
  ],
  reveals: [
    [3, 3],
    [2, 2],
  ],
  committed: [2, 3],
  time: 4000,
  cost: [4, 4000, 800, 24],
};

export const RUN = runOf(
  wire(start({ read: [0, 1, 2], value_bytes: 4 }), PREFILL, FIRST, SECOND, THIRD, {
    ...END,
    seq: 5,
  }),
);
