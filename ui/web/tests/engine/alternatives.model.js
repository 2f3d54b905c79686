// The rows of a forward pass of verify: their plan, and what the model makes of alternatives.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DraftRecord,
  draftLength,
  numRowsOf,
  planRows,
  USUAL_CALIBRATION,
} from "../../engine/decoding/draft_tree.js";
import { readSettings } from "../../engine/decoding/settings.js";
import { stream } from "../../engine/decoding/stream.js";
import { Cache } from "../../engine/model.js";
import { NANO, openFolder } from "./node/exported.js";

/** @import { RowCosts } from "../../engine/decoding/draft_tree.js" */

const checkpoint = await openFolder(NANO);

/** @type {RowCosts} */
const COSTS = [
  [1, 1],
  [25, 3.5],
  [48, 6],
];

/** As Python plans them: masks behind each end, alternatives, price, rows. */
const PLANS = [
  [[0, 0, 0, 0], [], 0.12940872049487137, 4],
  [[0, 0, 0, 0], [], 0.12994417958757495, 4],
  [
    [3, 0, 0, 4],
    [
      [0, 0, 4],
      [0, 1, 0],
      [1, 0, 4],
      [1, 1, 3],
      [1, 2, 0],
      [2, 0, 4],
      [2, 1, 4],
      [2, 2, 3],
    ],
    0.010010799984978206,
    41,
  ],
  [
    [0, 0, 0, 0],
    [
      [0, 0, 0],
      [1, 0, 3],
      [2, 0, 0],
      [2, 1, 0],
      [2, 2, 0],
    ],
    0.054578063241106714,
    12,
  ],
  [
    [0, 0, 0, 0],
    [
      [0, 0, 0],
      [1, 0, 2],
      [1, 1, 0],
      [2, 0, 0],
      [2, 1, 0],
      [2, 2, 0],
    ],
    0.049628793225583875,
    12,
  ],
];
const FIRST = { blockSizes: [3], alternatives: [], price: 0.13888888888888887 };
const SURE = {
  blockSizes: [0, 0, 0, 3],
  alternatives: [
    [1, 0, 3],
    [1, 1, 0],
    [2, 0, 3],
    [2, 1, 2],
    [2, 2, 0],
  ],
  price: 0.044312028048794055,
};
const SURVIVAL = [0.6949170092888686, 0.3892400179655547, 0.1939752859313464, 0.07904176580896097];

/** A record after one forward pass and two blocks, as in the plans that sbd_core/decoding/draft_tree.py gave. */
function learnt() {
  const record = new DraftRecord({
    survival: [0.6, 0.3],
    drafted: 0.9,
    alternatives: 1.2,
    rejected: 0.5,
  });
  record.see([0.9, 0.8, 0.7, 0.5]);
  const pass = { checked: [0.9, 0.8, 0.7], numRight: 2, others: [0.2, 0.1], hasAlternative: true };
  record.count({ ...pass, numTokens: 3, seconds: 1.75 });
  record.see([0.95, 0.6, 0.4, 0.2]);
  return record;
}

test("rows are planned as sbd_core plans them", () => {
  const draft = [0.9, 0.6, 0.4];
  const alternatives = [
    [0.05, 0.02],
    [0.3, 0.05, 0.01],
    [0.25, 0.2, 0.1],
  ];
  /** @param {number | null} maxRows @param {number} numLeft */
  const planned = (maxRows, numLeft) => {
    const costs = maxRows === null ? COSTS : null;
    const asked = { blockSize: 8, numLeft, alternatives, maxRows, costs, price: 0.05 };
    const plan = planRows(learnt(), draft, asked);
    return [plan.blockSizes, plan.alternatives, plan.price, numRowsOf(plan)];
  };
  assert.deepEqual(
    [planned(null, 60), planned(null, 4), planned(41, 60), planned(12, 60), planned(12, 4)],
    PLANS,
  );
  const first = planRows(new DraftRecord(USUAL_CALIBRATION), [], {
    blockSize: 8,
    numLeft: 60,
    maxRows: null,
    costs: COSTS,
    numCausal: 9,
  });
  assert.deepEqual(first, FIRST);
  const single = planRows(learnt(), draft, { blockSize: 8, numLeft: 60, maxRows: 1 });
  assert.deepEqual([single.blockSizes, single.alternatives], [[0, 0, 0, 0], []]);
  const sure = planRows(learnt(), draft, {
    blockSize: 8,
    numLeft: 60,
    alternatives: [[], ...alternatives.slice(1)],
    numSure: 1,
    maxRows: 20,
    price: 0.1,
  });
  assert.deepEqual(sure, SURE);
  assert.deepEqual(learnt().survival(4), SURVIVAL);
  assert.equal(draftLength(learnt().chances([0.9, 0.8, 0.3]), 0.3), 2);
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
    const events = await decode({ strategy: "verify", max_rows: 41, top_k_recorded: 2 });
    assert.deepEqual(
      events.flatMap(({ committed }) => committed),
      plain,
    );
    for (const [index, event] of events.entries()) {
      const used = event.predrafts.filter(([, , , isUsed, other]) => isUsed && other !== undefined);
      numRight += used.length;
      const next = events[index + 1];
      if (next) assert.equal(next.context[1], 1 + event.draft.length);
      for (const [, , tokenIds] of used) assert.deepEqual(tokenIds, event.draft);
      assert.ok(event.masked.every(([, , topIds]) => topIds.length === 2));
    }
  }
  assert.ok(numRight > 0);
});
