// A file that is written byte by byte.

/** Bytes that grow. */
export class Bytes {
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
