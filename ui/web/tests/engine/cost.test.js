// What a forward pass cost, as the browser's engine counts and as the page takes it apart again.

import assert from "node:assert/strict";
import { test } from "node:test";
import { partsOf } from "../../core/forward/cost.js";
import { readSizes } from "../../core/run/wire.js";
import { BYTES_PER_VALUE, costParts, eventCost } from "../../engine/session/cost.js";

/** @import { Shape } from "../../engine/checkpoint/shape.js" */
/** @import { StepEvent } from "../../engine/decoding/state.js" */

const SIZES = { hidden: 8, width: 16, numLayers: 3, vocabulary: 10 };
const SHAPE = /** @type {Shape} */ ({ ...SIZES, numHeads: 4, numKvHeads: 2, headSize: 2 });

test("the parts that a run names are those that its costs are made of", () => {
  for (const [kind, predicted] of /** @type {const} */ ([
    ["prefill", 4],
    ["decode", 5],
  ])) {
    const read = { numCached: 5, numCausal: 2, block: { start: 0, size: 3 }, predrafts: [] };
    const event = /** @type {StepEvent} */ (/** @type {unknown} */ ({ kind, ...read }));
    const [rows = 0, flops = 0, weightBytes = 0, cacheBytes = 0] = eventCost(
      SHAPE,
      event,
      "sbd",
      7,
    );
    const line = { value_bytes: BYTES_PER_VALUE, ...costParts(SHAPE) };
    const sizes = readSizes(line) ?? assert.fail();
    const cost = { rows, flops, weightBytes, cacheBytes };
    const found = partsOf(cost, { kind, causal: 2, cached: 5 }, sizes);
    assert.equal(found.output, 2 * predicted * 80);
    assert.equal(found.ownKeys, 4 * 3 * 8 * (3 + 3 * 5));
  }
});
