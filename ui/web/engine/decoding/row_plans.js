// How many rows a verifying forward pass feeds, and where: by expected tokens per cost;
// sbd_core/decoding/row_plans.py. Nothing here sees a token, which keeps verifying exact.

/** @typedef {[place: number, rank: number, size: number]} PlannedAlternative place in the draft, rank from 0 on, masks behind it */

/** @typedef {[numRows: number, seconds: number][]} RowCosts from 1 row on, in rising order */
/** @typedef {{ blockSizes: number[], draftLength: number, threshold: number, alternatives: PlannedAlternative[] }} RowPlan masks behind the draft's first 0, 1, 2, ... tokens; how far its drafts go; each alternative read */

export const MAX_ROWS = 47;
/** To a drafted token, at most. */
export const NUM_ALTERNATIVES = 7;
/** @type {RowCosts} what a forward pass costs to whom only their number matters */
export const ONE_A_PASS = [[1, 1]];
const MEMORY = 0.95;
const PRIOR = 0.5;
const PRIOR_WEIGHT = 2;
const SURENESS_SHARE = 0.2;
const FIRST_LENGTH = 7;
const PROBE_SHARE = 0.02;
const MAX_CREDIT = 4;
const GOOD_RATE = 0.8;
const NEGLIGIBLE = 0.001;
const SLOPE_ROWS = 4;
const NO_OTHERS = { expected: 0, isRight: false };

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
    /** Of alternatives to drafted tokens. */
    this.othersExpected = 0;
    this.othersRight = 0;
    /** @type {number[]} */
    this.sureness = [];
    this.credit = 0;
  }

  /**
   * One more forward pass.
   * @param {number[]} probabilities the head's, of each drafted token that it read
   * @param {number} numAccepted
   * @param {number} askedLength how far that draft might have gone
   * @param {number} relativeCost of the pass, in passes of one row, less the tokens that were sure
   * @param {{ expected: number, isRight: boolean }} [others] alternatives to tokens that were checked:
   *   their probabilities in sum, and whether one was right where the draft was not
   */
  count(probabilities, numAccepted, askedLength, relativeCost, others = NO_OTHERS) {
    const numChecked = Math.min(numAccepted + 1, Math.max(askedLength, probabilities.length));
    for (let place = 0; place < numChecked; place += 1) {
      this.checked[place] = (this.checked[place] ?? 0) * MEMORY + 1;
      this.accepted[place] = (this.accepted[place] ?? 0) * MEMORY + (place < numAccepted ? 1 : 0);
    }
    const memory = probabilities.length ? MEMORY : 1;
    this.expected = this.expected * memory + sum(probabilities.slice(0, numChecked));
    this.right = this.right * memory + numAccepted;
    const numRight = others.isRight ? 1 : 0;
    this.othersExpected = this.othersExpected * memory + others.expected;
    this.othersRight = this.othersRight * memory + numRight;
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
    return scaled(probabilities, this.right, this.expected);
  }

  /** The same of alternatives to one of them. @param {number[]} probabilities */
  chancesOfOthers(probabilities) {
    return scaled(probabilities, this.othersRight, this.othersExpected);
  }
}

/**
 * @param {number[]} probabilities
 * @param {number} right
 * @param {number} expected
 */
function scaled(probabilities, right, expected) {
  const scale = (right + PRIOR_WEIGHT) / (expected + PRIOR_WEIGHT);
  return probabilities.map((probability) => Math.min(0.99, probability * scale));
}

/**
 * Rows of the forward pass, with one exact token.
 * @param {RowPlan} plan
 */
export function numRowsOf({ blockSizes, alternatives }) {
  return blockSizes.length + sum(blockSizes) + sum(alternatives.map(([, , size]) => 1 + size));
}

/**
 * The plan of the next forward pass, which checks a draft of tokens with `probabilities`.
 * @param {Acceptance} acceptance
 * @param {number[]} probabilities
 * @param {RowCosts} costs
 * @param {number} blockSize masks of a block at most
 * @param {number} numLeft tokens the answer may still grow by
 * @param {number[][]} alternatives of each drafted token, the probabilities of others, likeliest first
 * @param {number} numSure drafted tokens, first in the draft, that are as good as accepted
 * @returns {RowPlan}
 */
