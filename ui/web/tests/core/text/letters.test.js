import assert from "node:assert/strict";
import test from "node:test";
import {
  joinBytes,
  lanePieces,
  markOf,
  tokenBytes,
  tokenName,
  tokenPieces,
} from "../../../core/letters.js";

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

/** @param {string[]} texts */
const inRow = (...texts) => texts.map((text, position) => ({ position, text }));

test("a token of whole text has no bytes of its own", () => {
  assert.equal(tokenBytes("é"), null);
  assert.deepEqual(tokenBytes("a\\xC3"), [0x61, 0xc3]);
});

test("neighbours that spell a character are joined", () => {
  const joined = joinBytes(inRow("x", "\\xC3", "\\xA9", "y"));
  assert.deepEqual(
    [...joined],
    [
      [1, { text: "é", index: 0, count: 2 }],
      [2, { text: "é", index: 1, count: 2 }],
    ],
  );
});

test("a character of four bytes waits for its last", () => {
  assert.equal(joinBytes(inRow("\\xF0", "\\x9F", "\\x98")).size, 0);
  assert.equal(joinBytes(inRow("\\xF0", "\\x9F", "\\x98", "\\x80")).get(3)?.text, "😀");
});

test("bytes that are no neighbours, or begin nothing, stay parts", () => {
  const apart = [
    { position: 0, text: "\\xC3" },
    { position: 2, text: "\\xA9" },
  ];
  assert.equal(joinBytes(apart).size, 0);
  assert.equal(joinBytes(inRow("\\xA9", "\\xC3")).size, 0);
});
