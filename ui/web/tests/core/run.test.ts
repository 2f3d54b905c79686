// A run made from its wire lines: its numbers, its lanes pass by pass, and the drafts of verify.

import assert from "node:assert/strict";
import test from "node:test";
import {
  alternativeWords,
  checkedDraft,
  type EventData,
  History,
  Lane,
  type Run,
  readStep,
  rightAlternative,
  usedPredraft,
} from "../../core/run.ts";
import { mentionedIds } from "../../core/trace.ts";
import type { View } from "../../watch/playhead.ts";
import { tileState } from "../../watch/tiles.ts";
import {
  ALTERNATIVE_RUN,
  END,
  FIRST,
  FIRST_GIVEN,
  PREFILL,
  RIGHT,
  runOf,
  SECOND,
  start,
  WHOLE,
  wire,
} from "./lines.ts";

/** Four forward passes of next-token prediction, for a run's second lane. */
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
  assert.deepEqual([numbers.numPasses, numbers.numTokens, numbers.numPinned], [3, 2, 0]);
  assert.equal(numbers.tokensPerPass, 2 / 3);
  assert.deepEqual([numbers.wholePasses, numbers.wholeTokens, numbers.ntpPasses], [3, 2, null]);
  assert.deepEqual([numbers.seconds, numbers.ntpSeconds], [0.006, null]);
});

test("by time next-token prediction stands where it was when a pass of the run had ended", () => {
  const run = runOf(BESIDE);
  for (const step of run.main.steps) step.seconds = 0.002;
  assert.equal(run.main.passAt(0.001), -1);
  run.ntp?.steps.forEach((step, pass) => {
    step.seconds = pass ? 0.002 : 0.001;
  });
  assert.deepEqual(
    [0, 1, 2].map((pass) => run.ntpPassAt(pass)),
    [0, 1, 2],
  );
  assert.equal(run.ntp?.passAt(1), 3);
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
  assert.deepEqual([numbers.numTokens, numbers.numPinned], [2, 1]);
  assert.equal(numbers.tokensPerPass, 1 / 3);
  assert.deepEqual([numbers.wholePasses, numbers.wholeTokens], [3, 1]);
  assert.deepEqual([numbers.ntpPasses, numbers.ntpSeconds], [null, null]);
  assert.equal(numbers.seconds, 0.006);
});

