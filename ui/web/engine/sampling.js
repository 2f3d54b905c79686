// Does in plain numbers what PyTorch does where tokens are sampled: the measures of sbd_core/sampling.py, the head
// of sbd_core/models/sampler_head.py, the permutations of a torch.Generator.

import { EngineError } from "./errors.js";

/** @import { Logits } from "./model.js" */

const NUM_BEST = 2; // the margin is between two

/**
 * Measures asked for, besides each row's best token and its probability.
 * @typedef {object} StatsSpec
 * @property {number[]} forbiddenIds tokens made impossible first
 * @property {number} numTop tokens listed a row
 */

/**
 * One row: its likeliest token and that one's probability, the next one's, its entropy in nats and the
 * tokens listed, best first; logits: the row itself, there until the next forward pass.
 * @typedef {{ bestId: number, probability: number, second: number, entropy: number, top: [tokenId: number, probability: number][], logits: () => Float32Array }} Row
 */

/** The same row with a copy of its logits, which outlives the next forward pass. @param {Row} row @returns {Row} */
export function kept(row) {
  const own = row.logits().slice();
  return { ...row, logits: () => own };
}

/** The probability of any token in a row. @param {Row} row @param {number} tokenId */
export function probabilityOf({ bestId, probability, logits }, tokenId) {
  if (tokenId === bestId) return probability;
  const own = logits();
  return probability * Math.exp(own[tokenId] - own[bestId]);
}

/**
 * The measures of rows of logits. Forbidden tokens have logits of -infinity afterwards. Raises
 * EngineError for logits that are no numbers.
 * @param {Logits} logits
 * @param {number} start
 * @param {number} stop
 * @param {StatsSpec} spec
 * @returns {Row[]}
 */
export function measureRows(logits, start, stop, { forbiddenIds, numTop }) {
  return Array.from({ length: stop - start }, (_, index) => {
    const own = () => logits.row(start + index);
    const row = own();
    for (const id of forbiddenIds) {
      if (!(row[id] < Infinity)) throw notNumbers();
      row[id] = -Infinity;
    }
    return { ...measure(row, numTop), logits: own };
  });
}

function notNumbers() {
  return new EngineError("The model gave logits that are NaN, infinite or all -infinity.");
}

/** All measures of a row. @param {Float32Array} row @param {number} numTop tokens listed */
function measure(row, numTop) {
  const ids = topOf(row, Math.min(Math.max(numTop, NUM_BEST), row.length));
  const [bestId] = ids;
  const most = row[bestId];
  let [others, weighted] = [0, 0]; // besides the best token, whose share would take their digits
  for (let id = 0; id < row.length; id += 1) {
    const below = row[id] - most;
    // exp(-104) is less than half of the least number of fp32.
    if (below < -104 || id === bestId) continue;
    const share = Math.exp(below);
    others += share;
    weighted += share * below;
  }
  if (!Number.isFinite(most + others)) throw notNumbers();
  const whole = 1 + others;
  const chances = ids.map((id) => Math.exp(row[id] - most) / whole);
  const [probability, second = 0] = chances;
  const entropy = Math.log1p(others) - weighted / whole;
  const top = /** @type {Row["top"]} */ (ids.slice(0, numTop).map((id, i) => [id, chances[i]]));
  return { bestId, probability, second, entropy, top };
}

/**
 * The tokens of a row's largest values, best first; of equal ones the first.
 * @param {Float32Array} row
 * @param {number} count
 */
export function topOf(row, count) {
  /** @type {number[]} */
  const ids = [];
  let least = -Infinity;
  for (let id = 0; id < row.length; id += 1) {
    const value = row[id];
    if (value <= least && ids.length === count) continue;
    let place = ids.length;
    while (place > 0 && row[ids[place - 1]] < value) place -= 1;
    ids.splice(place, 0, id);
    if (ids.length > count) ids.length = count;
    least = row[ids[ids.length - 1]];
  }
  return ids;
}

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

const SIZE = 624;
const MIDDLE = 397;

export class Generator {
  /** @param {number} seed a whole number from 0 on; its low 32 bits count */
  constructor(seed) {
    this.state = new Uint32Array(SIZE);
    this.state[0] = Number(BigInt(seed) & 0xffffffffn);
    for (let i = 1; i < SIZE; i += 1) {
      const last = this.word(i - 1);
      this.state[i] = Math.imul(1812433253, last ^ (last >>> 30)) + i;
    }
    this.next = SIZE;
  }

  /** A word of the state, which goes on from its start. @param {number} index */
  word(index) {
    return this.state[index % SIZE];
  }

  /** Make the next words of the state. */
  refill() {
    for (let i = 0; i < SIZE; i += 1) {
      const y = (this.word(i) & 0x80000000) | (this.word(i + 1) & 0x7fffffff);
      this.state[i] = this.word(i + MIDDLE) ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    this.next = 0;
  }

  /** The next 32 random bits. */
  random() {
    if (this.next === SIZE) this.refill();
    let y = this.word(this.next);
    this.next += 1;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  /** torch.randperm(count). @param {number} count */
  permutation(count) {
    const order = Array.from({ length: count }, (_, index) => index);
    for (let i = 0; i < count - 1; i += 1) {
      const other = i + (this.random() % (count - i));
      [order[i], order[other]] = [order[other], order[i]];
    }
    return order;
  }
}
