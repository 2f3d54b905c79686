import assert from "node:assert/strict";
import test from "node:test";
import { History } from "../../../core/run/history.js";
import { END, FIRST, FIRST_GIVEN, PREFILL, runOf, SECOND, start, WHOLE, wire } from "../lines.js";

/** Four passes of next-token prediction beside the run. */
const NTP = [0, 1, 2, 3].map((index) => ({
  ...PREFILL,
  seq: 5 + index,
  lane: "ntp",
  committed: index ? [0] : [],
  seconds: 0.005,
}));
const NTP_END = { ...END, seq: 9, lane: "ntp" };
const BESIDE = wire(
  start({ strategies: ["sbd", "ntp"] }),
  PREFILL,
  FIRST,
  SECOND,
  END,
  ...NTP,
  NTP_END,
);

test("the numbers at the end of a run alone: what next-token prediction would take is not guessed", () => {
  const numbers = runOf().numbersAt(2);
  assert.deepEqual([numbers.numPasses, numbers.numTokens, numbers.numGiven], [3, 2, 0]);
  assert.equal(numbers.tokensPerPass, 2 / 3);
  assert.deepEqual([numbers.wholePasses, numbers.wholeTokens, numbers.ntpPasses], [3, 2, null]);
  assert.deepEqual([numbers.seconds, numbers.ntpSeconds], [0.006, null]);
});

test("beside next-token prediction, its passes for the same tokens count, and both are timed", () => {
  const numbers = runOf(BESIDE).numbersAt(0);
  assert.deepEqual([numbers.numPasses, numbers.wholePasses, numbers.ntpPasses], [1, 3, 2]);
  assert.deepEqual([numbers.wholeTokens, numbers.ntpTokens], [2, 3]);
  assert.equal(numbers.seconds, 0.006);
  assert.equal(numbers.ntpSeconds, 0.02);
});

test("given tokens count as tokens and not as decoded, and nothing is compared with a lane without them", () => {
  const opening = start({ pinned: [[1, 1]], strategies: ["sbd", "ntp"] });
  const run = runOf(wire(opening, PREFILL, FIRST_GIVEN, SECOND, END, ...NTP, NTP_END));
  const numbers = run.numbersAt(2);
  assert.deepEqual([numbers.numTokens, numbers.numGiven], [2, 1]);
  assert.equal(numbers.tokensPerPass, 1 / 3);
  assert.deepEqual([numbers.wholePasses, numbers.wholeTokens], [3, 1]);
  assert.deepEqual([numbers.ntpPasses, numbers.ntpSeconds], [null, null]);
  assert.equal(numbers.seconds, 0.006);
});

test("a run of nothing is zero everywhere", () => {
  const numbers = runOf(wire(start())).numbersAt(0);
  assert.deepEqual([numbers.numTokens, numbers.tokensPerPass, numbers.wholePasses], [0, 0, null]);
});

test("a run that was stopped is compared over the tokens that it wrote", () => {
  const stopped = wire(
    start({ strategies: ["sbd", "ntp"] }),
    PREFILL,
    FIRST,
    SECOND,
    { ...END, finish: "stopped" },
    ...NTP,
    { ...NTP_END, finish: "stopped" },
  );
  const numbers = runOf(stopped).numbersAt(2);
  assert.deepEqual([numbers.wholePasses, numbers.wholeTokens, numbers.ntpPasses], [3, 2, 2]);
  assert.deepEqual([numbers.seconds, numbers.ntpSeconds, numbers.ntpTokens], [0.006, 0.02, 3]);
});

