import assert from "node:assert/strict";
import { test } from "node:test";
import { Generator } from "../../engine/random.js";

// What torch 2.13 gives for torch.Generator().manual_seed(5).
test("a seed gives torch's permutation", () => {
  assert.deepEqual(new Generator(5).permutation(7), [1, 0, 4, 2, 6, 5, 3]);
});

test("more numbers than the generator's state holds still repeat by seed", () => {
  const [one, other] = [new Generator(2 ** 40 + 7), new Generator(7)];
  for (let i = 0; i < 2000; i += 1) assert.equal(one.random(), other.random());
});
