// Alternatives to drafted tokens: the plan of their rows, and what the model makes of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { draftOf } from "../../engine/decoding/drafts.js";
import { Acceptance, numRowsOf, ONE_A_PASS, planRows } from "../../engine/decoding/row_plans.js";
import { readSettings } from "../../engine/decoding/settings.js";
import { stream } from "../../engine/decoding/stream.js";
import { Cache } from "../../engine/model.js";
import { dataOf } from "../../engine/session/wire.js";
import { LogitStats } from "../../engine/stats.js";
import { NANO, openFolder } from "./node/exported.js";

/** @import { RowCosts } from "../../engine/decoding/row_plans.js" */

const checkpoint = await openFolder(NANO);

/** @type {RowCosts} */
const COSTS = [
  [1, 1],
  [25, 3.5],
  [48, 6],
];

/** What two forward passes taught, as in the examples that sbd_core/decoding/row_plans.py gave. */
function learnt() {
  const acceptance = new Acceptance();
  acceptance.count([], 0, 0, 1);
  acceptance.see([0.9, 0.8, 0.7, 0.5]);
  acceptance.count([0.9, 0.8, 0.7], 2, 4, 1.75, { expected: 0.3, isRight: true });
  acceptance.see([0.95, 0.6, 0.4, 0.2]);
  return acceptance;
}

test("rows are planned as sbd_core plans them", () => {
  const draft = [0.9, 0.6, 0.4];
  const others = [
    [0.05, 0.02],
    [0.3, 0.05, 0.01],
    [0.25, 0.2, 0.1],
  ];
  /** @param {RowCosts} costs @param {number} numLeft */
  const planned = (costs, numLeft) => {
    const plan = planRows(learnt(), draft, costs, 8, numLeft, others);
    return [plan.blockSizes, plan.draftLength, plan.threshold, plan.alternatives, numRowsOf(plan)];
  };
  assert.deepEqual(
    [planned(COSTS, 60), planned(COSTS, 4), planned(ONE_A_PASS, 60), planned(ONE_A_PASS, 4)],
    [
      [[0, 3, 0, 0], 2, 0.15722703872661706, [[1, 0, 3]], 11],
      [[0, 3, 0, 0], 2, 0.15722703872661706, [[1, 0, 2]], 10],
      [[5, 5, 5, 4], 5, 0, [[0, 0, 3], [1, 0, 5], [2, 0, 4], [2, 1, 4], [2, 2, 3]], 47],
      [[4, 3, 2, 0], 3, 0, [[0, 0, 3], [0, 1, 3], [1, 0, 2], [1, 1, 2], [1, 2, 2]], 30],
    ], // biome-ignore format: a row each
  );
  assert.equal(learnt().credit, 1.29);
  const first = planRows(new Acceptance(), [], COSTS, 8, 60);
  assert.deepEqual([first.blockSizes, first.draftLength, first.alternatives], [[8], 7, []]);
});

test("a draft lists what else may stand at each of its tokens, but no end", () => {
  const topIds = [[9], [4, 2, 7], [5, 3, 8], [6, 1, 2]];
  const topProbabilities = topIds.map(() => [0.5, 0.3, 0.1]);
  const empty = { margin: [], entropy: [], row: () => new Float32Array() };
  const bestIds = topIds.map(([id = 0]) => id);
  const stats = new LogitStats({
    ...empty,
    ...{ bestIds, topIds, topProbabilities, probability: bestIds.map(() => 0.5) },
  });
  const draft = draftOf(stats, bestIds, 2, new Set([3]));
  assert.deepEqual(draft.tokenIds, [4, 5]);
  assert.deepEqual(draft.alternatives, [
    [
      [2, 0.3],
      [7, 0.1],
    ],
    [[8, 0.1]],
  ]);
});

test("an alternative is read causally, and its masks stand behind it", async () => {
  const { model, maskId } = checkpoint;
  const masks = new Array(3).fill(maskId);
  /** @param {number[]} causalIds @param {number[]} blockIds @param {number} numCausal @param {number[]} tokenIds */
  const read = async (causalIds, blockIds, numCausal, ...tokenIds) => {
    const cache = new Cache(model, 64);
    const predraftBlocks = tokenIds.length
      ? [
          { numCausal: 5, tokenIds: masks.slice(1), isAlternative: false },
          { numCausal, tokenIds, isAlternative: true },
        ]
      : [];
    const logits = await model.forward({
      cache,
      causalIds,
      blockIds,
      numCausalLogits: 1,
      predraftBlocks,
    });
    const rows = Array.from({ length: logits.numRows }, (_, row) => logits.row(row).slice());
    cache.release();
    return rows;
  };
  const together = await read([5, 6, 7, 8, 9, 10], masks, 4, 21, ...masks);
  const alone = await read([5, 6, 7, 8, 21], masks, 0);
  assert.deepEqual([together.length, alone.length], [10, 4]);
  together.slice(6).forEach((row, index) => {
    const wanted = alone[index] ?? assert.fail();
    assert.ok(row.every((value, id) => Math.abs(value - (wanted[id] ?? NaN)) < 1e-3));
  });
});

test("answers stay those of next-token prediction, and what is behind one is checked", async () => {
  let numRight = 0;
  for (const [prompt, penalty] of /** @type {[string, number][]} */ ([
    ["What is 12 + 30?", 1],
    ["What is 6 + 49?", 1],
    ["Sort these numbers: 5, 3, 9, 1", 1],
    ["What is 12 + 30?", 1.3],
    ["Reverse the word stone", 1.3],
  ])) {
    const ids = checkpoint.tokenizer.encodePrompt(prompt, false);
    const settings = { max_new_tokens: 60, repetition_penalty: penalty };
    /** @param {Record<string, unknown>} more */
    const decode = async (more) => {
      const events = [];
      const own = readSettings({ ...settings, ...more });
      for await (const event of stream(checkpoint, ids, own)) events.push(event);
      return events;
    };
    const plain = (await decode({ strategy: "ntp" })).flatMap(({ committed }) => committed);
    const events = await decode({
      strategy: "verify",
      row_policy: "fewest-passes",
      top_k_recorded: 2,
    });
    assert.deepEqual(
      events.flatMap(({ committed }) => committed),
      plain,
    );
    for (const [index, event] of events.entries()) {
      const used = event.predrafts.filter(
        ({ isUsed, alternative }) => isUsed && alternative !== null,
      );
      numRight += used.length;
      const next = events[index + 1];
      if (next) assert.equal(next.numCausal, 1 + event.draft.length);
      for (const { tokenIds } of used) assert.deepEqual(tokenIds, event.draft);
      assert.ok(event.masked.every(({ topIds }) => topIds.length === 2));
      assert.ok(dataOf(event).predrafts.every((each) => each.length === 4 || each[4] !== null));
    }
  }
  assert.ok(numRight > 0);
});
