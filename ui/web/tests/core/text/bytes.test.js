import assert from "node:assert/strict";
import test from "node:test";
import { joinBytes, tokenBytes } from "../../../core/text/bytes.js";

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
