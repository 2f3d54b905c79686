import assert from "node:assert/strict";
import test from "node:test";
import { compareLanes, numMissing } from "../../race/board.js";

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
  times_faster: 1,
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
