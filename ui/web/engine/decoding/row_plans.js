// How many rows a verifying forward pass feeds, and where: by expected tokens per cost;
// sbd_core/decoding/row_plans.py. Nothing here sees a token, which keeps verifying exact.

/** @typedef {[numRows: number, seconds: number][]} RowCosts from 1 row on, in rising order */
/** @typedef {{ blockSizes: number[], draftLength: number, threshold: number }} RowPlan masks behind the draft's first 0, 1, 2, ... tokens; how far its drafts go */

export const MAX_ROWS = 32;
/** @type {RowCosts} what a forward pass costs to whom only their number matters */
export const ONE_A_PASS = [[1, 1]];
const MEMORY = 0.95;
const PRIOR = 0.5;
const PRIOR_WEIGHT = 2;
const SURENESS_SHARE = 0.2;
const FIRST_LENGTH = 7;
const PROBE_SHARE = 0.02;
const MAX_CREDIT = 4;
const NEGLIGIBLE = 0.001;
const SLOPE_ROWS = 4;

/**
 * Of a forward pass of so many rows.
 * @param {RowCosts} costs
 * @param {number} numRows
 */
export function secondsOf(costs, numRows) {
  const [only = [1, 1]] = costs;
  if (costs.length === 1) return only[1];
  const found = costs.findIndex(([rows]) => rows >= numRows);
  const place = Math.max(1, found < 0 ? costs.length - 1 : found);
  const [low, high] = [costs[place - 1] ?? only, costs[place] ?? only];
  const share = (numRows - low[0]) / (high[0] - low[0]);
  return Math.max(low[1] + share * (high[1] - low[1]), Number.MIN_VALUE);
}

/** What became of the drafts so far, older ones counting less. */
export class Acceptance {
  constructor() {
    /** @type {number[]} */
    this.checked = [];
    /** @type {number[]} */
    this.accepted = [];
    this.expected = 0;
    this.right = 0;
    /** @type {number[]} */
    this.sureness = [];
    this.credit = 0;
  }

  /**
   * One more forward pass.
   * @param {number[]} probabilities the head's, of each drafted token that it read
   * @param {number} numAccepted
   * @param {number} askedLength how far that draft might have gone
   * @param {number} relativeCost of the pass, in passes of one row
   */
  count(probabilities, numAccepted, askedLength, relativeCost) {
    const numChecked = Math.min(numAccepted + 1, Math.max(askedLength, probabilities.length));
    for (let place = 0; place < numChecked; place += 1) {
      this.checked[place] = (this.checked[place] ?? 0) * MEMORY + 1;
      this.accepted[place] = (this.accepted[place] ?? 0) * MEMORY + (place < numAccepted ? 1 : 0);
    }
    const memory = probabilities.length ? MEMORY : 1;
    this.expected = this.expected * memory + sum(probabilities.slice(0, numChecked));
    this.right = this.right * memory + numAccepted;
    const saved = 1 + numAccepted - relativeCost;
    this.credit = Math.min(this.credit + saved + PROBE_SHARE, MAX_CREDIT);
  }

  /** One more block. @param {number[]} probabilities of what might be drafted from it */
  see(probabilities) {
    for (const [place, probability] of probabilities.entries()) {
      const mean = this.sureness[place] ?? probability;
      this.sureness[place] = mean + (probability - mean) * SURENESS_SHARE;
    }
  }

  /**
   * The chance of each token of a new draft to be accepted once those before it are.
   * @param {number} length
   */
  rates(length) {
    const expected = this.chances(this.sureness);
    const rates = [];
    let prior = PRIOR;
    for (let place = 0; place < length; place += 1) {
      prior = expected[place] ?? prior;
      const [checked, accepted] = [this.checked[place] ?? 0, this.accepted[place] ?? 0];
      prior = (accepted + PRIOR_WEIGHT * prior) / (checked + PRIOR_WEIGHT);
      rates.push(prior);
    }
    return rates;
  }

