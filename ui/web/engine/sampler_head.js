// Reweighs a block's row once the token before it is known: SamplerHead of sbd_core/models/sampler_head.py, over
// each row's likeliest tokens. The graph gives the part that depends on hidden states alone.

import { topOf } from "./stats.js";

/** @import { Logits } from "./model.js" */

const NUM_CANDIDATES = 96;
const MAX_KEPT_TOKENS = 512;
const EPSILON = 2 ** -23; // of fp32, as rms_norm() has it where it is given none

/**
 * With h the row's hidden state after the last norm, e the embedding of the token before and
 * x = [h, e], each over its root mean square: h becomes h + out @ (silu(gate) * up), where
 * [gate, up] = into @ x.
 * @typedef {object} Weights
 * @property {Float32Array} ofToken the half of `into` for e: (2 width, hidden)
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
    /** The share of a token before in `into @ x`. @type {Map<number, Float32Array>} */
    this.known = new Map();
  }

  /**
   * Prepare for rows of logits, left to right, before any is changed.
   * @param {Logits} logits
   * @param {number} start
   * @param {number} stop
   */
  begin(logits, start, stop) {
    const rows = Array.from({ length: stop - start }, (_, index) => ({
      ofHidden: logits.ofHidden(start + index),
      likeliest: topOf(logits.row(start + index), NUM_CANDIDATES),
    }));
    /** @param {number} index from `start` @param {number} tokenId */
    return (index, tokenId) => {
      const change = this.change(rows[index].ofHidden, tokenId);
      const row = logits.row(start + index);
      for (const id of rows[index].likeliest)
        row[id] += product(this.weights.head(id), 1, change)[0];
    };
  }

  /** The share of a token before in `into @ x`. @param {number} tokenId */
  ofToken(tokenId) {
    const kept = this.known.get(tokenId);
    if (kept) return kept;
    const { hidden, weights } = this;
    const embedding = weights.embedding(tokenId);
    const squares = embedding.reduce((sum, value) => sum + value * value, 0);
    const scale = 1 / Math.sqrt(squares / hidden + EPSILON);
    const normed = embedding.map((value) => value * scale);
    const found = product(weights.ofToken, 2 * this.width, normed);
    if (this.known.size >= MAX_KEPT_TOKENS) this.known.clear();
    this.known.set(tokenId, found);
    return found;
  }

  /**
   * The change of a hidden state behind a token.
   * @param {Float32Array} ofHidden
   * @param {number} tokenId
   */
  change(ofHidden, tokenId) {
    const { width, weights } = this;
    const sum = this.ofToken(tokenId).map((value, index) => value + ofHidden[index]);
    const gated = sum
      .subarray(0, width)
      .map((gate, index) => (gate / (1 + Math.exp(-gate))) * sum[width + index]);
    return product(weights.out, this.hidden, gated);
  }
}

/**
 * The products of a matrix's rows by x. Four sums at once, as one would wait for itself.
 * @param {Float32Array} matrix
 * @param {number} numRows
 * @param {Float32Array} x
 */
function product(matrix, numRows, x) {
  const whole = x.length - (x.length % 4);
  const found = new Float32Array(numRows);
  for (let row = 0, place = 0; row < numRows; row += 1, place += x.length) {
    let [a, b, c, d] = [0, 0, 0, 0];
    for (let i = 0; i < whole; i += 4) {
      a += matrix[place + i] * x[i];
      b += matrix[place + i + 1] * x[i + 1];
      c += matrix[place + i + 2] * x[i + 2];
      d += matrix[place + i + 3] * x[i + 3];
    }
    for (let i = whole; i < x.length; i += 1) a += matrix[place + i] * x[i];
    found[row] = a + b + c + d;
  }
  return found;
}
