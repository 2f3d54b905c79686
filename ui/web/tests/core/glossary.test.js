import assert from "node:assert/strict";
import test from "node:test";
import constants from "../../constants.json" with { type: "json" };
import { GLOSSARY, SOLVER_LINES } from "../../core/glossary.js";

test("every solver that the form offers has its line, and no other", () => {
  assert.deepEqual(Object.keys(SOLVER_LINES).sort(), Object.keys(constants.solverNames).sort());
});

test("the words a stranger asked for are there, each in a sentence", () => {
  const names = Object.values(GLOSSARY).map(({ name }) => name);
  for (const name of [
    "nats",
    "entropy",
    "forward pass",
    "causal",
    "hindsight",
    "solver",
    "γ",
    "draft",
    "drafted ahead",
  ]) {
    assert.ok(names.includes(name), name);
  }
  for (const { words } of Object.values(GLOSSARY)) assert.match(words, /^[A-Z].*\.$/);
});