  /**
   * The same of drafted tokens, by how sure the head is of each and how right it was.
   * @param {number[]} probabilities
   */
  chances(probabilities) {
    const scale = (this.right + PRIOR_WEIGHT) / (this.expected + PRIOR_WEIGHT);
    return probabilities.map((probability) => Math.min(0.99, probability * scale));
  }
}

/**
 * The plan of the next forward pass, which checks a draft of tokens with `probabilities`.
 * @param {Acceptance} acceptance
 * @param {number[]} probabilities
 * @param {RowCosts} costs
 * @param {number} blockSize masks of a block at most
 * @param {number} numLeft tokens the answer may still grow by
 * @returns {RowPlan}
 */
export function planRows(acceptance, probabilities, costs, blockSize, numLeft) {
  const longest = Math.max(0, Math.min(blockSize, numLeft) - 1);
  const shape = bestShape(acceptance, costs, longest);
  let { length, numEnds } = shape;
  const later = secondsOf(costs, shape.numRows + SLOPE_ROWS);
  const slope = Math.max(0, later - secondsOf(costs, shape.numRows)) / SLOPE_ROWS;
  let threshold = shape.rate * slope;
  if (!acceptance.sureness.length) {
    [length, numEnds] = [Math.min(longest, Math.max(length, FIRST_LENGTH)), 1];
  } else if (!length && longest && acceptance.credit >= probeCost(costs)) {
    [length, numEnds, threshold] = [1, 1, 0];
  }
  const sizes = new Array(probabilities.length + 1).fill(0);
  let room = MAX_ROWS - sizes.length;
  const ends = endChances(acceptance.chances(probabilities));
  const order = [...sizes.keys()].sort((a, b) => (ends[b] ?? 0) - (ends[a] ?? 0));
  for (const end of order.slice(0, numEnds)) {
    const size = Math.min(length + 1, numLeft - end, room);
    if (size > 1) {
      sizes[end] = size;
      room -= size;
    }
  }
  return { blockSizes: sizes, draftLength: length, threshold };
}

/**
 * The shape with most tokens per cost if every forward pass had it.
 * @param {Acceptance} acceptance
 * @param {RowCosts} costs
 * @param {number} longest
 */
function bestShape(acceptance, costs, longest) {
  let best = { length: 0, numEnds: 0, numRows: 1, rate: 1 / secondsOf(costs, 1) };
  const rates = acceptance.rates(longest);
  for (let length = 1; length <= longest; length += 1) {
    const own = rates.slice(0, length);
    const tokens = 1 + sum(products(own));
    const ends = endChances(own).sort((a, b) => b - a);
    const withoutDraft = secondsOf(costs, 2 + length);
    let uncovered = 1;
    for (let numEnds = 1; numEnds <= length + 1; numEnds += 1) {
      const numRows = 1 + length + numEnds * (length + 1);
      if (numRows > MAX_ROWS) break;
      uncovered = Math.max(0, uncovered - (ends[numEnds - 1] ?? 0));
      const cost = secondsOf(costs, numRows) + uncovered * withoutDraft;
      const rate = (tokens + uncovered) / cost;
      if (rate > best.rate * (1 + NEGLIGIBLE)) best = { length, numEnds, numRows, rate };
    }
  }
  return best;
}

/**
 * How likely a check of a draft ends behind its first 0, 1, 2, ... tokens.
 * @param {number[]} rates
 */
function endChances(rates) {
  const reached = [1, ...products(rates)];
  const ends = rates.map((rate, place) => (reached[place] ?? 0) * (1 - rate));
  return [...ends, reached.at(-1) ?? 1];
}

/** What a block of two masks, and then its draft, cost in passes of one row. @param {RowCosts} costs */
function probeCost(costs) {
  return (secondsOf(costs, 3) + secondsOf(costs, 2)) / secondsOf(costs, 1) - 2;
}

/** Of the first, the first two, ... of them. @param {number[]} rates */
function products(rates) {
  let product = 1;
  return rates.map((rate) => {
    product *= rate;
    return product;
  });
}

/** @param {number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
