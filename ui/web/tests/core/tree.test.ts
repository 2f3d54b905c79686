// The tree of runs and their branches: how a run differs from its parent.

import assert from "node:assert/strict";
import test from "node:test";
import { answerTokens, differences, differWords } from "../../core/differences.ts";
import { compareWithParent, RunTree } from "../../watch/tree.ts";
import { END, FIRST, FIRST_GIVEN, PREFILL, reveals, runOf, SECOND, start, wire } from "./lines.ts";

const branch = (id: string, ask: string, second: object = SECOND) => {
  const lines = [start({ ask, pinned: [[1, 1]] }), PREFILL, FIRST, second, END];
  return runOf(wire(...lines.map((line) => ({ ...line, run: id }))));
};

function grown() {
  const runTree = new RunTree();
  const first = runOf();
  runTree.add(first);
  const a = branch("a", runTree.request(first, { kind: "pin", position: 1 }));
  runTree.add(a);
  const other = { ...SECOND, reveals: reveals([0, 3]), committed: [3, 1] };
  const b = branch("b", runTree.request(first, { kind: "branch", position: 1, pass: 1 }), other);
  runTree.add(b);
  const below = branch("c", runTree.request(a, { kind: "gamma" }));
  runTree.add(below);
  return { runTree, runs: [first, a, below, b] };
}

const shown = ({ nodes }: RunTree) =>
  nodes.map(({ run, depth, words }) => `${run.id} ${depth} ${words}`);

test("branches stand below the run they came from, and say how they came to be", () => {
  const { runTree } = grown();
  const first = ["r 0 first run", "a 1 pin “·world” at 1", "c 2 γ 0.10"];
  assert.deepEqual(shown(runTree), [...first, "b 1 branch “·world” at 1, forward pass 2"]);
  runTree.add(branch("d", ""));
  assert.deepEqual(shown(runTree), ["d 0 first run"], "nobody asked for it");
});

test("stepping through the tree ends at either end", () => {
  const { runTree, runs } = grown();
  const [first, a, , b] = runs;
  assert.equal(runTree.neighbour(first ?? null, 1), a);
  assert.equal(runTree.neighbour(first ?? null, -1), first);
  assert.equal(runTree.neighbour(b ?? null, 1), b);
});

test("a branch is compared with its parent by the one diff", () => {
  const [first, a, , b] = grown().runTree.nodes;
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
    { position: 0, id: 1, text: "é", isEnd: false },
    { position: 1, id: 2, text: "", isEnd: true },
  ]);
});

test("a second question does not take the place of one whose answer is on its way", () => {
  const runTree = new RunTree();
  const first = runOf();
  runTree.add(first);
  const asked = runTree.request(first, { kind: "pin", position: 1 });
  runTree.request(first, { kind: "branch", position: 1, pass: 0 });
  runTree.add(branch("a", asked));
  assert.deepEqual(shown(runTree), ["r 0 first run", "a 1 pin “·world” at 1"]);
});

test("what was asked in a tree that is gone begins a tree of its own", () => {
  const runTree = new RunTree();
  const first = runOf();
  runTree.add(first);
  const asked = runTree.request(first, { kind: "pin", position: 1 });
  runTree.add(branch("other", ""));
  runTree.add(branch("a", asked));
  assert.deepEqual(shown(runTree), ["a 0 first run"]);
});

test("questions without an answer do not pile up", () => {
  const runTree = new RunTree();
  const first = runOf();
  for (let i = 0; i < 1000; i += 1) runTree.request(first, { kind: "gamma" });
  assert.ok(runTree.requests.size <= 32);
});

test("what differs from the parent is said of both answers, tokens missing in this one too", () => {
  const words = (left: number[], right: number[]) => differWords(differences(left, right));
  assert.equal(words([1, 2, 3, 4], [1, 9, 4]), "1 differs, 1 missing");
  assert.equal(words([1, 2, 3, 4], [1, 4]), "2 missing");
  assert.equal(words([1, 2], [1, 2, 3, 4]), "2 added");
  assert.equal(words([1, 2], [1, 2]), "");
});

const ids = (text: string) => [...text].map((letter) => letter.charCodeAt(0));

const CASES: [
  ours: string,
  onlyLeft: number[],
  onlyRight: number[],
  missing: [number, number][],
][] = [
  ["abcdef", [], [], []],
  ["abXdef", [2], [2], []],
  ["abdef", [2], [], [[2, 1]]],
  ["abcXYdef", [], [3, 4], []],
  ["abX", [2, 3, 4, 5], [2], [[3, 3]]],
  ["XYZXYZ", [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], []],
  ["", [0, 1, 2, 3, 4, 5], [], [[0, 6]]],
];

for (const [ours, onlyLeft, onlyRight, missing] of CASES) {
  test(`abcdef beside "${ours}" differs by the fewest edits`, () => {
    const differ = differences(ids("abcdef"), ids(ours));
    assert.deepEqual([...differ.onlyLeft], onlyLeft);
    assert.deepEqual([...differ.onlyRight], onlyRight);
    assert.deepEqual([...differ.missing], missing);
  });
}

test("what is not marked is the same on both sides, in order", () => {
  const random = (() => {
    let state = 1;
    return () => {
      state = (state * 48271) % 2147483647;
      return state;
    };
  })();
  for (let round = 0; round < 50; round += 1) {
    const [left, right] = [8, 11].map((size) => Array.from({ length: size }, () => random() % 4));
    const { onlyLeft, onlyRight } = differences(left ?? [], right ?? []);
    assert.deepEqual(
      left?.filter((_, index) => !onlyLeft.has(index)),
      right?.filter((_, index) => !onlyRight.has(index)),
    );
  }
});

test("the run that an ending is compared with is named", () => {
  const runTree = new RunTree();
  const first = runOf();
  runTree.add(first);
  const pins = { pinned: [[1, 1]] as [number, number][] };
  const ask = runTree.request(first, { kind: "pin", position: 1 });
  const second = runOf(wire(start({ ask, ...pins }), PREFILL, FIRST_GIVEN, SECOND, END));
  runTree.add(second);
  const again = runTree.request(second, { kind: "gamma" });
  runTree.add(runOf(wire(start({ ask: again, ...pins }), PREFILL, FIRST, SECOND, END)));
  const [, pin, gamma] = runTree.nodes;
  assert.ok(pin && gamma);
  assert.deepEqual([pin.parent?.words, gamma.parent], ["first run", pin]);
});
