// Does without PyTorch what decoding needs from it: the measures of sbd_core/sampling.py, the sampler head of
// sbd_core/models/sampler_head.py, and the permutations of a torch.Generator.

import { EngineError } from "./errors.ts";
import type { Logits } from "./model.ts";

const NUM_BEST = 2; // the margin needs two

/** The measures of a row. */
export type Row = ReturnType<typeof measureRow>;

/** Return the row with a copy of its logits, which stays valid. */
export function copyOf(row: Row): Row {
  const own = row.logits().slice();
  return { ...row, logits: () => own };
}

/** Return the probability of a token in a row. */
export function probabilityOf({ bestId, probability, logits }: Row, tokenId: number) {
  if (tokenId === bestId) return probability;
  const own = logits();
  return probability * Math.exp(own[tokenId] - own[bestId]);
}

/**
 * Measure a row of logits, after ruling out a token. Raises EngineError if logits are NaN or infinite.
 * @param forbiddenId -1 for none
 */
export function measureRow(logits: Logits, index: number, forbiddenId: number, numTop: number) {
  const own = () => logits.row(index);
  const row = own();
  if (forbiddenId >= 0) row[forbiddenId] -= Infinity; // NaN and infinity become NaN
  const ids = topOf(row, Math.min(Math.max(numTop, NUM_BEST), row.length));
  const [bestId] = ids;
  const most = row[bestId];
  let [others, weighted] = [0, 0]; // without the best token's share of 1, beside which small ones lose digits
  for (let id = 0; id < row.length; id += 1) {
    const below = row[id] - most;
    // exp(-104) rounds to 0 in fp32.
    if (below < -104 || id === bestId) continue;
    const share = Math.exp(below);
    others += share;
    weighted += share * below;
  }
  if (!Number.isFinite(most + others))
    throw new EngineError("The model gave logits that are NaN, infinite or all -infinity.");
  const whole = 1 + others;
  const chances = ids.map((id) => Math.exp(row[id] - most) / whole);
  const [probability, second = 0] = chances;
  const entropy = Math.log1p(others) - weighted / whole;
  return {
    bestId, // the likeliest token
    probability, // its probability
    second, // the probability of the next one
    entropy, // nats
    top: ids.slice(0, numTop).map((id, i): [id: number, chance: number] => [id, chances[i]]),
    logits: own, // returns the row itself, valid until the next forward pass
  };
}

/** Return the tokens of a row's largest values, best first; of equal values the first. */
export function topOf(row: Float32Array, count: number) {
  const ids: number[] = [];
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
const EPSILON = 2 ** -23; // of fp32, the default of PyTorch's rms_norm()

/**
 * The weights of a sampler head. With h the row's hidden state after the last norm, e the embedding of the token
 * before the row, and x = [h, e], each divided by its root mean square, the head changes h to h + out @ (silu(gate)
 * * up), where [gate, up] = into @ x.
 */
interface Weights {
  ofToken: Float32Array; // the half of `into` that multiplies e: (2 width, hidden)
  out: Float32Array; // (hidden, width)
  embedding: (id: number) => Float32Array; // returns a token's embedding
  head: (id: number) => Float32Array; // returns a token's row of the output layer
}

/** Adjusts the logits of a block's rows, each once the token before it is known. */
export class SamplerHead {
  width: number;
  /** Results of ofToken() by token id. */
  known: Map<number, Float32Array> = new Map();

  constructor(
    readonly weights: Weights,
    readonly hidden: number,
  ) {
    this.width = weights.out.length / hidden;
  }

  /** Prepare to adjust rows of logits, before any of them is changed. Return a function that adjusts one of them. */
  begin(logits: Logits, start: number, stop: number) {
    const rows = Array.from({ length: stop - start }, (_, index) => ({
      ofHidden: logits.samplerHiddenPart(start + index),
      likeliest: topOf(logits.row(start + index), NUM_CANDIDATES),
    }));
    /** @param index of the row, from `start` @param tokenId the token before the row */
    return (index: number, tokenId: number) => {
      const change = this.change(rows[index].ofHidden, tokenId);
      const row = logits.row(start + index);
      for (const id of rows[index].likeliest)
        row[id] += product(this.weights.head(id), 1, change)[0];
    };
  }

  /** Return the part of `into @ x` that comes from the token before a row. */
  ofToken(tokenId: number) {
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
   * Return the change of a row's hidden state, given the token before the row.
   * @param ofHidden the part of `into @ x` that comes from the hidden state
   */
  change(ofHidden: Float32Array, tokenId: number) {
    const { width, weights } = this;
    const sum = this.ofToken(tokenId).map((value, index) => value + ofHidden[index]);
    const gated = sum
      .subarray(0, width)
      .map((gate, index) => (gate / (1 + Math.exp(-gate))) * sum[width + index]);
    return product(weights.out, this.hidden, gated);
  }
}

/** Multiply the rows of a matrix by x. Four sums are faster than one, in which each addition waits for the last. */
function product(matrix: Float32Array, numRows: number, x: Float32Array) {
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

/** The random numbers of torch.Generator, from the Mersenne Twister MT19937. */
export class Generator {
  state = new Uint32Array(SIZE);
  next = SIZE;

  /** @param seed whole and >= 0; only its low 32 bits count */
  constructor(seed: number) {
    this.state[0] = Number(BigInt(seed) & 0xffffffffn);
    for (let i = 1; i < SIZE; i += 1) {
      const last = this.word(i - 1);
      this.state[i] = Math.imul(1812433253, last ^ (last >>> 30)) + i;
    }
  }

  /** Return a word of the state; an index past the end wraps around. */
  word(index: number) {
    return this.state[index % SIZE];
  }

  /** Replace all words of the state by the next ones. */
  refill() {
    for (let i = 0; i < SIZE; i += 1) {
      const y = (this.word(i) & 0x80000000) | (this.word(i + 1) & 0x7fffffff);
      this.state[i] = this.word(i + MIDDLE) ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    this.next = 0;
  }

  /** Return the next 32 random bits. */
  random() {
    if (this.next === SIZE) this.refill();
    let y = this.word(this.next);
    this.next += 1;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  /** Return the result of torch.randperm(count). */
  permutation(count: number) {
    const order = Array.from({ length: count }, (_, index) => index);
    for (let i = 0; i < count - 1; i += 1) {
      const other = i + (this.random() % (count - i));
      [order[i], order[other]] = [order[other], order[i]];
    }
    return order;
  }
}
