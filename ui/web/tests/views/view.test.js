import assert from "node:assert/strict";
import test from "node:test";
import {
  initialState,
  passMark,
  positionTitle,
  Reveals,
  tileState,
  viewOf,
} from "../../watch/playhead.js";
import { weightsWords } from "../../watch/results.js";
import { textExtent, textParts } from "../../watch/text.js";
import { END, FIRST, PREFILL, runOf, SECOND, start, wire } from "../core/lines.js";

/** @param {Partial<import("../../watch/playhead.js").PlayerState>} change */
const viewAt = (change) =>
  viewOf(
    { ...initialState(), pass: 1, ...change },
    { run: runOf(), reveals: new Reveals(), isDark: false, isLecture: false, isStep: false },
  );

test("the focus is what is pointed at, then what is held, else the most uncertain", () => {
  assert.deepEqual([viewAt({}).focus, viewAt({}).showsFocus], [0, false]);
  assert.deepEqual([viewAt({ held: 1 }).focus, viewAt({ held: 1 }).showsFocus], [1, true]);
  assert.equal(viewAt({ held: 1, hovered: 0 }).focus, 0);
});

test("a dragged gamma says what it would reveal", () => {
  assert.equal(viewAt({}).wouldReveal, null);
  assert.deepEqual([...(viewAt({ gammaPreview: 0.1 }).wouldReveal ?? [])], [1, 0]);
});

test("a tile is masked, new, fixed or beyond the end", () => {
  assert.equal(tileState(viewAt({ pass: 1 }), 0).kind, "masked");
  assert.equal(tileState(viewAt({ pass: 1 }), 1).kind, "new");
  assert.equal(tileState(viewAt({ pass: 2 }), 1).kind, "fixed");
  assert.equal(tileState(viewAt({ pass: 2 }), 5).kind, "beyond");
  const title = positionTitle(viewAt({ pass: 1 }), 0);
  assert.equal(title, "Position 0: masked, best guess, “Hello”, entropy 2.00 nats");
});

test("a token that an earlier end left behind is a ghost and still names its forward pass", () => {
  const run = runOf(wire(start({ end_token_ids: [0] }), PREFILL, FIRST, SECOND));
  const view = { ...viewAt({ pass: 2 }), run };
  const state = tileState(view, 1);
  assert.deepEqual([state.kind, passMark(state)], ["beyond", "#2"]);
  const title = positionTitle(view, 1);
  assert.equal(
    title,
    "Position 1: after the end of the answer, not part of it, revealed in forward pass 2, “·world”",
  );
  assert.match(positionTitle(viewAt({ pass: 2 }), 5), /not part of it$/);
});

/** A run whose whole answer was given: one forward pass reads its two blocks and a half. */
function givenRun() {
  const answer = [0, 1, 2, 0, 1];
  const pinned = /** @type {[number, number][]} */ (answer.map((token, at) => [at, token]));
  const reading = { ...PREFILL, seq: 2, kind: "decode", context: [3, 5], block: [0, 0] };
  const prompt = { ...PREFILL, block: [0, 0] };
  const opening = start({ pinned, max_new_tokens: 5 });
  return runOf(wire(opening, prompt, { ...reading, committed: answer }, { ...END, seq: 3 }));
}

test("where all that was left was given, the text has all of it and the tiles its last block", () => {
  const run = givenRun();
  assert.deepEqual(run.windowAt(0), { start: 0, size: 2 });
  assert.deepEqual(run.windowAt(1), { start: 4, size: 2 });
  const { count } = textExtent(run, run.main, 1);
  const texts = textParts(run, run.main, 1, 0, count).map(({ text }) => text);
  assert.deepEqual(texts, ["Hello", " world", "!", "Hello", " world"]);
  const kinds = [4, 5].map((position) => tileState({ ...viewAt({ pass: 1 }), run }, position).kind);
  assert.deepEqual(kinds, ["pinned", "beyond"]);
});

test("the details name the weights that decoded, and nothing where a run does not say it", () => {
  const words = (/** @type {Record<string, string>} */ weights) =>
    weightsWords(runOf(wire(start({ weights }))));
  const [adapter, base] = ["0123456789abcdef", "fedcba9876543210"];
  assert.equal(
    words({ adapter, base }),
    "Weights: adapter adapter (01234567), which masks alone read, beside base (fedcba98)",
  );
  assert.equal(words({ adapter }), "Weights: adapter (01234567)");
  assert.equal(weightsWords(runOf()), "");
});
