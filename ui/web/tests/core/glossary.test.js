import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { glossaryKey, wordPieces } from "../../core/words.js";

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
    /** @type {Record<string, string>[]} */
    const rows = JSON.parse(text);
    const found = rows.flatMap((row) => Object.values(row)).flatMap(wordPieces);
    assert.ok(
      found.some(({ key }) => key),
      `${name} explains no word`,
    );
    // A bracket that is left in plain text named a word that is not there.
    for (const { text, key } of found) assert.doesNotMatch(key ? "" : text, /[[\]]/, name);
  }
});
