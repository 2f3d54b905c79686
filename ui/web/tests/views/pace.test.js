import assert from "node:assert/strict";
import test from "node:test";
import { playRate, revealPace } from "../../dom/pace.js";

test("a reveal is gentle when slow and keeps up when quick", () => {
  const [slow, quick] = [revealPace(1000), revealPace(1000 / 30)];
  assert.ok(slow.settle >= 400);
  assert.ok(quick.settle + quick.spread <= 60);
});

test("a live run is played as quickly as it comes, unless slow motion is wanted", () => {
  assert.equal(playRate(1, 0), 3);
  assert.ok(playRate(1, 15) >= 15);
  assert.equal(playRate(0.5, 300), 1.5);
});

test("a run that comes quicker than an eye can follow leaves the engine its cores", () => {
  for (const backlog of [30, 300, 3000]) {
    assert.ok(playRate(1, backlog) >= 30);
    assert.ok(playRate(4, backlog) <= 40);
  }
});
