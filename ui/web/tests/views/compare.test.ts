// Lanes side by side in Compare, and how each differs from next-token prediction.

import assert from "node:assert/strict";
import test from "node:test";
import { clockComparison, progressWords } from "../../compare/lane.ts";
import { compareWithNtp } from "../../core/differences.ts";
import { formatRaceSeconds } from "../../core/numbers.ts";
import { laneTitle } from "../../core/words.ts";
import { Clock, nearestPassEnd } from "../../dom/clock.ts";
import { laneForms } from "../../engine/session.ts";
import { END, FIRST, PREFILL, runOf, SECOND, start, wire } from "../core/lines.ts";

/**
 * Return a run in which each lane has one of these answers.
 * @param answers token ids by lane
 * @param finish why the lanes ended, other than next-token prediction's
 */
function compared(answers: Record<string, number[]>, finish: string = "end_of_sequence") {
  const names = Object.keys(answers);
  const strategies = names.map((name) => (name.includes(":") ? "sbd" : name));
  const lines = Object.entries(answers).flatMap(([lane, committed], index) => [
    { ...PREFILL, lane, seq: 2 * index + 1, committed },
    { ...END, lane, seq: 2 * index + 2, finish: lane === "ntp" ? "end_of_sequence" : finish },
  ]);
  return runOf(wire(start({ strategies, names }), ...lines));
}

test("lanes are compared with next-token prediction", () => {
  const run = compared({ ntp: [1, 2, 3], "sbd:0.1": [1, 0] });
  const [ntp, other] = [...run.lanes.values()].map((lane) => compareWithNtp(run, lane));
  assert.ok(ntp && other);
  assert.equal(ntp.differing.size, 0);
  assert.deepEqual([...other.differing], [1]);
  assert.match(other?.words ?? "", /1 missing/);
});

test("a lane that was stopped is compared as far as it got", () => {
  const run = compared({ ntp: [1, 2, 3], "sbd:0.1": [1, 2] }, "stopped");
  const against = compareWithNtp(run, run.lanes.get("sbd:0.1") ?? assert.fail());
  assert.ok(against);
  assert.equal(against.words, "");
});

test("by time a step goes to where a lane ends a forward pass, and no further than the last", () => {
  const ends = [10, 30, 12, 30];
  assert.deepEqual(
    [0, 10, 11, 12, 30].map((clock) => nearestPassEnd(ends, clock, 1)),
    [10, 12, 12, 30, Infinity],
  );
  assert.deepEqual(
    [30, 12, 10.5, 10, 0].map((clock) => nearestPassEnd(ends, clock, -1)),
    [12, 10, 10, 0, 0],
  );
});

/** Return a clock over a lane of three passes, which end at 1, 3 and 6 ms, and one of a single pass of 1 ms. */
function clockOf(loops: boolean, isByTime: boolean) {
  const plain = { ...PREFILL, lane: "ntp", seq: 5, committed: [0] };
  const lines = wire(start({ strategies: ["sbd", "ntp"] }), PREFILL, FIRST, SECOND, END, plain);
  const clock = new Clock({ duration: 6, loops, isByTime }, () => {}, new AbortController().signal);
  clock.lanes = [...runOf(lines).lanes.values()];
  const passes = () => clock.lanes.map((lane) => clock.passOf(lane));
  return { clock, passes };
}

test("lanes on one clock stand where they were by then, by time or by forward pass", () => {
  const { clock, passes } = clockOf(false, true);
  assert.ok(Math.abs(clock.finish - 0.006) < 1e-9);
  assert.deepEqual(passes(), [-1, -1]);
  clock.seek(0.0031);
  assert.deepEqual(passes(), [1, 0]);
  assert.equal(clock.slownessWords, "shown 1000× slower");
  clock.measureBy(false);
  assert.deepEqual([clock.value, clock.finish, clock.slownessWords], [2, 3, ""]);
  assert.deepEqual(passes(), [1, 0]);
  clock.step(1);
  assert.deepEqual(passes(), [2, 0]);
});

test("a clock stops at the end, or rests there and starts again", () => {
  const { clock } = clockOf(false, false);
  clock.isPlaying = true;
  clock.advance(4);
  assert.deepEqual([clock.value, clock.isPlaying], [2, true]);
  clock.advance(4);
  assert.deepEqual([clock.value, clock.isPlaying], [3, false]);
  const { clock: loop } = clockOf(true, false);
  loop.advance(7);
  assert.equal(loop.value, 3.5);
  loop.advance(2);
  assert.equal(loop.value, 0);
});

test("without it there is nothing to compare with", () => {
  const run = compared({ verify: [1] });
  assert.equal(compareWithNtp(run, run.main), null);
});

test("a lane is what its name says", () => {
  assert.deepEqual(laneForms(["verify", "sbd:0.2", "factor:2", "verify"], { seed: 1 }), [
    ["verify", { seed: 1, strategy: "verify" }],
    ["sbd:0.2", { seed: 1, strategy: "sbd", solver: "entropy-bound", gamma: 0.2 }],
    ["factor:2", { seed: 1, strategy: "sbd", solver: "factor", factor: 2 }],
  ]);
  assert.equal(laneTitle("confidence-threshold:0.9"), "Confidence threshold, τ 0.9");
  for (const lanes of [[], ["ntp:3"], ["ntp", "verify", "sbd", "random", "factor"], ["beam"]])
    assert.throws(() => laneForms(lanes, {}), /must|takes no value/);
});

test("how much faster a lane was for a token follows from the times that are shown", () => {
  const plain = [0.01844, 0.01, 0.02];
  assert.equal(clockComparison([0.01], [0.02]), "timed once");
  assert.equal(clockComparison([0.01, 0.01], plain), "timed 2 times");
  assert.equal(clockComparison(plain, plain), "–");
  for (const seconds of [0.01561, 0.01564, 0.01644, 0.1, 1.2345, 0.0004]) {
    const read = [seconds, 0.01844].map((each) => formatRaceSeconds(each).split(" "));
    const [less = 0, more = 0] = read.map(
      ([text, unit]) => Number(text) * (unit === "s" ? 1000 : 1),
    );
    const times = more / less;
    const words = times > 1 ? `${times.toFixed(1)}× faster` : `${(1 / times).toFixed(1)}× slower`;
    assert.equal(clockComparison([seconds, 9, 0], plain), words);
  }
});

test("a lane is so many forward passes on its way, or so long by time", () => {
  const words = (pass: number, tokens: number, isByTime: boolean) =>
    Object.values(progressWords(pass, { seconds: 0.35, tokens }, isByTime)).join(" ");
  assert.equal(words(-1, 9, false), "0 passes, 0 tokens");
  assert.equal(words(0, 1, false), "1 pass, 1 token");
  assert.equal(words(4, 9, true), "350 ms 9 tokens");
});
