// Which rows a forward pass of verify feeds: one rule, by what a row may bring and what it costs;
// sbd_core/decoding/draft_tree.py says how. Pure; nothing here sees a token.

/** @typedef {[numRows: number, seconds: number][]} RowCosts from 1 row on, in rising order; seconds never fall */
/** @typedef {{ survival: number[], drafted: number, alternatives: number }} Calibration of a head's probabilities, kept with its weights */
/** @typedef {[place: number, rank: number, size: number]} PlannedAlternative place in the draft, rank from 0 on, masks behind it */
/** @typedef {{ blockSizes: number[], alternatives: PlannedAlternative[], price: number }} RowPlan masks behind the draft's first 0, 1, 2, ... tokens; each alternative read; tokens that a row has to bring */
/** @typedef {{ place: number, rank: number | null, chance: number }} Branch where masks may stand: behind `place` drafted tokens, or an alternative to the next one */
/** @typedef {{ worth: number, rows: number, size: number }} Growth of a branch: tokens that each row brings, rows that it adds, masks of the branch with it */

/** Largest number of alternatives to a drafted token. */
export const NUM_ALTERNATIVES = 7;
/** @type {Calibration} of a model that names none */
export const USUAL_CALIBRATION = { survival: [0.5, 0.25], drafted: 1, alternatives: 1 };
const MEMORY = 0.98;
const PRIOR_WEIGHT = 2;
const CERTAIN = 0.99;

/**
 * Seconds of a forward pass of so many rows.
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

/** How drafts fared in this decode; it fades, and what is left is the calibration's. */
export class DraftRecord {
  /** @param {Calibration} calibration */
  constructor(calibration) {
    this.calibration = calibration;
    [this.expected, this.right, this.othersExpected, this.othersRight] = [0, 0, 0, 0];
    [this.tokens, this.seconds] = [0, 0];
    /** @type {[sum: number, count: number][]} of each depth, the head's probabilities that a new draft is right up to there */
    this.survivals = [];
  }

  /** What a probability of a drafted token is multiplied by. */
  get scale() {
    return scaleOf(this.calibration.drafted, this.expected, this.right);
  }

  /** The chance of each drafted token to be right. @param {number[]} probabilities the head's */
  chances(probabilities) {
    const { scale } = this;
    return probabilities.map((probability) => Math.min(CERTAIN, probability * scale));
  }

  /** The same of alternatives to one token. @param {number[]} probabilities */
  chancesOfOthers(probabilities) {
    const { calibration, othersExpected, othersRight } = this;
    const scale = scaleOf(calibration.alternatives, othersExpected, othersRight);
    return probabilities.map((probability) => Math.min(CERTAIN, probability * scale));
  }

  /** The chance that a draft not made yet holds up to its token 1, 2, ... @param {number} length */
  survival(length) {
    const { scale, calibration, survivals } = this;
    const start = calibration.drafted;
    let last = 1;
    return Array.from({ length }, (_, depth) => {
      const [sum, count] = survivals[depth] ?? [0, 0];
      const usual = survivalTo(calibration, depth) * (start ? (scale / start) ** (depth + 1) : 0);
      const chance = (sum * scale ** (depth + 1) + PRIOR_WEIGHT * usual) / (count + PRIOR_WEIGHT);
      last = Math.min(last * CERTAIN, chance);
      return last;
    });
  }

  /** A block was read. @param {number[]} probabilities the head's, of all that might be drafted from it */
  see(probabilities) {
    for (const [depth, reached] of products(probabilities).entries()) {
      const [sum, count] = this.survivals[depth] ?? [0, 0];
      this.survivals[depth] = [sum * MEMORY + reached, count * MEMORY + 1];
    }
  }

  /**
   * A forward pass was made.
   * @param {object} pass
   * @param {number[]} pass.checked the head's probabilities of the drafted tokens up to the first wrong one
   * @param {number} pass.numRight of them
   * @param {number[]} pass.others of the alternatives to tokens that were reached
   * @param {boolean} pass.hasAlternative whether one of those was right
   * @param {number} pass.numTokens
   * @param {number} pass.seconds by the table of costs
   */
  count({ checked, numRight, others, hasAlternative, numTokens, seconds }) {
    this.expected = this.expected * MEMORY + total(checked);
    this.right = this.right * MEMORY + numRight;
    this.othersExpected = this.othersExpected * MEMORY + total(others);
    this.othersRight = this.othersRight * MEMORY + (hasAlternative ? 1 : 0);
    this.tokens = this.tokens * MEMORY + numTokens;
    this.seconds = this.seconds * MEMORY + seconds;
  }
}

