import assert from "node:assert/strict";
import test from "node:test";
import { CLEAR, Gif, Palette } from "../../share/gif/gif.js";

const [RED, BLUE] = [0xff0000ff, 0xffff0000];
const FIRST = new Uint32Array([RED, BLUE, RED, BLUE]);
const SECOND = new Uint32Array([RED, BLUE, RED, RED]);

/**
 * The indexes of an LZW stream with codes of 9 bits: enough for so few pixels.
 * @param {Uint8Array} bytes its blocks
 */
function decompress(bytes) {
  const data = [];
  for (let at = 0; bytes[at]; at += (bytes[at] ?? 0) + 1) {
    data.push(...bytes.subarray(at + 1, at + 1 + (bytes[at] ?? 0)));
  }
  const bits = data.flatMap((byte) => Array.from({ length: 8 }, (_, i) => (byte >> i) & 1));
  const codes = [];
  for (let i = 0; i + 9 <= bits.length; i += 9) {
    codes.push(bits.slice(i, i + 9).reduce((sum, bit, place) => sum + (bit << place), 0));
  }
  /** @type {number[][]} */
  const table = Array.from({ length: 258 }, (_, i) => [i]);
  /** @type {number[]} */
  const indexes = [];
  /** @type {number[] | null} */
  let last = null;
  for (const code of codes) {
    if (code === 256) continue;
    if (code === 257) break;
    /** @type {number[]} */
    const entry = table[code] ?? [...(last ?? []), last?.[0] ?? 0];
    if (last) table.push([...last, entry[0] ?? 0]);
    indexes.push(...entry);
    last = entry;
  }
  return indexes;
}

test("a palette finds the colours seen, and the nearest of others", () => {
  const palette = new Palette([FIRST]);
  assert.deepEqual(
    [RED, BLUE, 0xff0000e0].map((pixel) => palette.colours[palette.index(pixel)]),
    [
      [255, 0, 0],
      [0, 0, 255],
      [255, 0, 0],
    ],
  );
});

test("the file holds the first frame whole, and of the next what changed", async () => {
  const palette = new Palette([FIRST]);
  const gif = new Gif(2, 2, palette);
  gif.frame(FIRST, 0.25);
  gif.frame(SECOND, 3);
  const bytes = new Uint8Array(await gif.end().arrayBuffer());
  assert.equal(new TextDecoder().decode(bytes.subarray(0, 6)), "GIF89a");
  assert.equal(bytes.at(-1), 0x3b);
  const frames = [];
  for (let at = 13 + 768 + 19; bytes[at] === 0x21; ) {
    const seconds = ((bytes[at + 4] ?? 0) + 256 * (bytes[at + 5] ?? 0)) / 100;
    const image = at + 8;
    const box = [1, 3, 5, 7].map(
      (i) => (bytes[image + i] ?? 0) + 256 * (bytes[image + i + 1] ?? 0),
    );
    const blocks = bytes.subarray(image + 11);
    frames.push({ seconds, box, indexes: decompress(blocks) });
    let end = image + 11;
    while (bytes[end]) end += (bytes[end] ?? 0) + 1;
    at = end + 1;
  }
  const [red, blue] = [palette.index(RED), palette.index(BLUE)];
  assert.deepEqual(frames, [
    { seconds: 0.25, box: [0, 0, 2, 2], indexes: [red, blue, red, blue] },
    { seconds: 3, box: [1, 1, 1, 1], indexes: [red] },
  ]);
  assert.ok(CLEAR === 255);
});
