// Times of a run beside next-token prediction's: how much faster it was, or why it was not.

import assert from "node:assert/strict";
import test from "node:test";
import { History } from "../../core/run.ts";
import {
  fasterWords,
  lengthWords,
  passCostWords,
  secondsOfPasses,
  slowness,
  timesOf,
  tokenCostRatio,
  whyNotFaster,
} from "../../core/times.ts";
import { recordedLines } from "../../share/sheet.ts";
import { END, FIRST, PREFILL, runOf, SECOND, start, wire } from "./lines.ts";

/**
 * Return a run of three forward passes and two tokens, beside next-token prediction.
 * @param times microseconds of each forward pass of next-token prediction
 */
function beside(times: number[]) {
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
  assert.match(
    whyNotFaster(run, long, null),
    /^Fewer .* not faster: one over a block took 2\.50 ms, .* 0\.50* ms;/,
  );
  assert.equal(
    passCostWords(run),
    "A pass took 2.50 ms and read several tokens, next-token prediction’s 0.50 ms and one",
  );
  const again = { run: "r", seconds: [0.4], ntpSeconds: [0.24] };
  const words = whyNotFaster(run, { ...long, ntpTokens: 3 }, again);
  assert.match(words, /not faster: 100 ms a token, next-token 80\.0 ms\.$/);
});

test("where reading the prompt alone made it slower, that is said, and nothing of a pass", () => {
  const { run, numbers } = beside([200, 2500, 2500, 2500]);
  const [prompt] = run.main.steps;
  assert.ok(prompt);
  prompt.seconds = 0.2;
  const slow = { ...numbers, wholeTokens: 4, ntpTokens: 4, seconds: 0.205 };
  assert.match(whyNotFaster(run, slow, null), /that alone made the difference, in one timing/);
  const even = beside([1000, 500, 500, 500]);
  const long = { ...even.numbers, wholeTokens: 4 };
  assert.doesNotMatch(whyNotFaster(even.run, long, null), /alone/);
});

test("nothing is explained under a token that took less, however dear a forward pass was", () => {
  const { run, numbers } = beside([1000, 1400, 1400, 1400]);
  assert.equal(whyNotFaster(run, { ...numbers, wholeTokens: 8 }, null), "");
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

test("an answer that ended earlier is no faster for it: the measure is a token", () => {
  assert.equal(tokenCostRatio(10, 20, 20, 20), 2);
  assert.equal(tokenCostRatio(10, 10, 20, 20), 1);
  assert.equal(tokenCostRatio(0, 0, 20, 20), null);
});

test("slower is said as slower", () => {
  assert.equal(fasterWords(2.12), "2.1× faster");
  assert.equal(fasterWords(0.31), "3.2× slower");
  assert.equal(fasterWords(0.98), "as fast");
  assert.equal(fasterWords(null), "");
});

test("another length is said, by the token; the same one is not", () => {
  const run = runOf(wire(start(), PREFILL, FIRST, SECOND, END));
  const numbers = { ...run.numbersAt(2), wholePasses: 47, wholeTokens: 48, ntpPasses: 48 };
  assert.equal(lengthWords({ ...numbers, ntpTokens: 48 }), "");
  assert.equal(
    lengthWords({ ...numbers, ntpTokens: 34 }),
    "47 passes for 48 tokens; next-token prediction’s 34 are scaled to 48",
  );
  assert.equal(lengthWords({ ...numbers, ntpTokens: 34, ntpPasses: null }), "");
});

test("fewer forward passes that took longer, a token, are found by the medians", () => {
  const engine = { wholePasses: 5, wholeTokens: 10, ntpTokens: 20 };
  const found = slowness(engine, { seconds: [9, 2, 3], ntpSeconds: [4] });
  assert.deepEqual(found, { mainSeconds: 0.3, ntpSeconds: 0.2 });
  assert.equal(slowness(engine, { seconds: [1], ntpSeconds: [4] }), null);
  const times = { seconds: [9], ntpSeconds: [4] };
  const same = slowness({ ...engine, wholePasses: 10 }, times);
  assert.equal(same, null, "no fewer forward passes a token");
});

test("the forward pass that read the prompt is no part of what one over a block took", () => {
  const steps = [
    { kind: "prefill", seconds: 9 },
    { kind: "decode", seconds: 1 },
    { kind: "decode", seconds: 2 },
  ];
  assert.deepEqual(secondsOfPasses(steps), { prompt: 9, later: 1.5 });
  assert.equal(secondsOfPasses(steps.slice(0, 1)), null);
  assert.equal(secondsOfPasses(steps.slice(1)), null);
});
