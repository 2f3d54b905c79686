// How the chosen model differs from a run's.

import assert from "node:assert/strict";
import test from "node:test";
import { isOffered, type Model, modelDifference, setChosen, setModels } from "../../models.ts";

const LARGE = { name: "large", title: "Large 135M" } as Model;
const SMALL = { name: "small", title: "small 5M" } as Model;

test("a run of another model differs from what the form asks for", () => {
  assert.equal(modelDifference("small"), "");
  setModels([LARGE, SMALL]);
  assert.deepEqual([isOffered("small"), isOffered("other")], [true, false]);
  assert.equal(modelDifference("large"), "");
  assert.equal(modelDifference("small"), "Large 135M instead of small 5M");
  assert.equal(modelDifference("other"), "Large 135M instead of other");
  setChosen("small");
  assert.equal(modelDifference("small"), "");
});

test("a page with one model offers no choice, so no run differs by its model", () => {
  setModels([SMALL]);
  assert.equal(isOffered("small"), false);
  assert.equal(modelDifference("large"), "");
});
