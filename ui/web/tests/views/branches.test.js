import assert from "node:assert/strict";
import test from "node:test";
import { passMark, tileState } from "../../watch/playhead.js";
import { comparedWords, Family } from "../../watch/tree.js";
import { END, FIRST, FIRST_GIVEN, PREFILL, runOf, SECOND, start, wire } from "../core/lines.js";

/** @import { View } from "../../watch/playhead.js" */

test("the run that an ending is compared with is named", () => {
  const family = new Family();
  const first = runOf();
  family.take(first);
  const pins = { pinned: /** @type {[number, number][]} */ ([[1, 1]]) };
  const ask = family.ask(first, { kind: "pin", position: 1 });
  const second = runOf(wire(start({ ask, ...pins }), PREFILL, FIRST_GIVEN, SECOND, END));
  family.take(second);
  const again = family.ask(second, { kind: "gamma" });
  family.take(runOf(wire(start({ ask: again, ...pins }), PREFILL, FIRST, SECOND, END)));
  const [, pin, gamma] = family.nodes;
  assert.ok(pin && gamma);
  assert.equal(comparedWords(pin), "compared with the first run");
  assert.equal(comparedWords(gamma), `compared with ${pin.words}`);
});

test("a pinned cell of the grid says so, as its tile does, and no forward pass", () => {
  const run = runOf(wire(start({ pinned: [[1, 1]] }), PREFILL, FIRST_GIVEN, SECOND, END));
  const view = /** @type {View} */ (/** @type {unknown} */ ({ run, pass: 2 }));
  assert.deepEqual(
    [0, 1].map((cell) => passMark(tileState(view, cell))),
    ["#3", "set"],
  );
});
