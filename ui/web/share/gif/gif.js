// An animated GIF, written in the browser: one palette, and of each frame only the rectangle that
// changed, with what did not change left transparent. Knows no decoding and no DOM.

/** Bytes that grow. */
class Bytes {
  constructor() {
    /** @type {Uint8Array<ArrayBuffer>[]} */
    this.parts = [];
    this.part = new Uint8Array(65_536);
    this.length = 0;
  }

  /**
   * A few bytes.
   * @param {number[]} values
   */
  push(...values) {
    for (const value of values) this.byte(value);
  }

  /** @param {number} value */
  byte(value) {
    if (this.length === this.part.length) {
      this.parts.push(this.part);
      this.part = new Uint8Array(65_536);
      this.length = 0;
    }
    this.part[this.length] = value;
    this.length += 1;
  }

  /**
   * Two bytes, the lower first.
   * @param {number} value
   */
  short(value) {
    this.push(value & 255, value >> 8);
  }

  /**
   * The whole file.
   * @param {string} type
   */
  blob(type) {
    return new Blob([...this.parts, this.part.subarray(0, this.length)], { type });
  }
}

const FIRST_BITS = 8; // LZW's code size for 256 colours

const FULL_TABLE = 4096;

/** Writes LZW codes as GIF's blocks of at most 255 bytes. */
class CodeWriter {
  /** @param {Bytes} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.block = new Uint8Array(255);
    this.used = 0;
    this.bits = 0;
    this.numBits = 0;
  }

  /**
   * @param {number} value
   * @param {number} size
   */
  code(value, size) {
    this.bits |= value << this.numBits;
    this.numBits += size;
    while (this.numBits >= 8) this.flushByte();
  }

  flushByte() {
    this.block[this.used] = this.bits & 255;
    this.used += 1;
    this.bits >>>= 8;
    this.numBits -= 8;
    if (this.used === 255) this.flushBlock();
  }

  flushBlock() {
    if (!this.used) return;
    this.bytes.byte(this.used);
    for (let i = 0; i < this.used; i += 1) this.bytes.byte(this.block[i]);
    this.used = 0;
  }

  end() {
    while (this.numBits > 0) this.flushByte();
    this.flushBlock();
    this.bytes.byte(0);
  }
}

/**
 * GIF's LZW over palette indexes.
 * @param {Bytes} bytes
 * @param {Uint8Array} indexes
 */
function compress(bytes, indexes) {
  const [reset, stop] = [1 << FIRST_BITS, (1 << FIRST_BITS) + 1];
  const table = new Int16Array(FULL_TABLE << 8);
  const writer = new CodeWriter(bytes);
  let next = stop + 1;
  let size = FIRST_BITS + 1;
  bytes.byte(FIRST_BITS);
  writer.code(reset, size);
  let prefix = indexes[0];
  for (let i = 1; i < indexes.length; i += 1) {
    const slot = (prefix << 8) | indexes[i];
    if (table[slot]) {
      prefix = table[slot];
      continue;
    }
    writer.code(prefix, size);
    prefix = indexes[i];
    if (next < FULL_TABLE) {
      table[slot] = next;
      if (next === 1 << size) size += 1;
      next += 1;
    } else {
      writer.code(reset, size);
      table.fill(0);
      [next, size] = [stop + 1, FIRST_BITS + 1];
    }
  }
  writer.code(prefix, size);
  writer.code(stop, size);
  writer.end();
}

export const CLEAR = 255; // the palette's last entry: see what was there before

/** The 255 colours seen most, at 5 bits a channel, and a look-up from any colour to the nearest. */
export class Palette {
  /** @param {Uint32Array[]} pictures */
  constructor(pictures) {
    /** @type {Map<number, number>} */
    const counts = new Map();
    /** @type {Map<number, number>} the first colour of each key */
    const totals = new Map();
    for (const pixels of pictures) {
      for (const pixel of pixels) {
        const key = Palette.key(pixel);
        counts.set(key, (counts.get(key) ?? 0) + 1);
        if (!totals.has(key)) totals.set(key, pixel);
      }
    }
    const most = [...counts].sort((a, b) => b[1] - a[1]);
    const keys = most.map(([key]) => key).slice(0, CLEAR);
    this.colours = keys
      .map((key) => totals.get(key) ?? 0)
      .map((pixel) => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255]);
    this.indexes = new Int16Array(32_768).fill(-1);
    keys.forEach((key, index) => {
      this.indexes[key] = index;
    });
  }

  /** @param {number} pixel */
  static key(pixel) {
    return ((pixel >> 3) & 31) | ((pixel >> 6) & 992) | ((pixel >> 9) & 31_744);
  }

  /** @param {number} pixel */
  index(pixel) {
    const key = Palette.key(pixel);
    if (this.indexes[key] < 0) this.indexes[key] = this.nearest(pixel);
    return this.indexes[key];
  }

  /** @param {number} pixel */
  nearest(pixel) {
    const [red, green, blue] = [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
    let best = 0;
    let least = Infinity;
    this.colours.forEach(([r, g, b], index) => {
      const distance = (r - red) ** 2 * 2 + (g - green) ** 2 * 4 + (b - blue) ** 2;
      if (distance < least) [least, best] = [distance, index];
    });
    return best;
  }
}

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