/**
 * Rows of the forward pass, with one exact token.
 * @param {RowPlan} plan
 */
export function numRowsOf({ blockSizes, alternatives }) {
  return blockSizes.length + total(blockSizes) + total(alternatives.map(([, , size]) => 1 + size));
}

/**
 * How many tokens to draft: as long as the chance that all are right is above the price.
 * @param {number[]} chances
 * @param {number} price
 */
export function draftLength(chances, price) {
  const end = products(chances).findIndex((chance) => chance <= price);
  return end < 0 ? chances.length : end;
}

/**
 * The plan of the forward pass that checks a draft of tokens with `probabilities`.
 * @param {DraftRecord} record
 * @param {number[]} probabilities
 * @param {object} asked
 * @param {number} asked.blockSize masks of a block at most
 * @param {number} asked.numLeft tokens that the answer may still grow by
 * @param {number[][]} [asked.alternatives] of each drafted token, the probabilities of others, likeliest first
 * @param {number} [asked.numSure] drafted tokens, first in the draft, that are as good as right
 * @param {number | null} asked.maxRows of the pass; null by costs
 * @param {RowCosts | null} [asked.costs]
 * @param {number} [asked.numCausal] exact tokens that the pass reads
 * @param {number} [asked.price] of the last plan
 * @returns {RowPlan}
 */
export function planRows(record, probabilities, asked) {
  const { blockSize, numLeft, alternatives = [], numSure = 0, price = 0 } = asked;
  const own = record.chances(probabilities.slice(numSure));
  const reached = [1, ...products([...new Array(numSure).fill(1), ...own])];
  /** @type {Branch[]} */
  const ends = reached.map((now, place) => {
    return { place, rank: null, chance: now - (reached[place + 1] ?? 0) };
  });
  const others = alternatives.flatMap((listed, place) =>
    record
      .chancesOfOthers(listed)
      .map((chance, rank) => ({ place, rank, chance: (reached[place] ?? 0) * chance })),
  );
  const survival = record.survival(Math.max(0, Math.min(blockSize, numLeft) - 1));
  const gains = survival.map((chance) => Math.max(0, chance - price));
  const [plain, behindOwn] = [growthsOf(gains, null), growthsOf(gains, 1 - price)];
  const branches = [...ends, ...others];
  const units = branches.flatMap(({ place, rank, chance }, index) => {
    const longest = numLeft - place - (rank === null ? 0 : 1);
    return (rank === null ? plain : behindOwn)
      .filter(({ size }) => size <= longest)
      .map(({ worth, rows, size }) => ({ worth: chance * worth, index, size, rows }));
  });
  units.sort((a, b) => b.worth - a.worth || a.index - b.index || a.size - b.size);
  const base = (asked.numCausal ?? 1) + probabilities.length;
  const found =
    asked.maxRows === null
      ? byCost(units, base, record, asked.costs ?? [])
      : within(units, asked.maxRows - base);
  const sizes = new Map(found.chosen.map(({ index, size }) => [index, size]));
  return {
    blockSizes: ends.map((_, index) => sizes.get(index) ?? 0),
    alternatives: others.flatMap(({ place, rank }, index) => {
      const size = sizes.get(ends.length + index);
      return size === undefined ? [] : [/** @type {PlannedAlternative} */ ([place, rank, size])];
    }),
    price: found.price,
  };
}

/** @typedef {{ worth: number, index: number, size: number, rows: number }} Unit worth a row, branch, masks of the branch with it, rows that it adds */

/**
 * Units that fit, and the price: what a row of the first that does not is worth. That one is cut to
 * the room, and its branch grows no further.
 * @param {Unit[]} units
 * @param {number} room
 */
