// A figure in the light and the dark theme, a chart's description, and the query in the roofline's address.

import assert from "node:assert/strict";
import test from "node:test";
import { withChanges, wordsFor } from "../../charts.ts";
import { hashOf, queryAt } from "../../roofline.ts";

const FIGURE = {
  data: [{ x: [1, 2], marker: { color: "blue", size: 3 } }, { x: [3] }],
  layout: { font: { color: "black" }, shapes: [{ line: { color: "red" } }] },
};

test("changes are set where they stand, items of a list by their index", () => {
  const dark = withChanges(FIGURE, {
    data: { 0: { marker: { color: "white" } } },
    layout: { font: { color: "grey" }, shapes: { 0: { line: { color: "pink" } } } },
  });
  assert.deepEqual(dark, {
    data: [{ x: [1, 2], marker: { color: "white", size: 3 } }, { x: [3] }],
    layout: { font: { color: "grey" }, shapes: [{ line: { color: "pink" } }] },
  });
});

test("a list takes the place of a list whole, and nothing old is touched", () => {
  const before = structuredClone(FIGURE);
  assert.deepEqual(withChanges(FIGURE, { data: { 1: { x: [4, 5] } } }).data[1], { x: [4, 5] });
  assert.deepEqual(FIGURE, before);
  assert.equal(withChanges(FIGURE, undefined), FIGURE);
  assert.deepEqual(withChanges(FIGURE, {}), FIGURE);
});

test("what was not there is added", () => {
  assert.deepEqual(withChanges({ a: null }, { a: { b: 1 }, c: 2 }), { a: { b: 1 }, c: 2 });
});

test("a chart says of a strategy what it has of it, else what it says of every other", () => {
  const row = { id: "a", title: "A", words: "read again", verify: "read at once" };
  const words = (strategy: string) => wordsFor([row], strategy)[0]?.words;
  assert.deepEqual(
    [words("verify"), words("ntp"), words("sbd"), words("id")],
    ["read at once", "read again", "read again", "read again"],
  );
});

const DEFAULTS = { device: "h100", block: 16, speed: 3.4 };

test("an address gives back the query it was made of", () => {
  const query = { device: "a b&c=d#", block: "8", speed: 3.4 };
  const hash = hashOf(query, DEFAULTS);
  assert.equal(hash, "#roofline?device=a+b%26c%3Dd%23&block=8");
  assert.deepEqual(queryAt(hash, DEFAULTS), { ...query, speed: 3.4 });
});

test("the defaults need no words, other views no query", () => {
  assert.equal(hashOf({ ...DEFAULTS, block: "16" }, DEFAULTS), "#roofline");
  for (const hash of ["#roofline", "#roofline?"]) {
    assert.deepEqual(queryAt(hash, DEFAULTS), DEFAULTS);
  }
  for (const hash of ["", "#learn/2", "#rooflinex"]) {
    assert.equal(queryAt(hash, DEFAULTS), null);
  }
});

test("a field that is empty, unknown or broken does no harm", () => {
  const found = queryAt("#roofline?block=&what=1&device=%E0%A4%A&speed=NaN", DEFAULTS);
  assert.equal(found?.block, "");
  assert.equal(found?.speed, "NaN");
  assert.deepEqual(Object.keys(found ?? {}), Object.keys(DEFAULTS));
});
