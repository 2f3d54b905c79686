// An animated GIF, written in the browser: one palette, and of each frame only the rectangle that
// changed, with what did not change left transparent. Knows no decoding and no DOM.

import { Bytes } from "./bytes.js";
import { compress } from "./lzw.js";
import { CLEAR } from "./palette.js";

/** @import { Palette } from "./palette.js" */

/**
 * The smallest rectangle that holds every changed pixel; null if none changed.
 * @param {Uint32Array} pixels
 * @param {Uint32Array | null} last
 * @param {number} width
 * @param {number} height
 */
function changedBox(pixels, last, width, height) {
  if (!last) return { left: 0, top: 0, right: width, bottom: height };
  let [left, right, top, bottom] = [width, 0, -1, 0];
  for (let y = 0, i = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, i += 1) {
      if (pixels[i] === last[i]) continue;
      if (top < 0) top = y;
      bottom = y + 1;
      if (x < left) left = x;
      if (x >= right) right = x + 1;
    }
  }
  return top < 0 ? null : { left, top, right, bottom };
}

/** One animation: make it, add its frames, end it. */
export class Gif {
  /**
   * @param {number} width
   * @param {number} height
   * @param {Palette} palette
   */
  constructor(width, height, palette) {
    this.width = width;
    this.height = height;
    this.palette = palette;
    /** @type {Uint32Array | null} */
    this.last = null;
    this.bytes = new Bytes();
    this.bytes.push(...new TextEncoder().encode("GIF89a"));
    this.bytes.short(width);
    this.bytes.short(height);
    this.bytes.push(0xf7, CLEAR, 0); // one table of 256 colours for all frames
    for (let i = 0; i < 256; i += 1) this.bytes.push(...(palette.colours[i] ?? [0, 0, 0]));
    this.bytes.push(0x21, 0xff, 11, ...new TextEncoder().encode("NETSCAPE2.0"), 3, 1, 0, 0, 0);
  }

  /**
   * Add a picture (Uint32Array of RGBA pixels) that stands for `seconds`.
   * @param {Uint32Array} pixels
   * @param {number} seconds
   */
  frame(pixels, seconds) {
    const box = changedBox(pixels, this.last, this.width, this.height) ?? {
      left: 0,
      top: 0,
      right: 1,
      bottom: 1,
    };
    const { bytes } = this;
    const [width, height] = [box.right - box.left, box.bottom - box.top];
    bytes.push(0x21, 0xf9, 4, 0x05); // keep the frame, the last colour is transparent
    bytes.short(Math.round(seconds * 100));
    bytes.push(CLEAR, 0, 0x2c);
    for (const value of [box.left, box.top, width, height]) bytes.short(value);
    bytes.byte(0);
    compress(bytes, this.indexes(pixels, box, width * height));
    this.last = pixels;
  }

  /**
   * @param {Uint32Array} pixels
   * @param {{ left: number, top: number, right: number, bottom: number }} box
   * @param {number} count
   */
  indexes(pixels, box, count) {
    const { palette, last } = this;
    const indexes = new Uint8Array(count);
    let at = 0;
    for (let y = box.top; y < box.bottom; y += 1) {
      for (let i = y * this.width + box.left; i < y * this.width + box.right; i += 1, at += 1) {
        indexes[at] = last && pixels[i] === last[i] ? CLEAR : palette.index(pixels[i]);
      }
    }
    return indexes;
  }

  end() {
    this.bytes.byte(0x3b);
    return this.bytes.blob("image/gif");
  }
}
