// The colours of a GIF: 255 of them and one that is clear.

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
