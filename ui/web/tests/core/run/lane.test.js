import assert from "node:assert/strict";
import test from "node:test";
import { Lane } from "../../../core/run/lane.js";
import { readStep } from "../../../core/run/wire.js";
import { FIRST, FIRST_GIVEN, PREFILL, SECOND } from "../lines.js";

/** @param {Map<number, number>} pins */
function laneWith(pins = new Map()) {
  const first = pins.size ? FIRST_GIVEN : FIRST;
  const lane = new Lane("sbd", pins);
  for (const line of [PREFILL, first, SECOND]) lane.append(readStep(line));
  return lane;
}

test("a position is fixed by the pass that revealed it, with its entropy then", () => {
  const lane = laneWith();
  assert.equal(lane.fixedAt(1, 0), null);
  const item = lane.fixedAt(1, 1);
  assert.deepEqual([item?.pass, item?.token, item?.entropy], [1, 1, 0.05]);
  assert.deepEqual(
    lane.knownAt(2).map(({ position }) => position),
    [0, 1],
  );
});

test("tokens are counted by pass, those after the end left out", () => {
  const lane = laneWith();
  assert.deepEqual(lane.tokensByPass, [0, 1, 2]);
  assert.equal(lane.numTokensAt(99), 2);
  lane.numCommitted = 1;
  lane.finish = "length";
  assert.deepEqual(lane.tokensByPass, [0, 0, 1]);
});

test("a pinned position is there from the first pass whose block holds it", () => {
  const lane = laneWith(new Map([[1, 2]]));
  assert.deepEqual([lane.fixedAt(1, 0)?.token, lane.fixedAt(1, 0)?.isPinned], [2, true]);
  assert.equal(lane.numGivenAt(0), 1);
});

test("the end is open while the lane runs", () => {
  const lane = laneWith();
  assert.equal(lane.end, Infinity);
  lane.finish = "length";
  assert.equal(lane.end, 2);
});

test("times add up and entropies come pass by pass", () => {
  const lane = laneWith();
  assert.equal(lane.secondsAt(1), 0.003);
  assert.deepEqual(lane.entropyHistory(0), [
    { pass: 1, entropy: 2 },
    { pass: 2, entropy: 0.4 },
  ]);
});

test("a token that ends the answer ends it as soon as it is seen", () => {
  const lane = new Lane("sbd", new Map(), (token) => token === 0);
  for (const line of [PREFILL, FIRST]) lane.append(readStep(line));
  assert.equal(lane.end, Infinity);
  lane.append(readStep(SECOND));
  assert.equal(lane.end, 1);
  const afterEnd = [0, 1, 2].map((pass) => [0, 1, 2].filter((at) => lane.isAfterEnd(at, pass)));
  assert.deepEqual(afterEnd, [[], [], [1, 2]], "nothing says so before the end is revealed");
  assert.deepEqual(lane.tokensByPass, [0, 1, 1]);
  lane.finish = "end_of_sequence";
  lane.numCommitted = 1;
  assert.deepEqual([lane.end, lane.endAt(1)], [1, Infinity], "a replay knows no more than it did");
  assert.deepEqual(lane.tokensByPass, [0, 1, 1]);
});

test("a later end that came first holds until an earlier one is there", () => {
  const lane = new Lane("sbd", new Map(), () => true);
  for (const line of [PREFILL, FIRST, SECOND]) lane.append(readStep(line));
  lane.finish = "end_of_sequence";
  lane.numCommitted = 1;
  assert.deepEqual([lane.endAt(0), lane.endAt(1), lane.endAt(2)], [Infinity, 2, 1]);
});

test("hindsight disagrees with a token once its pass has been, and within the answer", () => {
  const lane = laneWith();
  assert.deepEqual(
    [1, 2].map((pass) => lane.disagreementsAt(pass).length),
    [0, 1],
  );
  assert.ok(lane.disagrees(0, 2));
  assert.ok(!lane.disagrees(1, 2));
  lane.finish = "length";
  lane.numCommitted = 0;
  assert.equal(lane.disagreementsAt(2).length, 0);
});
