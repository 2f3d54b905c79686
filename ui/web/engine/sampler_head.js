// What a block's row says once the token before it is known: SamplerHead of sbd_core/sampling.py, over
// each row's likeliest tokens. Hidden states come from the graph.

import { topOf } from "./stats.js";

/** @import { Logits } from "./model.js" */

const NUM_CANDIDATES = 256;
const EPSILON = 2 ** -23; // of fp32, as rms_norm() has it where it is given none

/**
 * With h the row's hidden state after the last norm, e the embedding of the token before and
 * x = [h, e], each over its root mean square: h becomes h + out @ (silu(gate) * up), where
 * [gate, up] = into @ x.
 * @typedef {object} Weights
 * @property {Float32Array} into (2 width, 2 hidden)
 * @property {Float32Array} out (hidden, width)
 * @property {(id: number) => Float32Array} embedding a token's row
 * @property {(id: number) => Float32Array} head a token's row
 */

export class SamplerHead {
  /** @param {Weights} weights @param {number} hidden */
  constructor(weights, hidden) {
    this.weights = weights;
    this.hidden = hidden;
    this.width = weights.out.length / hidden;
  }

  /**
   * Prepare for rows of logits, left to right, before any is changed.
   * @param {Logits} logits
   * @param {number} start
   * @param {number} stop
   */
  begin(logits, start, stop) {
    const rows = Array.from({ length: stop - start }, (_, index) => ({
      ofHidden: this.half(logits.hidden(start + index), 0),
      likeliest: topOf(logits.row(start + index), NUM_CANDIDATES),
    }));
    /** @param {number} index from `start` @param {number} tokenId */
    return (index, tokenId) => {
      const found = rows[index];
      if (!found) return;
      const change = this.change(found.ofHidden, tokenId);
      const row = logits.row(start + index);
      for (const id of found.likeliest)
        row[id] = (row[id] ?? 0) + dot(this.weights.head(id), change);
    };
  }

  /**
   * `into` by one half of x, which is normed first.
   * @param {Float32Array} half
   * @param {0 | 1} side
   */
  half(half, side) {
    const { hidden, weights } = this;
    let squares = 0;
    for (const value of half) squares += value * value;
    const scale = 1 / Math.sqrt(squares / hidden + EPSILON);
    const normed = half.map((value) => value * scale);
    return Float32Array.from({ length: 2 * this.width }, (_, row) => {
      const first = row * 2 * hidden + side * hidden;
      return dot(weights.into.subarray(first, first + hidden), normed);
    });
  }

  /**
   * What a hidden state changes by behind a token.
   * @param {Float32Array} ofHidden
   * @param {number} tokenId
   */
  change(ofHidden, tokenId) {
    const { width, weights } = this;
    const sum = this.half(weights.embedding(tokenId), 1).map(
      (value, index) => value + (ofHidden[index] ?? 0),
    );
    const gated = Float32Array.from({ length: width }, (_, index) => {
      const gate = sum[index] ?? 0;
      return (gate / (1 + Math.exp(-gate))) * (sum[width + index] ?? 0);
    });
    return Float32Array.from({ length: this.hidden }, (_, row) =>
      dot(weights.out.subarray(row * width, (row + 1) * width), gated),
    );
  }
}

/** @param {Float32Array} a @param {Float32Array} b */
function dot(a, b) {
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) {
    sum += /** @type {number} */ (a[index]) * /** @type {number} */ (b[index]);
  }
  return sum;
}
