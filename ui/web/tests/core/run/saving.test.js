import assert from "node:assert/strict";
import test from "node:test";
import {
  fasterWords,
  lengthWords,
  secondsOfPasses,
  slowness,
  timesLess,
} from "../../../core/run/times.js";
import { END, FIRST, PREFILL, runOf, SECOND, start, wire } from "../lines.js";

test("an answer that ended earlier is no faster for it: the measure is a token", () => {
  assert.equal(timesLess(10, 20, 20, 20), 2);
  assert.equal(timesLess(10, 10, 20, 20), 1);
  assert.equal(timesLess(0, 0, 20, 20), null);
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
    "48 tokens against 34: 1.02 tokens a pass",
  );
  assert.equal(lengthWords({ ...numbers, ntpTokens: 34, ntpPasses: null }), "");
});

test("fewer forward passes that took longer, a token, are found by the medians", () => {
  const engine = { wholePasses: 5, wholeTokens: 10, ntpTokens: 20 };
  const found = slowness({ ...engine, seconds: [9, 2, 3], ntpSeconds: [4] });
  assert.deepEqual(found, { own: 0.3, plain: 0.2 });
  assert.equal(slowness({ ...engine, seconds: [1], ntpSeconds: [4] }), null);
  const same = { ...engine, wholePasses: 10, seconds: [9], ntpSeconds: [4] };
  assert.equal(slowness(same), null, "no fewer forward passes a token");
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
