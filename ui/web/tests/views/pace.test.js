import assert from "node:assert/strict";
import test from "node:test";
import { playRate, revealPace } from "../../dom/pace.js";

test("a reveal is gentle when slow and keeps up when quick", () => {
  const [slow, quick] = [revealPace(1000), revealPace(1000 / 30)];
  assert.ok(slow.settle >= 400);
  assert.ok(quick.settle + quick.spread <= 60);
});

test("a live run is played as quickly as it comes, unless slow motion is wanted", () => {
  assert.equal(playRate(1, 0, 40), 3);
  assert.ok(playRate(1, 15, 40) >= 15);
  assert.equal(playRate(0.5, 300, 300), 1.5);
});

test("a run that comes quicker than an eye can follow leaves the engine its cores", () => {
  for (const backlog of [30, 300, 3000]) {
    assert.ok(playRate(1, backlog, backlog) >= 30);
    assert.ok(playRate(4, backlog, backlog) <= 40);
  }
});

test("of a short run every forward pass stands for 0.8 s at least, unless a higher speed is chosen", () => {
  for (const numPasses of [1, 7, 12]) assert.ok(1 / playRate(1, 0, numPasses) >= 0.8);
  assert.ok(1 / playRate(1, 11, 12) >= 0.8, "nor is it hurried while it comes in");
  assert.ok(playRate(2, 0, 12) > playRate(1, 0, 12));
});
