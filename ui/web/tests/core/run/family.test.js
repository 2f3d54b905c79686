import assert from "node:assert/strict";
import test from "node:test";
import { answerTokens, differences, differWords } from "../../../core/differences.js";
import { compareWithParent, Family } from "../../../watch/tree.js";
import { END, FIRST, PREFILL, reveals, runOf, SECOND, start, wire } from "../lines.js";

/** @param {string} id @param {string} ask @param {object} [second] */
const branch = (id, ask, second = SECOND) => {
  const lines = [start({ ask, pinned: [[1, 1]] }), PREFILL, FIRST, second, END];
  return runOf(wire(...lines.map((line) => ({ ...line, run: id }))));
};

function grown() {
  const family = new Family();
  const first = runOf();
  family.take(first);
  const a = branch("a", family.ask(first, { kind: "pin", position: 1 }));
  family.take(a);
  const other = { ...SECOND, reveals: reveals([0, 3]), committed: [3, 1] };
  const b = branch("b", family.ask(first, { kind: "branch", position: 1, pass: 1 }), other);
  family.take(b);
  const below = branch("c", family.ask(a, { kind: "gamma" }));
  family.take(below);
  return { family, runs: [first, a, below, b] };
}

test("branches stand below the run they came from, in the order of the tree", () => {
  const { family, runs } = grown();
  assert.deepEqual(
    family.nodes.map(({ run }) => run.id),
    runs.map(({ id }) => id),
  );
  assert.deepEqual(
    family.nodes.map(({ depth }) => depth),
    [0, 1, 2, 1],
  );
});

test("a branch says how it came to be", () => {
  const words = grown().family.nodes.map((node) => node.words);
  assert.deepEqual(words, [
    "first run",
    "pin “·world” at 1",
    "γ 0.10",
    "branch “·world” at 1, forward pass 2",
  ]);
});

test("a run that nobody asked for begins a new family", () => {
  const { family } = grown();
  family.take(branch("d", ""));
  assert.deepEqual(
    family.nodes.map(({ run }) => run.id),
    ["d"],
  );
});

test("stepping through the tree ends at either end", () => {
  const { family, runs } = grown();
  const [first, a, , b] = runs;
  assert.equal(family.neighbour(first ?? null, 1), a);
  assert.equal(family.neighbour(first ?? null, -1), first);
  assert.equal(family.neighbour(b ?? null, 1), b);
});

test("a branch is compared with its parent by the one diff", () => {
  const [first, a, , b] = grown().family.nodes;
  assert.ok(first && a && b);
  assert.equal(compareWithParent(first), null);
  assert.equal(compareWithParent(a)?.differ.onlyRight.size, 0);
  assert.deepEqual([...(compareWithParent(b)?.differ.onlyRight ?? [])], [0]);
});

test("an answer's tokens mark its end and join bytes", () => {
  const lines = wire(
    start({ tokens: { 1: "\\xC3", 2: "\\xA9" } }),
    { ...PREFILL, committed: [1, 2] },
    { ...END, finish: "end_of_sequence" },
  );
  const run = runOf(lines);
  assert.deepEqual(answerTokens(run, run.main), [
    { id: 1, text: "é", isEnd: false },
    { id: 2, text: "", isEnd: true },
  ]);
});

test("a second question does not take the place of one whose answer is on its way", () => {
  const family = new Family();
  const first = runOf();
  family.take(first);
  const asked = family.ask(first, { kind: "pin", position: 1 });
  family.ask(first, { kind: "branch", position: 1, pass: 0 });
  family.take(branch("a", asked));
  assert.deepEqual(
    family.nodes.map(({ run }) => run.id),
    ["r", "a"],
  );
  assert.equal(family.nodes[1]?.words, "pin “·world” at 1");
});

test("what was asked in a tree that is gone begins a tree of its own", () => {
  const family = new Family();
  const first = runOf();
  family.take(first);
  const asked = family.ask(first, { kind: "pin", position: 1 });
  family.take(branch("other", ""));
  family.take(branch("a", asked));
  assert.deepEqual(
    family.nodes.map(({ run, words }) => [run.id, words]),
    [["a", "first run"]],
  );
});

test("questions without an answer do not pile up", () => {
  const family = new Family();
  const first = runOf();
  for (let i = 0; i < 1000; i += 1) family.ask(first, { kind: "gamma" });
  assert.ok(family.asked.size <= 32);
});

test("what differs from the parent is said of both answers, tokens missing in this one too", () => {
  /** @param {number[]} left @param {number[]} right */
  const words = (left, right) => differWords(differences(left, right));
  assert.equal(words([1, 2, 3, 4], [1, 9, 4]), "1 differs, 1 missing");
  assert.equal(words([1, 2, 3, 4], [1, 4]), "2 missing");
  assert.equal(words([1, 2], [1, 2, 3, 4]), "2 added");
  assert.equal(words([1, 2], [1, 2]), "");
});
