// The plans of verify's rows are those of Python: tests/core/decoding/test_verify.py reads the same cases.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { draftLength, planRows } from "../../engine/decoding/verify_rows.ts";

const CASES = new URL("../../../../tests/core/decoding/row_plans.json", import.meta.url);

for (const { name, calibration, asked, ...wanted } of JSON.parse(readFileSync(CASES, "utf8"))) {
  test(`a plan as in Python: ${name}`, () => {
    const { probabilities, num_sure: numSure, max_rows: maxRows, alternatives } = asked;
    const [blockSize, numLeft, isEnd] = [asked.block_size, asked.num_left, asked.is_end];
    const inputs = { blockSize, numLeft, maxRows, alternatives, numSure, isEnd };
    const plan = planRows(probabilities, calibration, inputs);
    const drafted = probabilities.slice(numSure);
    assert.equal(draftLength(drafted, calibration, maxRows), wanted.draft_length);
    assert.deepEqual(plan.blockSizes, wanted.block_sizes);
    assert.deepEqual(plan.alternatives, wanted.alternatives);
  });
}
