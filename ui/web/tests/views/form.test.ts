// The form of a decode: its values, its slider and its advice.

import assert from "node:assert/strict";
import test from "node:test";
import { form } from "../../form/form.ts";
import { adviceWords, nearestStep, outsideWords } from "../../form/ways.ts";
import type { Model } from "../../models.ts";

const USUAL = { gammas: [0, 0.1, 1], blockRange: [2, 16] };

test("the thumb stands at the nearest step, at the end for what is beyond", () => {
  assert.equal(nearestStep(USUAL.gammas, 0.1), 1);
  assert.equal(nearestStep(USUAL.gammas, 0.4), 1);
  assert.equal(nearestStep(USUAL.gammas, 4), 2);
});

test("only what is outside the usual range is said, and that it is run", () => {
  assert.equal(outsideWords(USUAL, 1, 16), "");
  assert.match(outsideWords(USUAL, 4, 16), /runs as it is: γ 4 is above the usual 0 to 1\.$/);
  assert.match(outsideWords(USUAL, 0.1, 32), /blocks of 32 are outside the 2 to 16/);
  assert.equal(outsideWords(USUAL, 0.1, 1) + outsideWords(USUAL, 0.1, 100), "", "refused");
});

test("while blanks are to be filled in, verify is not advised", () => {
  const best = "Verify is best here; γ 0.1 gets less right.";
  assert.equal(adviceWords(best, false), best.replace("γ ", "γ\u00a0"));
  assert.match(adviceWords(best, true), /^Only Set Block Decoding fills in blanks/);
  assert.doesNotMatch(adviceWords(best, true), /erify/);
});

/** A model, as the server describes it. */
const MODEL = {
  isChat: false,
  canDraft: true,
  causalFirst: [0.5, "words"],
  form: { prompt: "p", strategy: "verify", gamma: 0.05, block_size: 4, repetition_penalty: 0 },
} as unknown as Model;

/** The page's form as a model begins it. */
function begun() {
  form.byHand = {};
  form.recordedPrompt = null;
  form.set({ template: "", system: "", max_new_tokens: 128 });
  form.takeModel(MODEL, false);
  form.set({ prompt: "p" });
  return form;
}

test("the form starts from the model's settings, and sends only what a decode uses", () => {
  const { request } = begun();
  assert.deepEqual(request, {
    strategy: "verify",
    max_rows: 0,
    repetition_penalty: 0,
    block_size: 4,
    max_new_tokens: 128,
    prompt: "p",
  });
  form.setByHand({ strategy: "sbd", gamma: 0.2 });
  assert.equal(form.request.gamma, 0.2);
  assert.ok(!("max_rows" in form.request) && !("k" in form.request) && !("seed" in form.request));
  form.setByHand({ solver: "random", k: 3 });
  assert.deepEqual([form.request.k, form.request.seed, "gamma" in form.request], [3, 0, false]);
});

test("a recorded run brings its settings, and another prompt brings back those made by hand", () => {
  begun().setByHand({ max_new_tokens: 64 });
  form.follow({
    prompt: "q",
    strategy: "sbd",
    solver: "entropy-bound",
    gamma: 1,
    max_new_tokens: 9,
  });
  form.type("q ");
  assert.deepEqual([form.values.gamma, form.values.max_new_tokens], [1, 9]);
  form.type("quite another");
  const { strategy, gamma, max_new_tokens } = form.values;
  assert.deepEqual([strategy, gamma, max_new_tokens], ["verify", 0.05, 64]);
  assert.equal(form.prompt, "quite another");
});

test("a setting made by hand stays when the prompt of a recorded run is changed", () => {
  begun().follow({ prompt: "q", strategy: "sbd", solver: "entropy-bound", gamma: 1 });
  form.setByHand({ gamma: 0.5 });
  form.type("another");
  assert.equal(form.values.gamma, 0.5);
});

test("blanks choose the strategy that fills them in, and no other is sent them", () => {
  begun().setByHand({ template: "It is ___." });
  assert.deepEqual([form.values.strategy, form.request.template], ["sbd", "It is ___."]);
  form.setByHand({ strategy: "ntp" });
  assert.ok(!("template" in form.request));
});

test("causal token first is a solver of Set Block Decoding, offered by models that have it", () => {
  begun().setByHand({ strategy: "sbd", solver: "causal-first" });
  assert.equal(form.kind, "causal-first");
  form.takeModel({ ...MODEL, causalFirst: null }, true);
  assert.equal(form.kind, "sbd");
});
