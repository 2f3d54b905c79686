import assert from "node:assert/strict";
import test from "node:test";
import { raceSeconds } from "../../core/numbers.js";
import { numMissing } from "../../core/text/diff.js";
import { compareLanes, endBeside, placeOf } from "../../race/board.js";
import { laneDifferences, refusalOf, wishWords } from "../../race/stale.js";
import { paceWords } from "../../race/table.js";
import { solverDifferences } from "../../solvers.js";

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

test("by time a step goes to where a lane ends a forward pass, and no further than the race", () => {
  const ends = [10, 30, 12, 30];
  assert.deepEqual(
    [0, 10, 11, 12, 30].map((clock) => endBeside(ends, clock, 1)),
    [10, 12, 12, 30, Infinity],
  );
  assert.deepEqual(
    [30, 12, 10.5, 10, 0].map((clock) => endBeside(ends, clock, -1)),
    [12, 10, 10, 0, 0],
  );
});

test("without it there is nothing to compare with", () => {
  const sizes = { block_size: 16, max_new_tokens: 128 };
  const board = { prompt: "p", ...sizes, is_recorded: false, lanes: [row("verify", [1])] };
  assert.deepEqual(compareLanes(board), [null]);
});

test("a lane that is ticked and not on the stage is named, and so is another gamma", () => {
  const low = { ...row("sbd-low", [1]), label: "SBD, γ 0.1" };
  const sizes = { block_size: 16, max_new_tokens: 128 };
  const board = { prompt: "p", ...sizes, is_recorded: false, lanes: [row("ntp", [1]), low] };
  const labels = { ntp: "Next-token prediction", "sbd-low": "SBD, γ", verify: "Verify" };
  const asked = { lanes: ["ntp", "sbd-low"], low: 0.1, high: 0.35, labels };
  assert.deepEqual(laneDifferences(board, asked), []);
  assert.deepEqual(laneDifferences(board, { ...asked, lanes: ["sbd-low", "verify"], low: 0.2 }), [
    "the lane “Verify” too",
    "no lane “Next-token prediction”",
    "γ 0.2 instead of 0.1",
  ]);
  assert.deepEqual(laneDifferences(board, { ...asked, lanes: ["ntp", "sbd-high"] }), [
    "the lane “SBD, γ 0.35” too",
    "no lane “SBD, γ 0.1”",
  ]);
});

test("how much faster a lane was follows from the times that are shown", () => {
  const plain = { ...row("ntp", [1, 2]), seconds: 0.01844 };
  for (const seconds of [0.01561, 0.01564, 0.01644, 0.1, 1.2345, 0.0004]) {
    const own = { ...row("sbd-low", [1, 2]), seconds };
    const read = [own, plain].map((each) => raceSeconds(each.seconds).split(" "));
    const [less = 0, more = 0] = read.map(
      ([text, unit]) => Number(text) * (unit === "s" ? 1000 : 1),
    );
    const times = more / less;
    const words = times > 1 ? `${times.toFixed(1)}× faster` : `${(1 / times).toFixed(1)}× slower`;
    assert.equal(paceWords(own, plain), words);
  }
  const [one, other] = [0.01561, 0.01644].map(raceSeconds);
  assert.notEqual(one, other, "lanes of different factors show different times");
});

test("a lane is so many forward passes on its way, or so long by time", () => {
  assert.deepEqual(placeOf(-1, 0, false), { value: "0", unit: "passes" });
  assert.deepEqual(placeOf(0, 0.35, false), { value: "1", unit: "pass" });
  assert.deepEqual(placeOf(4, 0.35, true), { value: "350 ms", unit: "" });
});

test("what a race refuses is not offered, and why is said", () => {
  const asked = { lanes: ["sbd-low", "sbd-high"], low: 0.1, high: 0.1, labels: {} };
  assert.equal(refusalOf(asked, ""), "both γ are the same");
  assert.equal(refusalOf({ ...asked, lanes: [] }, ""), "no lane is checked");
  for (const high of [null, -1])
    assert.equal(refusalOf({ ...asked, high }, ""), "a γ must be a number from 0 on");
  const of = "the form asks for blocks of 4";
  assert.equal(wishWords(["blocks of 4"], "Race", "", false), `${of}; press Race to run that`);
  assert.equal(wishWords(["blocks of 4"], "Race", "", true), of);
  assert.equal(wishWords(["blocks of 4"], "Race", "why", true), `${of}, which Race refuses: why`);
});

test("a solver that is chosen and not shown is named, and one shown that is not chosen", () => {
  const names = { random: "Random", factor: "Factor" };
  assert.deepEqual(solverDifferences(["factor"], ["factor", "factor"], names), []);
  assert.deepEqual(solverDifferences(["factor"], ["random", "random"], names), [
    "the solver “Random” too",
    "no solver “Factor”",
  ]);
});