function within(units, room) {
  /** @type {Unit[]} */
  const chosen = [];
  const closed = new Set();
  let [left, price] = [room, 0];
  for (const unit of units) {
    if (unit.worth <= 0) break;
    if (closed.has(unit.index)) continue;
    let { size, rows } = unit;
    if (rows > left) {
      price ||= unit.worth;
      closed.add(unit.index);
      [size, rows] = cutTo(size, rows, left);
    }
    if (rows) chosen.push({ ...unit, size, rows });
    left -= rows;
  }
  return { chosen, price };
}

/**
 * Masks and rows of a unit cut to the room; no rows where too little of it is left: a single mask
 * brings nothing, an alternative's own row does.
 * @param {number} size
 * @param {number} rows
 * @param {number} room
 * @returns {[size: number, rows: number]}
 */
function cutTo(size, rows, room) {
  const left = size - (rows - room);
  if (left >= 2) return [left, room];
  return [0, rows > size && room > 0 ? 1 : 0];
}

/**
 * The first units, as many as bring most for their cost, and the price of one of their rows.
 * @param {Unit[]} units
 * @param {number} base
 * @param {DraftRecord} record
 * @param {RowCosts} costs
 */
function byCost(units, base, record, costs) {
  const [start, single] = [secondsOf(costs, base), secondsOf(costs, 1)];
  const rate = Math.max(1 / single, record.seconds ? record.tokens / record.seconds : 0);
  let [best, bestCount, bestRows] = [0, 0, 0];
  let [worth, rows] = [0, 0];
  const most = costs.at(-1)?.[0] ?? 1; // what more rows cost is not known
  for (const [index, unit] of units.entries()) {
    worth += unit.worth * unit.rows;
    rows += unit.rows;
    if (base + rows > most) break;
    const net = worth - rate * (secondsOf(costs, base + rows) - start);
    if (net > best) [best, bestCount, bestRows] = [net, index + 1, rows];
  }
  const size = Math.max(base + bestRows, 2);
  const price = (rate * (secondsOf(costs, size) - single)) / (size - 1);
  return { chosen: units.slice(0, bestCount), price };
}

/**
 * By what a branch grows, falling, if the check ends there. The first mask stands where the check
 * brings an exact token, so a branch has 2 masks or none.
 * @param {number[]} gains
 * @param {number | null} own what an alternative's own row brings
 */
function growthsOf(gains, own) {
  let sum = 0;
  const values = [0, 0, ...gains.map((gain) => (sum += gain))].map((value) => value + (own ?? 0));
  const ownRow = own === null ? 0 : 1;
  /** @type {Growth[]} */
  const growths = [];
  let [masks, value, rows] = [0, 0, 0];
  for (let isFirst = ownRow > 0; masks < values.length - 1; isFirst = false) {
    /** @type {Growth | null} */
    let best = null;
    for (let size = isFirst ? 0 : Math.max(2, masks + 1); size < values.length; size += 1) {
      if (size === 1) continue;
      const more = size + ownRow - rows;
      const worth = ((values[size] ?? 0) - value) / more;
      if (!best || worth >= best.worth) best = { worth, rows: more, size };
    }
    if (!best) break;
    growths.push(best);
    [masks, value, rows] = [best.size, values[best.size] ?? 0, best.size + ownRow];
  }
  return growths;
}

/**
 * @param {number} start
 * @param {number} expected
 * @param {number} right
 */
function scaleOf(start, expected, right) {
  return (right + PRIOR_WEIGHT * start) / (expected + PRIOR_WEIGHT);
}

/**
 * The chance that a draft holds up to its token `depth`, from 0; beyond what was measured it falls as
 * at the end of that.
 * @param {Calibration} calibration
 * @param {number} depth
 */
function survivalTo({ survival }, depth) {
  const known = survival[depth];
  if (known !== undefined) return known;
  const [before = 1, last = 0] = [1, ...survival].slice(-2);
  return last * (before ? last / before : 0) ** (depth - survival.length + 1);
}

/** Of the first, the first two, ... of them. @param {number[]} values */
function products(values) {
  let product = 1;
  return values.map((value) => {
    product *= value;
    return product;
  });
}

/** @param {number[]} values */
function total(values) {
  return values.reduce((sum, value) => sum + value, 0);
}
