// Sentences on a model that is not downloaded, and on how the chosen model differs from a run's.

import assert from "node:assert/strict";
import test from "node:test";
import {
  absenceWords,
  doesAnyTakeFollowUps,
  isOffered,
  modelDifference,
  setModels,
  takesFollowUps,
} from "../../models.ts";

const LARGE = {
  name: "large",
  title: "Large 135M",
  about: "",
  isHere: false,
  isChat: true,
  mayManage: true,
  megabytes: 98,
  done: 0,
  words: "",
  isFetching: false,
};
const SMALL = {
  name: "small",
  title: "small 5M",
  about: "",
  isHere: true,
  isChat: false,
  mayManage: false,
};

test("a damaged model is said to be, and can be downloaded anew", () => {
  const { words, action } = absenceWords({ ...LARGE, isDamaged: true }, "small 5M");
  assert.match(words, /^Large 135M is damaged here and downloaded anew, 98 MB, from/);
  assert.equal(action, "fetch_base");
});

test("a download that failed says why, who decodes and what to do", () => {
  const { words, label } = absenceWords({ ...LARGE, words: "no network" }, "small 5M");
  assert.match(words, /^Large 135M could not be downloaded, so small 5M decodes: no network\. Try/);
  assert.equal(label, "Try again");
});

test("a visitor of a public page is told that it is not there", () => {
  const { words, action } = absenceWords({ ...LARGE, mayManage: false }, "small 5M");
  assert.deepEqual([words, action], ["Large 135M is not on this server; small 5M decodes.", ""]);
});

test("a run of another model differs from what the form asks for", () => {
  assert.equal(modelDifference("small"), "");
  setModels([LARGE, SMALL], "large");
  assert.deepEqual([isOffered("small"), isOffered("other")], [true, false]);
  assert.equal(modelDifference("large"), "");
  assert.equal(modelDifference("small"), "Large 135M instead of small 5M");
  assert.equal(modelDifference("other"), "Large 135M instead of other");
  setModels([], "");
  assert.equal(modelDifference("small"), "");
});

test("only a model that takes conversations is asked on", () => {
  setModels([LARGE, SMALL], "small");
  assert.deepEqual(["large", "small", "unknown"].map(takesFollowUps), [true, false, false]);
  assert.equal(doesAnyTakeFollowUps(), true);
});
