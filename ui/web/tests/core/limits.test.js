import assert from "node:assert/strict";
import test from "node:test";
import { framePasses, MAX_FRAMES } from "../../core/limits.js";

test("an animation shows every forward pass while it may", () => {
  for (const count of [1, 2, 60, MAX_FRAMES]) {
    assert.deepEqual(framePasses(count - 1), [...Array(count).keys()]);
  }
  assert.deepEqual(framePasses(-1), [0]);
});

test("an animation of a long run is sampled evenly, the first and the last pass among its frames", () => {
  for (let lastPass = MAX_FRAMES; lastPass <= 5000; lastPass += 1) {
    const passes = framePasses(lastPass);
    const words = `${lastPass + 1} passes`;
    assert.ok(passes.length <= MAX_FRAMES, `${words}: ${passes.length} frames`);
    assert.ok(passes.length > MAX_FRAMES / 2, `${words}: only ${passes.length} frames`);
    assert.deepEqual([passes[0], passes.at(-1)], [0, lastPass], words);
    const steps = passes.slice(1).map((pass, index) => pass - (passes[index] ?? 0));
    const step = steps[0] ?? 0;
    const last = steps.pop() ?? 0;
    assert.deepEqual([...new Set(steps)], [step], words);
    assert.ok(last > 0 && last <= step, words);
  }
});
