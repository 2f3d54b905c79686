import assert from "node:assert/strict";
import { test } from "node:test";
import { Generator } from "../../engine/random.js";

// What torch 2.13 gives for torch.Generator().manual_seed(5).
test("a seed gives torch's permutation", () => {
  assert.deepEqual(new Generator(5).permutation(7), [1, 0, 4, 2, 6, 5, 3]);
});

test("a seed gives torch's uniform numbers", () => {
  const generator = new Generator(5);
  assert.equal(generator.uniform(), 0.8302518725395203);
  assert.equal(generator.uniform(), 0.12611091136932373);
});

test("a seed gives torch's exponentials", () => {
  const generator = new Generator(5);
  for (const expected of [1.0272642374038696, 0.30077800154685974, 0.44758108258247375]) {
    assert.equal(generator.exponential(), expected);
  }
});

test("more numbers than the generator's state holds still repeat by seed", () => {
  const [one, other] = [new Generator(2 ** 40 + 7), new Generator(7)];
  for (let i = 0; i < 2000; i += 1) assert.equal(one.random(), other.random());
});
