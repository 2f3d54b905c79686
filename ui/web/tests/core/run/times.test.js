import assert from "node:assert/strict";
import test from "node:test";
import { History } from "../../../core/run/history.js";
import { isPassDearer, timesOf, whyNotFaster } from "../../../core/run/times.js";
import { recordedLines } from "../../../share/replay_page.js";
import { END, FIRST, PREFILL, runOf, SECOND, start, wire } from "../lines.js";

/**
 * A run of three forward passes and two tokens beside one of next-token prediction.
 * @param {number[]} times microseconds of next-token prediction's forward passes
 */
function beside(times) {
  const plain = times.map((time, index) => ({
    ...PREFILL,
    kind: index ? "decode" : "prefill",
    seq: 5 + index,
    lane: "ntp",
    committed: [0],
    seconds: time / 1e6,
  }));
  const lanes = start({ strategies: ["sbd", "ntp"] });
  const end = { ...END, seq: 5 + times.length, lane: "ntp" };
  const run = runOf(wire(lanes, PREFILL, FIRST, SECOND, END, ...plain, end));
  return { run, numbers: run.numbersAt(2) };
}

test("fewer forward passes that took longer say what one took of either kind", () => {
  const { run, numbers } = beside([1000, 500, 500, 500]);
  const long = { ...numbers, wholeTokens: 4 };
  const words = whyNotFaster(run, long, null);
  assert.match(words, /^Fewer .* not faster here: one over a block took 2\.5 ms, .* 0\.5 ms;/);
  const again = { run: "r", seconds: [0.006], ntpSeconds: [0.003] };
  assert.match(whyNotFaster(run, long, again), /not faster here: 6 ms, next-token 3 ms\.$/);
});

test("of answers of other lengths, what is not faster a token is said for a token", () => {
  const { run, numbers } = beside([1000, 500, 500, 500]);
  const again = { run: "r", seconds: [0.4], ntpSeconds: [0.24] };
  const words = whyNotFaster(run, { ...numbers, wholeTokens: 4, ntpTokens: 3 }, again);
  assert.match(words, /not faster a token here: 100\.00 ms, next-token 80\.00 ms\.$/);
});

test("where reading the prompt alone made it slower, that is said", () => {
  const { run, numbers } = beside([200, 1700, 1700, 1700]);
  const [prompt] = run.main.steps;
  assert.ok(prompt);
  prompt.seconds = 0.2;
  const slow = { ...numbers, wholeTokens: 4, ntpTokens: 4, seconds: 0.205 };
  assert.match(whyNotFaster(run, slow, null), /that alone made the difference, in one timing/);
  const even = beside([1000, 500, 500, 500]);
  const long = { ...even.numbers, wholeTokens: 4 };
  assert.doesNotMatch(whyNotFaster(even.run, long, null), /alone/);
});

test("a longer answer that took longer says that a token took less", () => {
  const { run, numbers } = beside([1000, 1400, 1400, 1400]);
  const words = whyNotFaster(run, { ...numbers, wholeTokens: 8 }, null);
  assert.match(words, /took 6 ms in all, next-token 5 ms; .* 0\.75 ms, next-token 1\.30 ms/);
  const quick = { ...numbers, wholeTokens: 8, seconds: 0.004 };
  assert.equal(whyNotFaster(run, quick, null), "");
});

test("what was timed again is what is said", () => {
  const { run, numbers } = beside([2000, 2000, 2000, 2000]);
  assert.deepEqual(timesOf(numbers, null), { seconds: [0.006], ntpSeconds: [0.008] });
  const timing = { run: "r", seconds: [0.001, 0.002, 0.009], ntpSeconds: [0.004] };
  assert.equal(timesOf(numbers, timing), timing);
  assert.equal(timesOf({ ...numbers, ntpSeconds: null }, timing), null);
  assert.equal(whyNotFaster(run, numbers, null), "");
});

test("what a replay page brings along is what was timed", () => {
  const { run } = beside([2000, 2000]);
  const timing = { run: "r", seconds: [0.001, 0.002], ntpSeconds: [0.004] };
  const history = new History();
  history.accept(recordedLines(run, timing).join("\n"));
  const { seconds, ntpSeconds } = history.run?.timing ?? {};
  assert.deepEqual({ run: "r", seconds, ntpSeconds }, timing);
  const without = new History();
  without.accept(recordedLines(run, null).join("\n"));
  assert.equal(without.run?.timing, null);
});

test("a forward pass is said to cost more where it took longer than one of next-token prediction", () => {
  const { numbers } = beside([1000, 500, 500, 500]);
  const timed = (/** @type {number} */ seconds) => ({
    run: "",
    seconds: [seconds],
    ntpSeconds: [0.004],
  });
  const counts = { ...numbers, wholePasses: 2, ntpPasses: 4 };
  assert.equal(isPassDearer(counts, timed(0.003)), true);
  assert.equal(isPassDearer(counts, timed(0.002)), false);
  assert.equal(isPassDearer({ ...counts, ntpPasses: null }, timed(0.003)), false);
});
