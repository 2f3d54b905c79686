import assert from "node:assert/strict";
import test from "node:test";
import { numMissing } from "../../core/text/diff.js";
import { compareLanes } from "../../race/board.js";
import { laneDifferences } from "../../race/stale.js";
import { inHall } from "../../watch/verdict.js";

/**
 * @param {string} name
 * @param {number[]} ids
 * @returns {import("../../race/board.js").BoardRow}
 */
const row = (name, ids) => ({
  name,
  label: name,
  times: [1],
  tokens: ids.map((id) => [id, String(id), 0]),
  has_end: false,
  num_passes: 1,
  num_tokens: ids.length,
  seconds: 1,
});

test("lanes are compared with next-token prediction", () => {
  const board = {
    prompt: "p",
    block_size: 16,
    max_new_tokens: 128,
    is_recorded: false,
    lanes: [row("ntp", [1, 2, 3]), row("sbd-low", [1, 9])],
  };
  const [same, other] = compareLanes(board);
  assert.ok(same && other);
  assert.equal(same.differing.size, 0);
  assert.deepEqual([...other.differing], [1]);
  assert.equal(numMissing(other), 1);
});

test("without it there is nothing to compare with", () => {
  const sizes = { block_size: 16, max_new_tokens: 128 };
  const board = { prompt: "p", ...sizes, is_recorded: false, lanes: [row("verify", [1])] };
  assert.deepEqual(compareLanes(board), [null]);
});

test("a lane that is ticked and not on the stage is named, and so is another gamma", () => {
  const low = { ...row("sbd-low", [1]), label: "SBD, low γ 0.1" };
  const sizes = { block_size: 16, max_new_tokens: 128 };
  const board = { prompt: "p", ...sizes, is_recorded: false, lanes: [row("ntp", [1]), low] };
  const labels = { ntp: "Next-token prediction", "sbd-low": "SBD, low γ", verify: "Verify" };
  const asked = { lanes: ["ntp", "sbd-low"], low: 0.1, high: 0.35, labels };
  assert.deepEqual(laneDifferences(board, asked), []);
  assert.deepEqual(laneDifferences(board, { ...asked, lanes: ["sbd-low", "verify"], low: 0.2 }), [
    "the lane “Verify” too",
    "no lane “Next-token prediction”",
    "γ 0.2 instead of 0.1",
  ]);
});

test("a hall is told a short reason, and of a long one only the verdict", () => {
  const short = { right: false, words: "Wrong: the answer is 42, not 43." };
  assert.deepEqual(inHall(short), short);
  const long = { right: true, words: `Right: ${"people and things ".repeat(4)}.` };
  assert.deepEqual(inHall(long), { right: true, words: "Right" });
  assert.equal(inHall(null), null);
});
