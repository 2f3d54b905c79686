// Wire lines made by hand, as Python writes them, and runs made from them.

import assert from "node:assert/strict";
import { History } from "../../core/run/history.js";

/** @import { WireLine } from "../../core/run/wire.js" */

/** @type {[id: number, text: string][]} */
export const TOKENS = [
  [7, "Hello"],
  [8, " world"],
  [9, "!"],
  [10, "Bye"],
];

/**
 * The line that opens a run.
 * @param {Partial<WireLine>} more
 * @returns {WireLine}
 */
export function start(more = {}) {
  return {
    run: "r",
    seq: 0,
    type: "run",
    tokens: TOKENS,
    prompt: "p",
    lanes: ["sbd"],
    strategy: "sbd",
    solver: { name: "entropy-bound", gamma: 0.1 },
    block_size: 2,
    max_new_tokens: 16,
    ...more,
  };
}

/** @type {WireLine} a pass that reads the prompt and sees two masks, revealing none */
export const PREFILL = {
  run: "r",
  seq: 1,
  type: "step",
  lane: "sbd",
  kind: "prefill",
  context: [0, 3],
  block: [0, 2],
  time: 1000,
};

/** @type {WireLine} reveals the second position, then sees the first again */
export const FIRST = {
  run: "r",
  seq: 2,
  type: "step",
  lane: "sbd",
  context: [3, 0],
  block: [0, 2],
  masked: [
    [0, 20000, 0, 5000, 3, 4000],
    [1, 500, 1, 9900],
  ],
  reveals: [[1, 1]],
  time: 2000,
};

/** @type {WireLine} the same where the second position was given */
export const FIRST_GIVEN = { ...FIRST, masked: [[0, 20000, 0, 5000, 3, 4000]], reveals: [] };

/** @type {WireLine} reveals the first position and commits the block */
export const SECOND = {
  run: "r",
  seq: 3,
  type: "step",
  lane: "sbd",
  context: [3, 0],
  block: [0, 2],
  masked: [[0, 4000, 0, 9000]],
  reveals: [[0, 0, 9000]],
  committed: [0, 1],
  hindsight: [[0, 8000, 3, 1500]],
  time: 3000,
};

/** @type {WireLine} */
export const END = {
  run: "r",
  seq: 4,
  type: "end",
  lane: "sbd",
  finish: "length",
  text: "Hello world",
};

/** @param {WireLine[]} lines */
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
