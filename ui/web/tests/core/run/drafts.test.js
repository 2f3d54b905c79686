import assert from "node:assert/strict";
import test from "node:test";
import { checkedDraft } from "../../../core/run/drafts.js";
import { tileState } from "../../../watch/view.js";
import { PREFILL, runOf, start, wire } from "../lines.js";

const STEP = { ...PREFILL, kind: "decode", block: [0, 0] };

/** Drafts three tokens; keeps one of them and puts another in the place of the second. */
const run = runOf(
  wire(
    start({ strategies: ["verify"], block_size: 4 }),
    { ...STEP, lane: "verify", seq: 1, committed: [0], draft: [1, 2, 3] },
    { ...STEP, lane: "verify", seq: 2, committed: [1, 3] },
  ),
);

test("a draft is accepted up to the first token that was checked to be another", () => {
  assert.deepEqual(checkedDraft(run.main, 1), { start: 1, tokens: [1, 2, 3], numAccepted: 1 });
  assert.deepEqual(checkedDraft(run.main, 0).tokens, []);
});

test("the tiles say so: accepted, exact in the place of a draft, thrown away and not vanished", () => {
  const view = /** @type {import("../../../watch/view.js").View} */ ({ run, pass: 1 });
  const states = [1, 2, 3].map((position) => tileState(view, position));
  assert.deepEqual(
    states.map(({ kind, token, struck }) => [kind, token, struck]),
    [
      ["accepted", 1, undefined],
      ["new", 3, 2],
      ["struck", 3, undefined],
    ],
  );
});
