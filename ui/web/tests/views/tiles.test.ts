// The kind of a position's tile in a forward pass, and what the tile says.

import assert from "node:assert/strict";
import test from "node:test";
import { initialState, Reveals, viewOf } from "../../watch/playhead.ts";
import { itemsOfText } from "../../watch/text.ts";
import { passMark, positionTitle, tileState } from "../../watch/tiles.ts";
import { END, FIRST, FIRST_GIVEN, PREFILL, runOf, SECOND, start, wire } from "../core/lines.ts";

const viewAt = (pass: number) =>
  viewOf(
    { ...initialState(), pass },
    { run: runOf(), reveals: new Reveals(), isDark: false, isLecture: false, isStep: false },
  );

test("a tile is masked, new, fixed or beyond the end", () => {
  assert.equal(tileState(viewAt(1), 0).kind, "masked");
  assert.equal(tileState(viewAt(1), 1).kind, "new");
  assert.equal(tileState(viewAt(2), 1).kind, "fixed");
  assert.equal(tileState(viewAt(2), 5).kind, "beyond");
  const title = positionTitle(viewAt(1), 0);
  assert.equal(title, "Position 0: masked, best guess, “Hello”, entropy 2.00 nats");
});

test("a token that an earlier end left behind is a ghost and still names its forward pass", () => {
  const run = runOf(wire(start({ end_token_ids: [0] }), PREFILL, FIRST, SECOND));
  const view = { ...viewAt(2), run };
  const state = tileState(view, 1);
  assert.deepEqual([state.kind, passMark(state)], ["beyond", "#2"]);
  const title = positionTitle(view, 1);
  assert.equal(
    title,
    "Position 1: after the end of the answer, not part of it, revealed in forward pass 2, “·world”",
  );
  assert.match(positionTitle(viewAt(2), 5), /not part of it$/);
});

test("a pinned cell of the grid says so, as its tile does, and no forward pass", () => {
  const run = runOf(wire(start({ pinned: [[1, 1]] }), PREFILL, FIRST_GIVEN, SECOND, END));
  const view = { ...viewAt(2), run };
  assert.deepEqual(
    [0, 1].map((cell) => passMark(tileState(view, cell))),
    ["#3", "set"],
  );
});

/** Return a run whose whole answer was given: one forward pass reads its two and a half blocks. */
function givenRun() {
  const answer = [0, 1, 2, 0, 1];
  const pinned = answer.map((token, at) => [at, token]) as [number, number][];
  const reading = { ...PREFILL, seq: 2, kind: "decode", context: [3, 5], block: [0, 0] };
  const prompt = { ...PREFILL, block: [0, 0] };
  const opening = start({ pinned, max_new_tokens: 5 });
  return runOf(wire(opening, prompt, { ...reading, committed: answer }, { ...END, seq: 3 }));
}

test("where all that was left was given, the text has all of it and the tiles its last block", () => {
  const run = givenRun();
  assert.deepEqual(run.windowAt(0), { start: 0, size: 2 });
  assert.deepEqual(run.windowAt(1), { start: 4, size: 2 });
  const texts = itemsOfText(run, run.main, 1).map(({ text }) => text);
  assert.deepEqual(texts, ["Hello", " world", "!", "Hello", " world"]);
  const kinds = [4, 5].map((position) => tileState({ ...viewAt(1), run }, position).kind);
  assert.deepEqual(kinds, ["pinned", "beyond"]);
});
