import assert from "node:assert/strict";
import test from "node:test";
import { alternativeWords, branchOf, checkedDraft, rightAlternative } from "../../../core/run.js";
import { mentionedIds } from "../../../core/trace.js";
import { tileState } from "../../../watch/playhead.js";
import { ALTERNATIVE_RUN, PREFILL, RIGHT, runOf, start, wire } from "../lines.js";

/** @import { EventData } from "../../../core/run.js" */

const VERIFY = { strategies: ["verify"], block_size: 4 };
const STEP = { ...PREFILL, kind: "decode", block: [0, 0], lane: "verify" };

/** Drafts three tokens; keeps one of them and puts another in the place of the second. */
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

test("the tiles say so: accepted, exact in the place of a draft, thrown away and not vanished", () => {
  const view = /** @type {import("../../../watch/playhead.js").View} */ ({ run, pass: 1 });
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

/** Drafts three tokens, with masks behind two ends; the second of the three is thrown away. */
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
  const branch = branchOf(predrafts, branching.windowAt(1));
  assert.deepEqual([branch?.position, branch?.tokens, branch?.numHidden], [2, [0, 2], 1]);
  assert.equal(branchOf(predrafts.slice(0, 1), branching.windowAt(1)), undefined);
});

test("the settings of a run by verify hold its rows, 0 for those that cost decided; of another none", () => {
  assert.equal(branching.settings().max_rows, 7);
  assert.equal(runOf(wire(start({ ...VERIFY, max_rows: null }))).settings().max_rows, 0);
  assert.ok(!("max_rows" in runOf(wire(start())).settings()));
});

const predrafts = ALTERNATIVE_RUN.main.steps[1]?.predrafts ?? [];

test("only a predraft behind an alternative names one", () => {
  assert.deepEqual(predrafts, [
    { position: 2, size: 2, isUsed: false, tokens: [] },
    { position: 2, size: 2, isUsed: false, tokens: [], alternative: 3 },
    { position: 3, size: 2, isUsed: true, tokens: [2, 0], alternative: 3 },
  ]);
  const event = { .../** @type {EventData} */ (/** @type {unknown} */ (RIGHT)), committed: [] };
  assert.ok(mentionedIds(event).includes(3));
});

test("an alternative that was right is no accepted token of the draft", () => {
  assert.deepEqual(checkedDraft(ALTERNATIVE_RUN.main, 1), {
    start: 1,
    tokens: [1, 2],
    numAccepted: 1,
  });
  assert.equal(rightAlternative(predrafts), predrafts[2]);
  assert.equal(rightAlternative(predrafts.slice(0, 2)), undefined);
  const view = /** @type {import("../../../watch/playhead.js").View} */ ({
    run: ALTERNATIVE_RUN,
    pass: 1,
  });
  const states = [1, 2, 3, 4].map((position) => tileState(view, position));
  assert.deepEqual(
    states.map(({ kind, token, struck }) => [kind, token, struck]),
    [
      ["accepted", 1, undefined],
      ["new", 3, 2],
      ["draft", 2, undefined],
      ["draft", 0, undefined],
    ],
  );
});

test("a branch shows as many of its tokens as there are tiles behind it", () => {
  const branch = branchOf(predrafts, { start: 1, size: 8 });
  assert.deepEqual([branch?.position, branch?.tokens, branch?.numHidden], [3, [2, 0], 0]);
  const short = branchOf(predrafts, { start: 1, size: 3 });
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
