import assert from "node:assert/strict";
import test from "node:test";
import { lanePieces, markOf, tokenName, tokenPieces } from "../../../core/text/letters.js";

test("what cannot be seen has a mark", () => {
  assert.deepEqual([" ", "\n", "\r", "\t"].map(markOf), ["·", "⏎", "␍", "⇥"]);
  assert.equal(markOf("\u202e"), "U+202E");
  assert.equal(markOf("\\xC3"), "\\xC3");
  assert.equal(markOf("a"), null);
});

test("a token alone shows its edge spaces, and keeps those between its words", () => {
  assert.deepEqual(tokenPieces(" cat"), [
    ["·", "mark"],
    ["cat", ""],
  ]);
  assert.deepEqual(tokenPieces("a b"), [["a b", ""]]);
  assert.deepEqual(tokenPieces(""), [["∅", "mark"]]);
});

test("a lone surrogate half does not break the pieces", () => {
  assert.deepEqual(tokenPieces("\ud83d"), [["U+D83D", "mark"]]);
});

test("inside a text only spaces that are easily missed get a dot", () => {
  assert.deepEqual(lanePieces(" cat", "a", "s"), [[" cat", ""]]);
  assert.deepEqual(lanePieces(" cat", " ", "s"), [
    [" ", "space"],
    ["cat", ""],
  ]);
  assert.deepEqual(lanePieces("a\n\tb", "", "…"), [
    ["a", ""],
    ["\n", "break"],
    ["\t", "tab"],
    ["b", ""],
  ]);
});

test("markup stays text", () => {
  assert.equal(tokenName("<b>"), "“<b>”");
});
