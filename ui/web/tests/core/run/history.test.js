import assert from "node:assert/strict";
import test from "node:test";
import { History } from "../../../core/run/history.js";
import { END, FIRST, PREFILL, SECOND, start, WHOLE, wire } from "../lines.js";

test("lines fold into a run", () => {
  const history = new History();
  assert.equal(history.accept(WHOLE), "run");
  assert.equal(history.run?.main.steps.length, 3);
  assert.equal(history.run?.main.finish, "length");
  assert.equal(history.run?.main.text, "Hello world");
});

test("lines that come twice or late are dropped", () => {
  const history = new History();
  history.accept(wire(start(), PREFILL, FIRST));
  assert.equal(history.accept(wire(start(), PREFILL, FIRST)), null);
  assert.equal(history.accept(wire(FIRST, SECOND)), "more");
  assert.equal(history.run?.main.steps.length, 3);
});

test("lines of an old run are dropped once another began", () => {
  const history = new History();
  history.accept(WHOLE);
  assert.equal(history.accept(wire(start({ run: "s" }))), "run");
  assert.equal(history.accept(wire({ ...END, seq: 9 })), null);
  assert.equal(history.run?.id, "s");
});

test("a line of a lane that the run does not have changes nothing", () => {
  const history = new History();
  history.accept(wire(start(), { ...PREFILL, lane: "ntp" }));
  assert.equal(history.run?.main.steps.length, 0);
});
