import assert from "node:assert/strict";
import test from "node:test";
import { besidePlain, briefly, verdictParts } from "../../../watch/verdict.js";
import { END, PREFILL, runOf, start, wire } from "../lines.js";

test("the verdict of a lane comes with its end, and may be missing", () => {
  const verdict = { right: false, words: "Wrong." };
  assert.deepEqual(runOf(wire(start(), PREFILL, { ...END, verdict })).main.verdict, verdict);
  assert.equal(runOf().main.verdict, null);
});

test("a checker that was not run says why, no checker that nothing knows", () => {
  const words = "Not judged: it has to be run.";
  assert.deepEqual(verdictParts({ right: null, words }), { judged: null, open: words });
  assert.equal(verdictParts(null).judged, null);
  assert.match(verdictParts(null).open, /no check fits this prompt/);
  const wrong = { right: false, words: "Wrong." };
  assert.equal(verdictParts(wrong).judged, wrong);
});

test("a verdict without its reason is its first word", () => {
  assert.equal(briefly("Right: the answer is 12."), "Right");
  assert.equal(briefly("Wrong."), "Wrong");
  assert.equal(briefly("Valid JSON; nothing checked it."), "Valid JSON; nothing checked it");
});

test("where wide forward passes round otherwise, a token that differs is explained by it", () => {
  const against = { positions: new Set([3]), words: "1 differs", parting: 3 };
  assert.match(besidePlain(against, "equal up to rounding").reason, /rounds otherwise/);
  assert.doesNotMatch(besidePlain(against, "probed").reason, /round/);
  assert.doesNotMatch(besidePlain(against, "").reason, /round/);
});
