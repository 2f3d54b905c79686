// Wire lines made by hand, as Python writes them, and runs made from them.

import assert from "node:assert/strict";
import { History } from "../../core/run.js";

/** @import { Config, EndLine, EventData, RunLine, StepLine, WireLine } from "../../core/run.js" */

const TOKENS = { 0: "Hello", 1: " world", 2: "!", 3: "Bye" };

/** @type {Config} */
const CONFIG = {
  strategy: "sbd",
  solver: { name: "entropy-bound", gamma: 0.1 },
  block_size: 2,
  max_new_tokens: 16,
  seed: 0,
  pinned: [],
  repetition_penalty: 1,
  max_rows: 41,
};

/**
 * The line that opens a run. strategies: of its lanes; what the main one is asked besides stands
 * beside the fields of the line.
 * @param {Partial<RunLine & Config> & { strategies?: string[] }} more
 * @returns {RunLine}
 */
export function start({ strategies: [main = "sbd", ...others] = [], ...more } = {}) {
  const asked = Object.entries(more).filter(([key]) => key in CONFIG);
  const line = Object.entries(more).filter(([key]) => !(key in CONFIG));
  /** @type {RunLine["lanes"]} */
  const lanes = [
    { ...CONFIG, strategy: main, ...Object.fromEntries(asked) },
    ...others.map((strategy) => ({ ...CONFIG, strategy })),
  ];
  const first = { run: "r", seq: 0, type: /** @type {const} */ ("run"), tokens: TOKENS };
  return { ...first, prompt: "p", lanes, ...Object.fromEntries(line) };
}

/** @type {StepLine} a pass that reads the prompt and sees two masks, revealing none */
export const PREFILL = {
  run: "r",
  seq: 1,
  type: "step",
  lane: "sbd",
  kind: "prefill",
  context: [0, 3],
  block: [0, 2],
  seconds: 0.001,
};

/** @type {StepLine & Required<Pick<EventData, "masked">>} reveals the second position, then sees the first again */
export const FIRST = {
  run: "r",
  seq: 2,
  type: "step",
  lane: "sbd",
  kind: "decode",
  context: [3, 0],
  block: [0, 2],
  masked: [
    [0, 2, [0, 3], [0.5, 0.4]],
    [1, 0.05, [1], [0.99]],
  ],
  reveals: [[1, 1, 0, 0.99]],
  seconds: 0.002,
};

/** @type {StepLine} the same where the second position was given */
export const FIRST_GIVEN = { ...FIRST, masked: FIRST.masked.slice(0, 1), reveals: [] };

/** @type {StepLine} reveals the first position and commits the block */
export const SECOND = {
  run: "r",
  seq: 3,
  type: "step",
  lane: "sbd",
  kind: "decode",
  context: [3, 0],
  block: [0, 2],
  masked: [[0, 0.4, [0], [0.9]]],
  reveals: [[0, 0, 0, 0.9]],
  committed: [0, 1],
  hindsight: [[0, 0, 0.8, 3, 0.15]],
  seconds: 0.003,
};

/** @type {EndLine} */
export const END = {
  run: "r",
  seq: 4,
  type: "end",
  lane: "sbd",
  finish: "length",
  text: "Hello world",
};

/**
 * Masked positions, each with one candidate.
 * @param {(readonly number[])[]} rows position, nats, token, probability
 */
export function masks(...rows) {
  return rows.map(([position, nats, token, probability]) => [
    position,
    nats,
    [token],
    [probability],
  ]);
}

/** Reveals in the solver's order. @param {(readonly number[])[]} rows position, token */
export function reveals(...rows) {
  return rows.map(([position, token], rank) => [position, token, rank, 0.9]);
}

/** @param {(WireLine | Record<string, unknown>)[]} lines those made by hand may be anything */
export function wire(...lines) {
  return lines.map((line) => JSON.stringify(line)).join("\n");
}

/** The whole run. */
export const WHOLE = wire(start(), PREFILL, FIRST, SECOND, END);

/** @param {string} text wire lines */
export function runOf(text = WHOLE) {
  const history = new History();
  history.accept(text);
  assert.ok(history.run);
  return history.run;
}

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

const TWO_BLOCKS = start({ prompt_token_ids: [0, 1, 2], shape: SHAPE });
export const RIDING_RUN = runOf(
  wire(TWO_BLOCKS, PREFILL, FIRST, SECOND, THIRD, { ...END, seq: 5 }),
);

const STEP = { ...PREFILL, lane: "verify", kind: "decode" };
const VERIFY = { strategies: ["verify"], block_size: 8 };
const CHECKING = start({ ...VERIFY, prompt_token_ids: [0, 1, 2], shape: SHAPE });

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

export const ALTERNATIVE_RUN = runOf(
  wire(CHECKING, DRAFTING, RIGHT, AFTER, { ...END, seq: 4, lane: "verify", text: "Hello" }),
);
