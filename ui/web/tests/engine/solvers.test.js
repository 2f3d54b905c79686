import assert from "node:assert/strict";
import test from "node:test";
import constants from "../../constants.json" with { type: "json" };
import { readSettings, SOLVERS } from "../../engine/decoding/settings.js";
import { ranked } from "../../engine/decoding/solvers.js";
import { Generator } from "../../engine/random.js";

const MASKED = [0, 2, 3];
const SCORES = {
  entropy: [1, 0, 2, 0.5],
  probability: [0.7, 1, 0.3, 0.6],
  margin: [0.1, 1, 0.3, 0],
};
const SETTINGS = { gamma: 1, tau: 0.6, factor: 1.3, k: 2, by: "confidence" };
/** By hand, of the definitions. @type {Record<string, number[]>} */
const REVEALED = {
  "entropy-bound": [3, 0],
  "entropy-bound-by-confidence": [0, 3],
  "entropy-bound-by-margin": [2, 0],
  "entropy-bound-from-left": [0, 3],
  "causal-first": [0],
  "entropy-threshold": [3],
  "confidence-threshold": [0, 3],
  factor: [0, 3],
  "top-k": [0, 3],
  "left-to-right": [0, 2],
};

test("the engine has every solver that the form offers, and each reveals what its rule says", () => {
  assert.deepEqual(Object.keys(SOLVERS).sort(), Object.keys(constants.solverNames).sort());
  for (const name of Object.keys(SOLVERS)) {
    const found = ranked({ ...SETTINGS, name }, SCORES, MASKED, new Generator(0));
    if (name !== "random") assert.deepEqual(found, REVEALED[name], name);
    else assert.ok(found.length === 2 && found.every((offset) => MASKED.includes(offset)));
  }
});

test("top-k goes by the measure it is told", () => {
  for (const [by, revealed] of Object.entries({ entropy: [3, 0], margin: [2, 0] })) {
    const solver = { ...SETTINGS, name: "top-k", by };
    assert.deepEqual(ranked(solver, SCORES, MASKED, new Generator(0)), revealed);
  }
});

test("a rule that the engine has not got is refused, not taken for another", () => {
  const solver = { ...SETTINGS, name: "nobody" };
  assert.throws(() => ranked(solver, SCORES, MASKED, new Generator(0)), /solver/);
});

test("a temperature is refused, not left out: nothing here draws tokens", () => {
  assert.equal(readSettings({ temperature: 0 }).temperature, 0);
  assert.throws(
    () => readSettings({ temperature: 0.7 }),
    /^Error: temperature: must be 0 .*; got 0.7$/,
  );
});