export function planRows(
  acceptance,
  probabilities,
  costs,
  blockSize,
  numLeft,
  alternatives = [],
  numSure = 0,
) {
  const longest = Math.max(0, Math.min(blockSize, numLeft) - 1);
  const shape = bestShape(acceptance.rates(longest), costs);
  let { length, numEnds } = shape;
  const later = secondsOf(costs, shape.numRows + SLOPE_ROWS);
  const slope = Math.max(0, later - secondsOf(costs, shape.numRows)) / SLOPE_ROWS;
  let threshold = shape.rate * slope;
  const mayPay = bestShape(new Array(longest).fill(GOOD_RATE), costs).length > 0;
  if (mayPay && !acceptance.sureness.length) {
    [length, numEnds] = [Math.min(longest, Math.max(length, FIRST_LENGTH)), 1];
  } else if (mayPay && !length && !probabilities.length && acceptance.credit >= probeCost(costs)) {
    [length, numEnds, threshold] = [1, 1, 0];
  }
  const sure = new Array(numSure).fill(1);
  const chances = [...sure, ...acceptance.chances(probabilities.slice(numSure))];
  const ends = endChances(chances);
  const order = [...ends.keys()].sort((a, b) => (ends[b] ?? 0) - (ends[a] ?? 0));
  const reached = [1, ...products(chances)];
  /** @type {Branch[]} */
  const branches = [
    ...order.slice(0, numEnds).map((place) => ({ place, rank: null, chance: ends[place] ?? 0 })),
    ...alternatives.flatMap((own, place) =>
      acceptance
        .chancesOfOthers(own)
        .map((chance, rank) => ({ place, rank, chance: (reached[place] ?? 0) * chance })),
    ),
  ];
  const room = MAX_ROWS - ends.length;
  const worth = acceptance.sureness.length ? threshold : 0;
  const found = branchSizes(branches, acceptance.rates(length), room, worth, numLeft);
  const blockSizes = ends.map(() => 0);
  /** @type {PlannedAlternative[]} */
  const chosen = [];
  for (const [index, { place, rank }] of branches.entries()) {
    const size = found[index] ?? 0;
    if (rank === null) blockSizes[place] = size;
    else if (size) chosen.push([place, rank, size]);
  }
  return { blockSizes, draftLength: length, threshold, alternatives: chosen };
}

/**
 * Where masks may stand: behind `place` drafted tokens, and behind an alternative to the next one
 * if a rank is given. chance: that the check ends there.
 * @typedef {{ place: number, rank: number | null, chance: number }} Branch
 */

/**
 * Masks of each branch: rows go where most tokens are expected of them, down to `worth` a row.
 * @param {Branch[]} branches
 * @param {number[]} rates of the draft that a branch's masks make
 * @param {number} room
 * @param {number} worth
 * @param {number} numLeft
 */
function branchSizes(branches, rates, room, worth, numLeft) {
  const [plain, behindOwn] = [stepsOf(rates, 0), stepsOf(rates, 1)];
  const wanted = branches.flatMap(({ place, rank, chance }, index) => {
    const own = rank === null ? 0 : 1;
    const most = numLeft - place - own;
    return (own ? behindOwn : plain).map(({ rate, size }) => {
      return { value: chance * rate, index, size, most, own };
    });
  });
  wanted.sort((a, b) => b.value - a.value || a.index - b.index || a.size - b.size);
  const sizes = branches.map(() => 0);
  let left = room;
  for (const { value, index, most, own, ...step } of wanted) {
    const before = sizes[index] ?? 0;
    const size = Math.min(step.size, most);
    const numRows = size - before + (before ? 0 : own);
    if (value > worth && size > Math.max(1, before) && numRows <= left) {
      sizes[index] = size;
      left -= numRows;
    }
  }
  return sizes;
}

/**
 * The steps by which a branch grows, with the tokens a row that each brings, falling, if the check is
 * sure to end there. The first mask stands where the check brings an exact token, so a branch has 2
 * or none.
 * @param {number[]} rates
 * @param {number} own the row and the token of an alternative
 */
function stepsOf(rates, own) {
  const gains = sums(products(rates)).map((tokens) => tokens + own);
  const steps = [];
  let [size, gain, rows] = [0, 0, 0];
  while (size <= rates.length && rates.length) {
    let best = { rate: -Infinity, size: 0 };
    for (let to = Math.max(2, size + 1); to <= rates.length + 1; to += 1) {
      const rate = ((gains[to - 1] ?? 0) - gain) / (to + own - rows);
      if (rate >= best.rate) best = { rate, size: to };
    }
    steps.push(best);
    size = best.size;
    [gain, rows] = [gains[size - 1] ?? 0, size + own];
  }
  return steps;
}

/**
 * The shape with most tokens per cost if every forward pass had it.
 * @param {number[]} rates of each token of a draft, as long as it may be
 * @param {RowCosts} costs
 */
function bestShape(rates, costs) {
  let best = { length: 0, numEnds: 0, numRows: 1, rate: 1 / secondsOf(costs, 1) };
  for (let length = 1; length <= rates.length; length += 1) {
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

/** Of none, the first, the first two, ... of them. @param {number[]} values */
function sums(values) {
  let total = 0;
  const found = values.map((value) => {
    total += value;
    return total;
  });
  return [0, ...found];
}

/** @param {number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
