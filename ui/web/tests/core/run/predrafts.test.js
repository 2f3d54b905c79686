import assert from "node:assert/strict";
import test from "node:test";
import { branchOf } from "../../../core/run/drafts.js";
import { PREFILL, runOf, start, wire } from "../lines.js";

const STEP = { ...PREFILL, kind: "decode", block: [0, 0], lane: "verify" };
const VERIFY = { strategies: ["verify"], block_size: 4 };

/** Drafts three tokens, with masks behind two ends; the second of the three is thrown away. */
const run = runOf(
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
  const predrafts = run.main.steps[1]?.predrafts ?? [];
  const branch = branchOf(predrafts, run.windowAt(1));
  assert.deepEqual([branch?.position, branch?.tokens, branch?.numHidden], [2, [0, 2], 1]);
  assert.equal(branchOf(predrafts.slice(0, 1), run.windowAt(1)), undefined);
});

test("the settings of a run by verify hold its rows, 0 for those that cost decided; of another none", () => {
  assert.equal(run.settings().max_rows, 7);
  assert.equal(runOf(wire(start({ ...VERIFY, max_rows: null }))).settings().max_rows, 0);
  assert.ok(!("max_rows" in runOf(wire(start())).settings()));
});