test("a whole answer has its numbers while next-token prediction is on its way, or stopped before it began", () => {
  const opening = start({ strategies: ["sbd", "ntp"] });
  const rows = [opening, PREFILL, FIRST, SECOND, END];
  const stopped = { ...NTP_END, seq: 5, finish: "stopped" };
  for (const more of [[], NTP.slice(0, 2), [stopped]]) {
    const numbers = runOf(wire(...rows, ...more)).numbersAt(2);
    assert.deepEqual([numbers.wholePasses, numbers.wholeTokens, numbers.ntpPasses], [3, 2, 2]);
    assert.deepEqual([numbers.seconds, numbers.ntpSeconds, numbers.ntpTokens], [0.006, null, 2]);
  }
});

test("settings are flat, and say pins by token id", () => {
  const run = runOf(wire(start({ pinned: [[1, 1]] })));
  assert.deepEqual(run.settings({ gamma: 0.5 }), {
    prompt: "p",
    strategy: "sbd",
    solver: "entropy-bound",
    gamma: 0.5,
    block_size: 2,
    max_new_tokens: 16,
    seed: 0,
    repetition_penalty: 1,
    pinned: [[1, 1]],
  });
});

test("the tiles show the block, or the one about to be", () => {
  const run = runOf();
  assert.deepEqual(run.windowAt(1), { start: 0, size: 2 });
  assert.deepEqual(run.windowAt(9), { start: 0, size: 2 });
  assert.deepEqual(run.blockPasses, [0]);
});

test("a run is complete when every lane is, or when it was stopped", () => {
  assert.ok(runOf().isComplete);
  const open = runOf(wire(start(), PREFILL));
  assert.ok(!open.isComplete);
  open.isStopped = true;
  assert.ok(open.isComplete);
});

test("a question after the answer carries what was said, and so do all that grow out of it", () => {
  const first = runOf(wire(start(), PREFILL, FIRST, SECOND, { ...END, text: "Hello" }));
  const { prompt, turns, pinned } = first.followUp("Why?");
  const said = [
    ["user", "p"],
    ["assistant", "Hello"],
  ];
  assert.deepEqual([prompt, turns, pinned], ["Why?", said, []]);
  const messages = /** @type {[string, string][]} */ ([...turns, ["user", "Why?"]]);
  const second = runOf(wire(start({ prompt: "Why?", messages })));
  assert.deepEqual(second.settings().turns, said);
  assert.ok(!("turns" in first.settings()));
});

test("a system message is a setting of a first question, and the first word of what follows", () => {
  const told = /** @type {[string, string]} */ (["system", "Rhyme."]);
  const messages = [told, /** @type {[string, string]} */ (["user", "p"])];
  const run = runOf(wire(start({ messages }), PREFILL, FIRST, SECOND, { ...END, text: "Hello" }));
  assert.equal(run.settings().system, "Rhyme.");
  assert.ok(!("turns" in run.settings()) && !run.isConversation);
  assert.deepEqual(run.followUp("Why?").turns[0], told);
  assert.ok(!("system" in runOf(wire(start())).settings()));
});

test("lines fold into a run", () => {
  const history = new History();
  assert.equal(history.accept(WHOLE), "run");
  assert.equal(history.run?.main.steps.length, 3);
  assert.equal(history.run?.main.finish, "length");
  assert.equal(history.run?.main.text, "Hello world");
});

test("lines that come twice or late are dropped", () => {
  const history = new History();
  history.accept(wire(start(), PREFILL, FIRST));
  assert.equal(history.accept(wire(start(), PREFILL, FIRST)), null);
  assert.equal(history.accept(wire(FIRST, SECOND)), "more");
  assert.equal(history.run?.main.steps.length, 3);
});

test("lines of an old run are dropped once another began", () => {
  const history = new History();
  history.accept(WHOLE);
  assert.equal(history.accept(wire(start({ run: "s" }))), "run");
  assert.equal(history.accept(wire({ ...END, seq: 9 })), null);
  assert.equal(history.run?.id, "s");
});

test("a line of a lane that the run does not have changes nothing", () => {
  const history = new History();
  history.accept(wire(start(), { ...PREFILL, lane: "ntp" }));
  assert.equal(history.run?.main.steps.length, 0);
});
