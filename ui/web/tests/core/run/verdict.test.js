import assert from "node:assert/strict";
import test from "node:test";
import { History } from "../../../core/run/history.js";
import { briefly, verdictParts } from "../../../watch/verdict.js";
import { PREFILL, start } from "../lines.js";

/** @import { WireLine } from "../../../core/run/wire.js" */

/** @param {WireLine[]} lines */
function laneOf(...lines) {
  const history = new History();
  history.accept(lines.map((line) => JSON.stringify(line)).join("\n"));
  assert.ok(history.run);
  return history.run.main;
}

test("the verdict of a lane comes with its end, and may be missing", () => {
  const verdict = { right: false, words: "Wrong." };
  /** @type {WireLine} */
  const end = { run: "r", seq: 2, type: "end", lane: "sbd", finish: "length" };
  assert.deepEqual(laneOf(start(), PREFILL, { ...end, verdict }).verdict, verdict);
  assert.equal(laneOf(start(), PREFILL, end).verdict, null);
});

test("a checker that was not run says why, no checker that nothing knows", () => {
  const words = "Not judged: it has to be run.";
  assert.deepEqual(verdictParts({ right: null, words }), { judged: null, open: words });
  assert.equal(verdictParts(null).judged, null);
  assert.match(verdictParts(null).open, /no check fits this prompt/);
  const wrong = { right: false, words: "Wrong." };
  assert.equal(verdictParts(wrong).judged, wrong);
});

test("a verdict without its reason is its first word", () => {
  assert.equal(briefly("Right: the answer is 12."), "Right");
  assert.equal(briefly("Wrong."), "Wrong");
});
