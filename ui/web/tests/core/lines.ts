// Wire lines as Python writes them, made by hand, and runs made from them.

import assert from "node:assert/strict";
import {
  type Config,
  type EndLine,
  type EventData,
  History,
  type RunLine,
  type StepLine,
  type WireLine,
} from "../../core/run.ts";

const TOKENS = { 0: "Hello", 1: " world", 2: "!", 3: "Bye" };

const CONFIG: Config = {
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
 * Return the first line of a run. strategies: those of its lanes, the main one first. Other fields are those of the
 * main lane's settings or of the line.
 */
export function start({
  strategies: [main = "sbd", ...others] = [],
  ...more
}: Partial<RunLine & Config> & { strategies?: string[] } = {}): RunLine {
  const asked = Object.entries(more).filter(([key]) => key in CONFIG);
  const line = Object.entries(more).filter(([key]) => !(key in CONFIG));
  const lanes: RunLine["lanes"] = [
    { ...CONFIG, strategy: main, ...Object.fromEntries(asked) },
    ...others.map((strategy) => ({ ...CONFIG, strategy })),
  ];
  const first = { run: "r", seq: 0, type: "run" as const, tokens: TOKENS };
  return { ...first, prompt: "p", lanes, ...Object.fromEntries(line) };
}

/** reads the prompt and two masks, and reveals none */
export const PREFILL: StepLine = {
  run: "r",
  seq: 1,
  type: "step",
  lane: "sbd",
  kind: "prefill",
  context: [0, 3],
  block: [0, 2],
  seconds: 0.001,
};

/** reads both masks, and reveals the second position */
export const FIRST: StepLine & Required<Pick<EventData, "masked">> = {
  ...PREFILL,
  seq: 2,
  kind: "decode",
  context: [3, 0],
  masked: [
    [0, 2, [0, 3], [0.5, 0.4]],
    [1, 0.05, [1], [0.99]],
  ],
  reveals: [[1, 1, 0, 0.99]],
  seconds: 0.002,
};

/** the same for a run whose second position was given */
export const FIRST_GIVEN: StepLine = { ...FIRST, masked: FIRST.masked.slice(0, 1), reveals: [] };

/** reveals the first position and commits the block */
export const SECOND: StepLine = {
  ...FIRST,
  seq: 3,
  masked: [[0, 0.4, [0], [0.9]]],
  reveals: [[0, 0, 0, 0.9]],
  committed: [0, 1],
  hindsight: [[0, 0, 0.8, 3, 0.15]],
  seconds: 0.003,
};

export const END: EndLine = {
  run: "r",
  seq: 4,
  type: "end",
  lane: "sbd",
  finish: "length",
  text: "Hello world",
};

/**
 * Return masked positions, each with one candidate, as a line has them.
 * @param rows position, nats, token, probability
 */
export const masks = (...rows: (readonly number[])[]) =>
  rows.map(([position, nats, ...best]) => [position, nats, ...best.map((each) => [each])]);

/** Return reveals in the solver's order, as a line has them. @param rows position, token */
export function reveals(...rows: (readonly number[])[]) {
  return rows.map(([position, token], rank) => [position, token, rank, 0.9]);
}

/** @param lines with any fields, as tests change them */
export function wire(...lines: (WireLine | Record<string, unknown>)[]) {
  return lines.map((line) => JSON.stringify(line)).join("\n");
}

/** All lines of a complete run. */
export const WHOLE = wire(start(), PREFILL, FIRST, SECOND, END);

/** @param text wire lines */
export function runOf(text: string = WHOLE) {
  const history = new History();
  history.accept(text);
  assert.ok(history.run);
  return history.run;
}

/** Two layers of 26 weights each, an output layer of 20, and 8 operations per pair of query and key. */
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

/** The second block's first forward pass, which also reads the first block causally. */
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

/** Reads the prompt and drafts two tokens. */
const DRAFTING = {
  ...STEP,
  kind: "prefill",
  context: [0, 3],
  block: [0, 3],
  committed: [0],
  draft: [1, 2],
};

/** Accepts the first drafted token; the second is wrong, and the alternative to it is right. */
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

/** Reads the alternative and the draft, whose first token came from the alternative's row. */
const AFTER = { ...STEP, seq: 3, context: [5, 3], block: [5, 2], committed: [2, 0, 1] };

export const ALTERNATIVE_RUN = runOf(
  wire(CHECKING, DRAFTING, RIGHT, AFTER, { ...END, seq: 4, lane: "verify", text: "Hello" }),
);

/** sizes of Llama-3.1-8B */
export const LLAMA_8B = {
  hidden_size: 4096,
  feed_forward_size: 14336,
  num_heads: 32,
  num_kv_heads: 8,
  head_size: 128,
  num_feed_forward_matrices: 3,
  num_layers: 32,
  vocabulary_size: 128256,
  bytes_per_value: 2,
};
