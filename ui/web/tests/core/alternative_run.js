// A run by verify whose second forward pass finds an alternative to a drafted token right.

import { SHAPE } from "./forward/riding_run.js";
import { END, PREFILL, runOf, start, wire } from "./lines.js";

const STEP = { ...PREFILL, lane: "verify", kind: "decode" };
const VERIFY = { strategies: ["verify"], block_size: 8 };
const OPENING = start({ ...VERIFY, prompt_token_ids: [0, 1, 2], shape: SHAPE });

/** Reads the prompt; drafts two tokens. */
const DRAFTING = {
  ...STEP,
  kind: "prefill",
  context: [0, 3],
  block: [0, 3],
  committed: [0],
  draft: [1, 2],
};

/** Keeps the first of them; the second alternative, for the other one, is right. */
export const RIGHT = {
  ...STEP,
  seq: 2,
  context: [3, 3],
  block: [3, 2],
  committed: [1, 3],
  draft: [2, 0],
  predrafts: [
    [2, 2, [], false],
    [2, 2, [], false, 3],
    [3, 2, [2, 0], true, 3],
  ],
};

/** Reads the alternative and the draft, whose first token its row gave. */
const AFTER = { ...STEP, seq: 3, context: [5, 3], block: [5, 2], committed: [2, 0, 1] };

export const RUN = runOf(
  wire(OPENING, DRAFTING, RIGHT, AFTER, { ...END, seq: 4, lane: "verify", text: "Hello" }),
);
