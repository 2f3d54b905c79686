// Reweighs a block's row once the token before it is known: SamplerHead of sbd_core/models/sampler_head.py, over
// each row's likeliest tokens. What depends on hidden states alone comes from the graph.

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
    /** @type {Map<number, Float32Array>} what a token before adds to `into @ x` */
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
      const found = rows[index];
      if (!found) return;
      const change = this.change(found.ofHidden, tokenId);
      const row = logits.row(start + index);
      for (const id of found.likeliest) {
        const [more = 0] = product(this.weights.head(id), 1, change);
        row[id] = (row[id] ?? 0) + more;
      }
    };
  }

  /** The share of a token before in `into @ x`. @param {number} tokenId */
  ofToken(tokenId) {
    const kept = this.known.get(tokenId);
    if (kept) return kept;
    const { hidden, weights } = this;
    const embedding = weights.embedding(tokenId);
    let squares = 0;
    for (const value of embedding) squares += value * value;
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
    const sum = this.ofToken(tokenId).map((value, index) => value + (ofHidden[index] ?? 0));
    const gated = Float32Array.from({ length: width }, (_, index) => {
      const gate = sum[index] ?? 0;
      return (gate / (1 + Math.exp(-gate))) * (sum[width + index] ?? 0);
    });
    return product(weights.out, this.hidden, gated);
  }
}

/**
 * Rows of a matrix by x. Four sums at once, as one would wait for itself.
 * @param {Float32Array} matrix
 * @param {number} numRows
 * @param {Float32Array} x
 */
function product(matrix, numRows, x) {
  const whole = x.length - (x.length % 4);
  const at = (/** @type {number} */ place) => /** @type {number} */ (matrix[place]);
  const by = (/** @type {number} */ place) => /** @type {number} */ (x[place]);
  const found = new Float32Array(numRows);
  for (let row = 0, place = 0; row < numRows; row += 1, place += x.length) {
    let [a, b, c, d] = [0, 0, 0, 0];
    for (let i = 0; i < whole; i += 4) {
      a += at(place + i) * by(i);
      b += at(place + i + 1) * by(i + 1);
      c += at(place + i + 2) * by(i + 2);
      d += at(place + i + 3) * by(i + 3);
    }
    for (let i = whole; i < x.length; i += 1) a += at(place + i) * by(i);
    found[row] = a + b + c + d;
  }
  return found;
}
