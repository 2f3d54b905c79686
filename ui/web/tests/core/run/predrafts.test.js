import assert from "node:assert/strict";
import test from "node:test";
import { branchesOf, branchWords } from "../../../core/run/drafts.js";
import { PREFILL, runOf, start, wire } from "../lines.js";

const STEP = { ...PREFILL, kind: "decode", block: [0, 0], lane: "verify" };
const VERIFY = { strategies: ["verify"], block_size: 4 };

/** Drafts three tokens and two predrafts; the second of the three is thrown away. */
const run = runOf(
  wire(
    start({ ...VERIFY, num_predrafts: 2, draft_threshold: 0.3 }),
    { ...STEP, seq: 1, committed: [0], draft: [1, 2, 3] },
    {
      ...STEP,
      seq: 2,
      committed: [1, 3],
      draft: [0, 2],
      predrafts: [
        [1, 3, [2], false],
        [2, 4, [0, 2, 3], true],
      ],
    },
  ),
);

test("a branch begins in the column of the token that may be thrown away, the rightmost first", () => {
  const branches = branchesOf(run.main.steps[1]?.predrafts ?? [], run.windowAt(1));
  assert.deepEqual(
    branches.map(({ column, tokens, numHidden, isUsed }) => [column, tokens, numHidden, isUsed]),
    [
      [1, [0, 2], 1, true],
      [0, [2], 0, false],
    ],
  );
});

test("it is said whether one was used", () => {
  const predrafts = run.main.steps[1]?.predrafts ?? [];
  assert.match(branchWords(predrafts), /that one is the draft now\.$/);
  assert.match(branchWords(predrafts.slice(0, 1)), /this time none was needed\.$/);
  assert.match(branchWords([]), /^No predraft/);
});

test("blocks that gave no predraft are not said to be missing", () => {
  const empty = { position: 3, size: 4, isUsed: false, tokens: [] };
  assert.match(branchWords([empty]), /^1 block of masks gave no predraft/);
  const words = branchWords([...(run.main.steps[1]?.predrafts ?? []), empty, empty]);
  assert.match(words, /^2 predrafts made; .* 2 blocks of masks gave no predraft/);
});

test("the settings of a run by verify hold its drafting, those of another none", () => {
  assert.deepEqual([run.settings().num_predrafts, run.settings().draft_threshold], [2, 0.3]);
  assert.ok(!("num_predrafts" in runOf(wire(start())).settings()));
});