test("a whole answer has its numbers while next-token prediction is on its way, or was stopped", () => {
  const rows = [start({ strategies: ["sbd", "ntp"] }), PREFILL, FIRST, SECOND];
  const stopped = { ...NTP_END, finish: "stopped" };
  for (const more of [[], NTP.slice(0, 2), [{ ...stopped, seq: 5 }], [...NTP, stopped]]) {
    const numbers = runOf(wire(...rows, { ...END, finish: "stopped" }, ...more)).numbersAt(2);
    assert.deepEqual([numbers.wholePasses, numbers.wholeTokens, numbers.ntpPasses], [3, 2, 2]);
    const [seconds, tokens] = more.length > 2 ? [0.02, 3] : [null, 2];
    assert.deepEqual(
      [numbers.seconds, numbers.ntpSeconds, numbers.ntpTokens],
      [0.006, seconds, tokens],
    );
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

test("a system message is a setting", () => {
  const told = ["system", "Rhyme."] as [string, string];
  const messages = [told, ["user", "p"] as [string, string]];
  const run = runOf(wire(start({ messages }), PREFILL, FIRST, SECOND, { ...END, text: "Hello" }));
  assert.equal(run.settings().system, "Rhyme.");
  assert.ok(!("system" in runOf(wire(start())).settings()));
});

test("lines fold into a run, those that come twice or late dropped", () => {
  const history = new History();
  assert.equal(history.accept(wire(start(), PREFILL, FIRST)), "run");
  assert.equal(history.accept(wire(start(), PREFILL, FIRST)), null);
  assert.equal(history.accept(wire(FIRST, SECOND, END)), "more");
  const { steps, finish, text } = history.run?.main ?? assert.fail();
  assert.deepEqual([steps.length, finish, text], [3, "length", "Hello world"]);
});

test("lines of an old run are dropped once another began, and those of a lane that it has not", () => {
  const history = new History();
  history.accept(WHOLE);
  assert.equal(history.accept(wire(start({ run: "s" }))), "run");
  assert.equal(history.accept(wire({ ...END, seq: 9 })), null);
  history.accept(wire({ ...PREFILL, run: "s", lane: "ntp" }));
  assert.deepEqual([history.run?.id, history.run?.main.steps.length], ["s", 0]);
});

test("a forward pass is read as a trace file has it, and what a line leaves out is empty", () => {
  const step = readStep(FIRST);
  assert.equal(step.kind, "decode");
  assert.deepEqual([step.cached, step.causal, step.block], [3, 0, { start: 0, size: 2 }]);
  assert.deepEqual(step.masked.get(0), {
    position: 0,
    entropy: 2,
    top: [
      { token: 0, probability: 0.5 },
      { token: 3, probability: 0.4 },
    ],
  });
  assert.deepEqual(step.reveals, [{ position: 1, token: 1, rank: 0, probability: 0.99 }]);
  assert.equal(step.seconds, 0.002);
  assert.deepEqual([step.committed, step.draft, step.hindsight, step.predrafts], [[], [], [], []]);
  assert.deepEqual(readStep(SECOND).hindsight, [
    { position: 0, probability: 0.8, argmax: 3, argmaxProbability: 0.15 },
  ]);
});

test("reveals come in the solver's order, however a file lists them", () => {
  const reveals = [2, 0, 1].map((rank): [number, number, number, number] => [rank, 1, rank, 0.5]);
  const ranks = readStep({ ...FIRST, reveals }).reveals.map(({ rank }) => rank);
  assert.deepEqual(ranks, [0, 1, 2]);
});

test("what would read 0.0 % is no candidate, but the best always is", () => {
  const rare = readStep({ ...FIRST, masked: [[0, 9, [1, 2, 3], [0.0004, 0.0003, 0.0001]]] });
  assert.deepEqual(rare.masked.get(0)?.top, [{ token: 1, probability: 0.0004 }]);
  const sure = readStep({ ...FIRST, masked: [[0, 0.1, [1, 2], [0.9995, 0.0005]]] });
  assert.equal(sure.masked.get(0)?.top.length, 2);
});

function laneWith(pins: Map<number, number> = new Map()) {
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

/** Return the tokens known after each pass. */
const countsOf = (lane: Lane) => lane.steps.map((_, pass) => lane.numTokensAt(pass));

test("tokens are counted by pass, those after the end left out", () => {
  const lane = laneWith();
  assert.deepEqual(countsOf(lane), [0, 1, 2]);
  assert.equal(lane.numTokensAt(99), 2);
  lane.numCommitted = 1;
  lane.finish = "length";
  assert.deepEqual(countsOf(lane), [0, 0, 1]);
});

test("a pinned position is there from the first pass whose block holds it", () => {
  const lane = laneWith(new Map([[1, 2]]));
  assert.deepEqual([lane.fixedAt(1, 0)?.token, lane.fixedAt(1, 0)?.isPinned], [2, true]);
  assert.equal(lane.numPinnedAt(0), 1);
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
  assert.deepEqual(countsOf(lane), [0, 1, 1]);
  lane.finish = "end_of_sequence";
  lane.numCommitted = 1;
  assert.deepEqual([lane.end, lane.endAt(1)], [1, Infinity], "a replay knows no more than it did");
  assert.deepEqual(countsOf(lane), [0, 1, 1]);
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

const VERIFY = { strategies: ["verify"], block_size: 4 };
const STEP = { ...PREFILL, kind: "decode", block: [0, 0], lane: "verify" };

/** A run by verify that drafts three tokens, accepts the first and replaces the second. */
const run = runOf(
  wire(
    start(VERIFY),
    { ...STEP, seq: 1, committed: [0], draft: [1, 2, 3] },
    { ...STEP, seq: 2, committed: [1, 3] },
  ),
);

test("a draft is accepted up to the first token that was checked to be another", () => {
  assert.deepEqual(checkedDraft(run.main, 1), { start: 1, tokens: [1, 2, 3], numAccepted: 1 });
  assert.deepEqual(checkedDraft(run.main, 0).tokens, []);
});

/** Return the kind of each tile from the second position on, with its token and the one thrown away. */
function tilesOf(run: Run, count: number) {
  const states = Array.from({ length: count }, (_, i) =>
    tileState({ run, pass: 1 } as View, i + 1),
  );
  return states.map(({ kind, token, struck }) => [kind, token, struck ?? ""].join(" "));
}

test("the tiles say so: accepted, exact in the place of a draft, thrown away and not vanished", () => {
  assert.deepEqual(tilesOf(run, 3), ["accepted 1 ", "new 3 2", "struck 3 "]);
});

/** The same run with two predrafts, for a check that replaces the first drafted token or the second. */
const branching = runOf(
  wire(
    start({ ...VERIFY, max_rows: 7 }),
    { ...STEP, seq: 1, committed: [0], draft: [1, 2, 3] },
    {
      ...STEP,
      seq: 2,
      committed: [1, 3],
      draft: [0, 2],
      predrafts: [
        [1, 3, [], false],
        [2, 4, [0, 2, 3], true],
      ],
    },
  ),
);

test("the predraft that was used is a branch behind the exact token in its place", () => {
  const predrafts = branching.main.steps[1]?.predrafts ?? [];
  const branch = usedPredraft(predrafts, branching.windowAt(1));
  assert.deepEqual([branch?.position, branch?.tokens, branch?.numHidden], [2, [0, 2], 1]);
  assert.equal(usedPredraft(predrafts.slice(0, 1), branching.windowAt(1)), undefined);
});

test("the settings of a run by verify hold its rows; of another none", () => {
  assert.equal(branching.settings().max_rows, 7);
  assert.ok(!("max_rows" in runOf(wire(start())).settings()));
});

const predrafts = ALTERNATIVE_RUN.main.steps[1]?.predrafts ?? [];

test("only a predraft behind an alternative names one", () => {
  assert.deepEqual(predrafts, [
    { position: 2, size: 2, isUsed: false, tokens: [], alternative: undefined },
    { position: 2, size: 2, isUsed: false, tokens: [], alternative: 3 },
    { position: 3, size: 2, isUsed: true, tokens: [2, 0], alternative: 3 },
  ]);
  const event = { ...(RIGHT as unknown as EventData), committed: [] };
  assert.ok(mentionedIds(event).includes(3));
});

test("an alternative that was right is no accepted token of the draft", () => {
  assert.equal(checkedDraft(ALTERNATIVE_RUN.main, 1).numAccepted, 1);
  assert.equal(rightAlternative(predrafts), predrafts[2]);
  assert.equal(rightAlternative(predrafts.slice(0, 2)), undefined);
  const tiles = ["accepted 1 ", "new 3 2", "draft 2 ", "draft 0 "];
  assert.deepEqual(tilesOf(ALTERNATIVE_RUN, 4), tiles);
});

test("a branch shows as many of its tokens as there are tiles behind it", () => {
  const branch = usedPredraft(predrafts, { start: 1, size: 8 });
  assert.deepEqual([branch?.position, branch?.tokens, branch?.numHidden], [3, [2, 0], 0]);
  const short = usedPredraft(predrafts, { start: 1, size: 3 });
  assert.deepEqual([short?.tokens, short?.numHidden], [[2], 1]);
});

test("what became of alternatives is a sentence", () => {
  const said = [
    alternativeWords(predrafts, false),
    alternativeWords(predrafts.slice(0, 2), false),
    alternativeWords(predrafts.slice(1, 2), true),
    alternativeWords(predrafts.slice(2), false),
    alternativeWords([], true),
  ];
  assert.deepEqual(said, [
    "2 other tokens were tried beside the draft; one of them was right.",
    "1 other token was tried beside the draft; it was not right.",
    "1 other token was tried beside the draft; it was not needed.",
    "1 other token was tried beside the draft; it was right.",
    "",
  ]);
  const ready = predrafts.slice(0, 2).map((each, index) => ({ ...each, isUsed: index === 0 }));
  assert.match(
    alternativeWords(ready, false),
    /; it was not right, but the next draft was ready\.$/,
  );
});
