// How numbers, tokens and glossary words are written on the page.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import {
  directionOf,
  joinBytes,
  lanePieces,
  markOf,
  type Piece,
  tokenBytes,
  tokenName,
  tokenPieces,
} from "../../core/letters.ts";
import {
  countInWords,
  countOf,
  formatChange,
  formatNats,
  formatPercent,
  formatRaceSeconds,
  formatSeconds,
  listInWords,
  median,
  tickStep,
} from "../../core/numbers.ts";
import { glossaryKey, wordPieces } from "../../core/words.ts";

test("numbers are written with the digits a reader needs", () => {
  assert.equal(formatNats(0.126), "0.13");
  assert.equal(formatPercent(0.9876), "98.8%");
  assert.deepEqual([0.084, 0.0996, 1.254, 12.34].map(formatSeconds), [
    "84 ms",
    "0.10 s",
    "1.25 s",
    "12.3 s",
  ]);
  assert.deepEqual([0.84, 0.9996, 9.996].map(formatRaceSeconds), ["840 ms", "1.00 s", "10.0 s"]);
});

test("an entropy that fell is not shown as one that stayed", () => {
  assert.equal(formatChange(0.0041, 0.0002), "0.004 → 0.000");
  assert.equal(formatChange(0.0004, 0.0002), "0.0004 → 0.0002");
  assert.equal(formatChange(2, 0.4), "2.00 → 0.40");
  assert.equal(formatChange(0, 0), "0.00 → 0.00");
});

test("a count has the right plural", () => {
  assert.deepEqual(
    [countOf(1, "token"), countOf(0, "token"), countOf(2, "pass"), countOf(1, "pass")],
    ["1 token", "0 tokens", "2 passes", "1 pass"],
  );
});

test("the median is the middle one, or the mean of the two in the middle", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.equal(median([7]), 7);
});

test("small counts are words in a sentence, larger ones digits", () => {
  assert.deepEqual(
    [0, 1, 3, 13].map((count) => countInWords(count, "token")),
    ["no tokens", "one token", "three tokens", "13 tokens"],
  );
});

test("a list ends in a word, and of one is itself", () => {
  assert.equal(listInWords(["another prompt"]), "another prompt");
  assert.equal(
    listInWords(["another prompt", "γ 1 instead of 2"]),
    "another prompt and γ 1 instead of 2",
  );
  assert.equal(listInWords(["a", "b", "c"]), "a, b, and c");
});

test("ticks lie as far apart as their words need, and nowhere on cells without room", () => {
  assert.deepEqual(
    [30, 15, 3, 0.01].map((cell) => tickStep(24, cell)),
    [1, 2, 10, 5000],
  );
  assert.deepEqual(
    [0, -3].map((cell) => tickStep(24, cell)),
    [Infinity, Infinity],
  );
});

test("words in brackets become words of the glossary, with the signs that stand at them", () => {
  const plain = { key: "", before: "", after: "" };
  assert.deepEqual(wordPieces("a [mask] b"), [
    { ...plain, text: "a " },
    { ...plain, text: "mask", key: "mask" },
    { ...plain, text: " b" },
  ]);
  assert.deepEqual(wordPieces("([Masks|mask]), b"), [
    { text: "Masks", key: "mask", before: "(", after: ")," },
    { ...plain, text: " b" },
  ]);
  assert.deepEqual(wordPieces(""), []);
  assert.equal(glossaryKey("γ"), "gamma");
});

test("every text of the page names only words that the glossary has", () => {
  for (const name of ["learn/words.json", "charts.json", "roofline.json"]) {
    const text = readFileSync(new URL(`../../../../assets/${name}`, import.meta.url), "utf8");
    const rows: Record<string, string>[] = JSON.parse(text);
    const found = rows.flatMap((row) => Object.values(row)).flatMap(wordPieces);
    assert.ok(
      found.some(({ key }) => key),
      `${name} explains no word`,
    );
    // A bracket left in plain text is a word that the glossary lacks.
    for (const { text, key } of found) assert.doesNotMatch(key ? "" : text, /[[\]]/, name);
  }
});

test("what cannot be seen has a mark", () => {
  assert.deepEqual([" ", "\n", "\r", "\t"].map(markOf), ["·", "⏎", "␍", "⇥"]);
  assert.equal(markOf("\u202e"), "U+202E");
  assert.equal(markOf("\\xC3"), "\\xC3");
  assert.equal(markOf("a"), null);
});

/** Pieces as one string: each with its kind before it. */
const told = (pieces: Piece[]) => pieces.map(([text, kind]) => `${kind}:${text}`).join("|");

test("a token alone shows its edge spaces, and keeps those between its words", () => {
  assert.equal(told(tokenPieces(" cat")), "mark:·|:cat");
  assert.equal(told(tokenPieces("a b")), ":a b");
  assert.equal(told(tokenPieces("")), "mark:∅");
  assert.equal(told(tokenPieces("\ud83d")), "mark:U+D83D", "half a surrogate pair");
  assert.equal(tokenName("<b>"), "“<b>”");
});

test("inside a text only spaces that are easily missed get a dot", () => {
  assert.equal(told(lanePieces(" cat", "a", "s")), ": cat");
  assert.equal(told(lanePieces(" cat", " ", "s")), "space: |:cat");
  assert.equal(told(lanePieces("a\n\tb", "", "…")), ":a|break:\n|tab:\t|:b");
});

const inRow = (...texts: string[]) => texts.map((text, position) => ({ position, text }));

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

test("a text runs in the direction of its first letter", () => {
  for (const text of ["שלום 12 abc", "12 مرحبا", "… “שלום”"])
    assert.equal(directionOf(text), "rtl");
  for (const text of ["hello שלום", "12", "", "éa"]) assert.equal(directionOf(text), "ltr");
});
