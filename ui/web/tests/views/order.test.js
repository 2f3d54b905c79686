import assert from "node:assert/strict";
import test from "node:test";
import { isLater } from "../../form/order.js";

test("what was said later counts, by turn and then by count", () => {
  assert.ok(isLater([0, 2], [0, 1]));
  assert.ok(isLater([1, 1], [0, 9]));
  assert.ok(!isLater([0, 1], [0, 1]));
  assert.ok(!isLater([0, 9], [1, 1]));
});
