import assert from "node:assert/strict";
import test from "node:test";
import constants from "../../constants.json" with { type: "json" };
import { SOLVERS } from "../../engine/decoding/settings.js";
import { ranked } from "../../engine/decoding/solvers.js";
import { Generator } from "../../engine/random.js";

/** @import { Solver } from "../../engine/decoding/settings.js" */

const MASKED = [0, 2, 3];
const SCORES = {
  entropy: [1, 0, 2, 0.5],
  probability: [0.5, 1, 0.3, 0.8],
  margin: [0.1, 1, 0, 0.6],
};
const EVERY_PARAMETER = /** @type {Solver} */ (Object.assign({}, ...Object.values(SOLVERS)));

test("the engine has every solver that the form offers, and each reveals a masked position", () => {
  assert.deepEqual(Object.keys(SOLVERS).sort(), Object.keys(constants.solverNames).sort());
  for (const [name, parameters] of Object.entries(SOLVERS)) {
    const solver = { ...EVERY_PARAMETER, name, ...parameters };
    const found = ranked(solver, SCORES, MASKED, new Generator(0));
    assert.ok(found.length > 0 && found.every((position) => MASKED.includes(position)), name);
  }
});

test("a rule that the engine has not got is refused, not taken for another", () => {
  const solver = { ...EVERY_PARAMETER, name: "nobody" };
  assert.throws(() => ranked(solver, SCORES, MASKED, new Generator(0)), /solver/);
});
