// Times, shapes and measured times are those of Python: tests/core/test_roofline_times.py reads the same cases.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import {
  freeRows,
  type Mode,
  measuredSeconds,
  measuredSpeedup,
  memoryOf,
  passTime,
  type Setup,
  shapeOfConfig,
  slowdown,
  speedup,
  timeLeftOut,
  widthsOf,
} from "../../core/roofline.ts";
import { ArgumentError } from "../../engine/errors.ts";

const FILE = new URL("../../../../tests/core/roofline_cases.json", import.meta.url);
const CASES = JSON.parse(readFileSync(FILE, "utf8"));

function isNear(found: number, wanted: number) {
  assert.ok(Math.abs(found - wanted) <= 1e-9 * Math.abs(wanted), `${found} is not ${wanted}`);
}

for (const { name, shape, device, block, cache, batch, tokens, ...wanted } of CASES.passes) {
  const setup: Setup = { shapes: { published: shape, corrected: shape }, device, cache, batch };
  test(`times as in Python: ${name}`, () => {
    for (const mode of ["published", "corrected"] as Mode[]) {
      const found = passTime(block, setup, mode);
      isNear(found.seconds, wanted[mode].seconds);
      isNear(found.moving, wanted[mode].moving);
      isNear(found.computing, wanted[mode].computing);
      isNear(slowdown(block, setup, mode), wanted[mode].slowdown);
      isNear(speedup(block, tokens, setup, mode), wanted[mode].speedup);
      const { feedForward, keys } = widthsOf(setup, mode);
      assert.deepEqual([feedForward, keys], wanted[mode].widths);
    }
    const { outputLayer, ownKeys } = timeLeftOut(block, setup);
    isNear(outputLayer, wanted.output_layer);
    isNear(ownKeys, wanted.own_keys);
    isNear(memoryOf(setup).weights, wanted.num_weights * device.valueBytes);
  });

  test(`free rows take hardly longer than one, one more does: ${name}`, () => {
    const free = freeRows(setup);
    assert.ok(slowdown(free, setup) <= 1.05);
    assert.ok(free === 4096 || slowdown(free + 1, setup) > 1.05);
  });
}

test("measured times as in Python, linear between those timed", () => {
  for (const { block, cache, tokens, ...wanted } of CASES.timed) {
    isNear(measuredSeconds(CASES.times, block, cache), wanted.seconds);
    isNear(measuredSpeedup(CASES.times, block, tokens, cache), wanted.speedup);
  }
});

for (const { config, shape, error } of CASES.configs) {
  test(`a config as in Python: ${JSON.stringify(config)}`, () => {
    if (shape) return assert.deepEqual(shapeOfConfig(config), shape);
    const [argument, rule, value] = error;
    assert.throws(
      () => shapeOfConfig(config),
      (found: unknown) => {
        assert.ok(found instanceof ArgumentError);
        assert.deepEqual([found.argument, found.rule, found.value], [argument, rule, value]);
        return true;
      },
    );
  });
}
