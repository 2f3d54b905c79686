import assert from "node:assert/strict";
import test from "node:test";
import { recordOf, treeOf } from "../../saved_runs.js";
import { Family } from "../../watch/tree.js";
import { PREFILL, runOf, start, wire } from "../core/lines.js";

/** @param {string} id @param {string} [ask] */
const open = (id, ask = "") => runOf(wire({ ...start({ ask }), run: id }, { ...PREFILL, run: id }));

function family() {
  const grown = new Family();
  const first = runOf();
  grown.take(first);
  const branch = open("b", grown.ask(first, { kind: "gamma" }));
  grown.take(branch);
  return { grown, first, branch };
}

test("a tree comes back as it was: runs, parents, words, the run shown and its pass", () => {
  const { grown, branch } = family();
  const record = recordOf(grown, branch, 0);
  const tree = treeOf(JSON.parse(JSON.stringify(record)));
  assert.ok(tree);
  assert.equal(tree.shown.id, "b");
  assert.deepEqual(
    tree.nodes.map(({ run, parent, words, depth }) => [run.id, parent?.run.id, words, depth]),
    [
      ["r", undefined, "first run", 0],
      ["b", "r", "γ 0.10", 1],
    ],
  );
  assert.equal(tree.nodes[0]?.run.main.text, "Hello world");
});

test("a run that was cut off stands where it was cut", () => {
  const { grown, first } = family();
  const tree = treeOf(recordOf(grown, first, 2) ?? assert.fail());
  assert.deepEqual(
    tree?.nodes.map(({ run }) => [run.isStopped, run.isComplete]),
    [
      [false, true],
      [true, true],
    ],
  );
});

test("the opening run alone is not worth keeping", () => {
  const alone = new Family();
  const opening = open("opening");
  alone.take(opening);
  assert.equal(recordOf(alone, opening, 0), null);
});

test("a record of another version, or none, is no tree", () => {
  const { grown, first } = family();
  assert.equal(treeOf(undefined), null);
  const record = recordOf(grown, first, 0) ?? assert.fail();
  assert.equal(treeOf({ ...record, version: 0 }), null);
});
