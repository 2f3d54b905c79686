// What the inspector says about a position, and the verdict on an answer.

import assert from "node:assert/strict";
import test from "node:test";
import {
  givenTokens,
  guessTitle,
  hindsightText,
  inspectorKicker,
  revealText,
} from "../../watch/inspector.ts";
import { initialState, Reveals, viewOf } from "../../watch/playhead.ts";
import { stairsKey } from "../../watch/staircase.ts";
import { positionTitle } from "../../watch/tiles.ts";
import { compareWords, verdictParts, verdictWithoutReason } from "../../watch/verdict.ts";
import {
  END,
  FIRST,
  masks,
  PREFILL,
  reveals,
  runOf,
  SECOND,
  start,
  WHOLE,
  wire,
} from "../core/lines.ts";

const viewAt = (pass: number, lines: string = WHOLE) =>
  viewOf(
    { ...initialState(), pass },
    { run: runOf(lines), reveals: new Reveals(), isDark: false, isLecture: false, isStep: false },
  );

const PLAIN = { lane: "verify", masked: [], reveals: [], block: [0, 4] };
/** Lines of a run by verify that drafts two tokens: the first is accepted, the second replaced. */
const VERIFY = wire(
  start({ strategies: ["verify"], solver: { name: "" } }),
  { ...PREFILL, ...PLAIN, committed: [0], draft: [1, 2], hindsight: [[0, 0, 0.9, 0, 0.9]] },
  { ...FIRST, ...PLAIN, committed: [1, 3], draft: [2] },
  { ...END, seq: 3, lane: "verify" },
);

/** The first line of a run by verify with tiles for two positions. */
const WIDE = start({ strategies: ["verify"], solver: { name: "" }, block_size: 2 });

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

test("verify calls a draft only what is drafted, and a mask's guess no verdict of the model", () => {
  const lines = VERIFY.split("\n").slice(0, 2).join("\n");
  for (const position of [1, 3])
    assert.match(hindsightText(viewAt(0, lines), position)[0], /^Only a causal forward pass/);
  assert.equal(guessTitle(runOf(VERIFY), 1, 1), "A mask’s guesses in this forward pass");
  assert.equal(guessTitle(runOf(), 1, 2), "Guesses in forward pass 2");
});

test("verify's least sure position is one that has a tile", () => {
  const masked = masks(...[0, 1, 2, 3].map((at) => [at, 0.1 * (at + 1), 0, 0.5]));
  const kicker = inspectorKicker(viewAt(0, wire(WIDE, { ...PREFILL, ...PLAIN, masked })));
  assert.equal(kicker, "Position 1 · least sure of these tiles");
});

test("of positions equally unsure the inspector shows the one that the solver took last", () => {
  const masked = masks(...[0, 1].map((position) => [position, 0.01, position, 0.999]));
  const focus = (rows: number[][]) => {
    const first = { ...FIRST, masked, reveals: reveals(...rows) };
    return viewAt(1, wire(start(), PREFILL, first)).focus;
  };
  const both = [
    [0, 0],
    [1, 1],
  ];
  assert.equal(focus(both), 1);
  assert.equal(focus([...both].reverse()), 0);
  assert.equal(focus([[0, 0]]), 1, "the one still masked");
});

test("next-token prediction reads no masks, and the inspector and the tiles speak of none", () => {
  const plain = { ...PREFILL, lane: "ntp", committed: [0], masked: masks([0, 0.1, 0, 0.5]) };
  const opening = start({ strategies: ["ntp"], solver: { name: "" } });
  const view = viewAt(0, wire(opening, { ...plain, block: [0, 1], reveals: [[0, 0, 0, 0.9]] }));
  assert.equal(inspectorKicker(view), "Position 0 · written in this forward pass");
  assert.match(positionTitle(view, 0), /^Position 0: written in this forward pass/);
  assert.equal(positionTitle(view, 1), "Position 1: not written yet");
  assert.deepEqual(stairsKey(view.run), { colour: "entropy", dots: "dot: written" });
  assert.match(positionTitle(viewAt(1), 1), /: revealed in this forward pass/);
});

test("a token of a causal forward pass is not asked whether it agrees with itself", () => {
  const [words] = hindsightText(viewAt(1, VERIFY), 0);
  assert.equal(words, "Read causally, forward pass 1 gives this token 90.0%: that decides.");
  assert.match(hindsightText(viewAt(2), 0)[0], /it would have said “Bye”/);
});

test("what no causal forward pass read before the end of the run is said so, however it ended", () => {
  const words = (finish: string) =>
    hindsightText(viewAt(1, wire(start(), PREFILL, FIRST, { ...END, seq: 3, finish })), 1)[0];
  for (const finish of ["length", "stopped", "end_of_sequence"])
    assert.equal(words(finish), "The run ends before a causal forward pass reads this block.");
});

test("a branch keeps what stood before its token came, and every pin; a pin only the pins", () => {
  const run = wire(start({ pinned: [[5, 2]] }), PREFILL, FIRST, SECOND);
  const given = (kind: "pin" | "branch", pass: number, focus: number) =>
    givenTokens(kind, { ...viewAt(pass, run), focus }, 3).map((pin) => pin.join(":"));
  assert.deepEqual(given("branch", 1, 0), ["0:3", "1:1", "5:2"], "what stands now");
  assert.deepEqual(given("branch", 2, 0), ["0:3", "1:1", "5:2"], "as when it was revealed");
  assert.deepEqual(given("branch", 2, 1), ["1:3", "5:2"], "what came later is decoded anew");
  assert.deepEqual(given("pin", 2, 0), ["0:3", "5:2"]);
});

test("the inspector says that a token now after the end had been revealed", () => {
  const lines = wire(start({ end_token_ids: [0] }), PREFILL, FIRST, SECOND);
  const words = revealText(viewAt(2, lines), 1);
  assert.equal(
    words,
    "After the end of the answer: not part of it, though revealed in forward pass 2.",
  );
});

test("the verdict of a lane comes with its end, and may be missing", () => {
  const verdict = { right: false, words: "Wrong." };
  assert.deepEqual(runOf(wire(start(), PREFILL, { ...END, verdict })).main.verdict, verdict);
  assert.equal(runOf().main.verdict, null);
});

test("a checker that was not run says why, no checker that nothing knows", () => {
  const words = "Not judged: it has to be run.";
  assert.deepEqual(verdictParts({ right: null, words }), { judged: null, unjudgedWords: words });
  assert.equal(verdictParts(null).judged, null);
  assert.match(verdictParts(null).unjudgedWords, /no check fits this prompt/);
  const wrong = { right: false, words: "Wrong." };
  assert.equal(verdictParts(wrong).judged, wrong);
});

test("a verdict without its reason is its first word", () => {
  assert.equal(verdictWithoutReason("Right: the answer is 12."), "Right");
  assert.equal(verdictWithoutReason("Wrong."), "Wrong");
  assert.equal(
    verdictWithoutReason("Valid JSON; nothing checked it."),
    "Valid JSON; nothing checked it",
  );
});

test("where wide forward passes round otherwise, a token that differs is explained by it", () => {
  const comparison = { words: "1 differs" };
  assert.match(compareWords(comparison, "equal up to rounding").reason, /rounds otherwise/);
  assert.doesNotMatch(compareWords(comparison, "probed").reason, /round/);
  assert.doesNotMatch(compareWords(comparison, "").reason, /round/);
});
