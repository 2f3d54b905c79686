// GIF's compression: Lempel-Ziv-Welch codes of growing length, in blocks of at most 255 bytes.

/** @import { Bytes } from "./bytes.js" */

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
export function compress(bytes, indexes) {
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
