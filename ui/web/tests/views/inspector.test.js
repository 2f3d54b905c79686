import assert from "node:assert/strict";
import test from "node:test";
import { hindsightText, revealText } from "../../watch/inspector/words.js";
import { initialState, viewOf } from "../../watch/view.js";
import { END, FIRST, PREFILL, runOf, start, WHOLE, wire } from "../core/lines.js";

const STILL = { isOver: true, isQuick: false, delay: () => 0, progress: () => 1, play: () => {} };

/**
 * @param {number} pass
 * @param {string} [lines]
 */
const viewAt = (pass, lines = WHOLE) =>
  viewOf(
    { ...initialState(), pass },
    { run: runOf(lines), reveals: STILL, isDark: false, isLecture: false, isStep: false },
  );

/** @type {Pick<import("../../core/run/wire.js").WireLine, "lane" | "masked" | "reveals" | "block">} */
const PLAIN = { lane: "verify", masked: [], reveals: [], block: [0, 4] };
/** Verify: one token and a draft of two, of which the first is accepted, the second replaced. */
const VERIFY = wire(
  start({ lanes: ["verify"], strategy: "verify", solver: { name: "" } }),
  { ...PREFILL, ...PLAIN, committed: [0], draft: [1, 2], hindsight: [[0, 9000, 0, 9000]] },
  { ...FIRST, ...PLAIN, committed: [1, 3], draft: [2] },
  { ...END, seq: 3, lane: "verify" },
);

test("a revealed token names its place in the solver's order", () => {
  assert.equal(revealText(viewAt(1), 0), "Still masked, entropy 2.00 nats.");
  assert.equal(
    revealText(viewAt(1), 1),
    "Revealed in forward pass 2, first in the solver’s order.",
  );
});

test("verify has no solver: a token was drafted and accepted, or written", () => {
  assert.equal(revealText(viewAt(0, VERIFY), 0), "Written in forward pass 1.");
  assert.equal(revealText(viewAt(0, VERIFY), 1), "Drafted; the next forward pass checks it.");
  assert.match(revealText(viewAt(1, VERIFY), 1), /checked and accepted in forward pass 2\.$/);
  assert.equal(revealText(viewAt(1, VERIFY), 2), "Written in forward pass 2 for the drafted “!”.");
});

test("a token of a causal forward pass is not asked whether it agrees with itself", () => {
  const [words] = hindsightText(viewAt(1, VERIFY), 0);
  assert.equal(words, "The causal forward pass that this token is from gives it 90.0%.");
  assert.match(hindsightText(viewAt(2), 0)[0], /it would have said “Bye”/);
});
