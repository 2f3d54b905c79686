// Which rows a forward pass of verify feeds: one rule, by what a row may bring and what it costs;
// sbd_core/decoding/draft_tree.py says how. Pure; nothing here sees a token.
import constants from "../../constants.json" with { type: "json" };

/** @typedef {[numRows: number, seconds: number][]} RowCosts from 1 row on, in rising order; seconds never fall */
/** @typedef {{ survival: number[], drafted: number, alternatives: number, rejected: number }} Calibration of a head's probabilities, kept with its weights */
/** @typedef {[place: number, rank: number, size: number]} PlannedAlternative place in the draft, rank from 0 on, masks behind it */
/** @typedef {{ blockSizes: number[], alternatives: PlannedAlternative[], price: number }} RowPlan masks behind the draft's first 0, 1, 2, ... tokens; each alternative read; tokens that a row has to bring */
/** @typedef {{ worth: number, rows: number }} Step by which a branch grows: tokens that each row brings, rows */
/** @typedef {{ place: number, rank: number | null, chance: number, steps: Step[], rows: number }} Branch where rows may stand: masks behind `place` drafted tokens, or an alternative to the next one */
/** @typedef {[sum: number, expected: number]} Sums that fade: of what came true, and of what was expected */

/** Largest number of alternatives to a drafted token. */
export const NUM_ALTERNATIVES = 7;
/** @type {Calibration} of a model that names none */
export const USUAL_CALIBRATION = constants.calibration;
const MEMORY = 0.98;
const PRIOR_WEIGHT = 2;
const CERTAIN = 0.99;

/** Seconds of a forward pass of so many rows. @param {RowCosts} costs @param {number} numRows */
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
    /** @type {Sums} draft tokens that were right; the head's probabilities of those checked */
    this.drafted = [0, 0];
    /** @type {Sums} the same of alternatives */
    this.alternatives = [0, 0];
    /** @type {Sums[]} of each depth: chances that a new draft is right up to there; drafts */
    this.survivals = [];
    /** @type {Sums} tokens and seconds, by the table of costs */
    this.rate = [0, 0];
  }

  /**
   * The chance of each token to be right.
   * @param {number[]} probabilities the head's
   * @param {"drafted" | "alternatives"} [kind]
   */
  chances(probabilities, kind = "drafted") {
    const scale = ratioOf(this[kind], this.calibration[kind]);
    return probabilities.map((probability) => Math.min(CERTAIN, probability * scale));
  }

  /** The chance that a draft not made yet holds up to its token 1, 2, ... @param {number} length */
  survival(length) {
    const start = this.calibration.drafted;
    const drift = start ? ratioOf(this.drafted, start) / start : 0;
    let last = 1;
    return Array.from({ length }, (_, depth) => {
      const usual = survivalTo(this.calibration, depth) * drift ** (depth + 1);
      last = Math.min(last * CERTAIN, ratioOf(this.survivals[depth] ?? [0, 0], usual));
      return last;
    });
  }

  /**
   * A block behind accepted tokens was read.
   * @param {number[]} probabilities the head's, of all that might be drafted from it; 0 behind the end of the text
   */
  see(probabilities) {
    for (const [depth, reached] of products(this.chances(probabilities)).entries())
      this.survivals[depth] = plus(this.survivals[depth] ?? [0, 0], reached, 1);
  }

  /**
   * A forward pass was made. checked: the head's probabilities of the drafted tokens up to the first
   * wrong one, numRight of which were right; others: of the alternatives to tokens that were reached;
   * seconds: by the table of costs, 0 if it does not count.
   * @param {{ checked: number[], numRight: number, others: number[], hasAlternative: boolean, numTokens: number, seconds: number }} pass
   */
  count({ checked, numRight, others, hasAlternative, numTokens, seconds }) {
    this.drafted = plus(this.drafted, numRight, total(checked));
    this.alternatives = plus(this.alternatives, hasAlternative ? 1 : 0, total(others));
    this.rate = plus(this.rate, seconds ? numTokens : 0, seconds);
  }
}

/** Rows of the forward pass, with one exact token. @param {RowPlan} plan */
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
 * A plan is asked for.
 * @typedef {object} Asked
 * @property {number} blockSize masks of a block at most
 * @property {number} numLeft tokens that the answer may still grow by
 * @property {number[][]} alternatives of each drafted token, the probabilities of others, likeliest first
 * @property {number} numSure drafted tokens, first in the draft, that are as good as right
 * @property {number | null} maxRows of the pass; null by costs
 * @property {RowCosts | null} costs
 * @property {boolean} isEnd whether the draft's last token ends the text
 * @property {number} numCausal exact tokens that the pass reads
 * @property {number} price of the last plan
 */

/**
 * The plan of the forward pass that checks a draft of tokens with `probabilities`.
 * @param {DraftRecord} record
 * @param {number[]} probabilities
 * @param {Asked} asked
 * @returns {RowPlan}
 */
export function planRows(record, probabilities, asked) {
  const { costs, numLeft, numSure } = asked;
  const own = record.chances(probabilities.slice(numSure));
  const chances = [...new Array(numSure).fill(1), ...own];
  const survival = record.survival(Math.max(0, Math.min(asked.blockSize, numLeft) - 1));
  const branches = branchesOf(record, chances, asked.alternatives, survival, asked.price);
  if (asked.isEnd) branches.pop();
  const base = 1 + probabilities.length;
  const most = costs?.at(-1)?.[0] ?? asked.maxRows ?? 1;
  let [worth, rows, price] = [0, 0, 0];
  /** @type {{ worth: number, rows: number, branch?: Branch, to: number }[]} */
  let points = [{ worth, rows, to: 0 }];
  for (const unit of unitsOf(branches)) {
    if (base + rows >= most) {
      price = unit.worth;
      break;
    }
    const { branch } = unit;
    const more = Math.min(unit.rows, most - base - rows);
    let to = Math.min(branch.rows + more, numLeft - branch.place);
    if (to === 1 + ownRows(branch)) to -= 1; // a single mask brings nothing
    if (to <= branch.rows) continue;
    worth += unit.worth * (to - branch.rows);
    rows += to - branch.rows;
    branch.rows = to;
    points.push({ worth, rows, branch, to });
  }
  if (costs) {
    const single = secondsOf(costs, 1);
    const rate = Math.max(rateOf(record, points, base, costs), 1 / single);
    const read = asked.numCausal + probabilities.length;
    // Rows pay only where passes that all had them would be quicker than next-token prediction.
    const nets = points.map((point) => {
      const seconds = secondsOf(costs, base + point.rows);
      const pays = point.rows === 0 || (1 + point.worth) * single > seconds;
      return pays ? point.worth - rate * secondsOf(costs, read + point.rows) : -Infinity;
    });
    points = points.slice(0, 1 + nets.indexOf(Math.max(...nets)));
    // A single row more would say too much: from one row to two the cost rises most.
    const chosen = points.at(-1)?.rows;
    const size = Math.max(2, chosen ? base + chosen : most);
    price = Math.max(price, (rate * (secondsOf(costs, size) - single)) / (size - 1));
  }
  const sizes = new Map(points.map(({ branch, to }) => [branch, to]));
  /** @type {RowPlan} */
  const plan = { blockSizes: new Array(base).fill(0), alternatives: [], price };
  for (const branch of branches) {
    const size = sizes.get(branch);
    if (size === undefined) continue;
    if (branch.rank === null) plan.blockSizes[branch.place] = size;
    else plan.alternatives.push([branch.place, branch.rank, size - 1]);
  }
  return plan;
}

/** Rows of an alternative's own. @param {Branch} branch */
function ownRows({ rank }) {
  return rank === null ? 0 : 1;
}

/** All steps of all branches that bring something, by falling worth. @param {Branch[]} branches */
function unitsOf(branches) {
  const units = branches.flatMap((branch) =>
    branch.steps.map(({ worth, rows }) => ({ worth: branch.chance * worth, rows, branch })),
  );
  return units.filter(({ worth }) => worth > 0).sort((a, b) => b.worth - a.worth);
}

/**
 * All places for rows; the last is behind the whole draft. Where an alternative is right, masks
 * behind the rejected token go unused: what is taken first leaves less to the other.
 * @param {DraftRecord} record
 * @param {number[]} chances
 * @param {number[][]} alternatives
 * @param {number[]} survival
 * @param {number} price
 */
function branchesOf(record, chances, alternatives, survival, price) {
  const { rejected } = record.calibration;
  const gains = survival.map((chance) => Math.max(0, chance - price));
  const less = survival.map((chance) => Math.max(0, chance * rejected - price));
  const behindRejected = stepsOf([0, ...less]);
  const before = stepsOf([1 - price, 0, ...gains]);
  const after = stepsOf([Math.max(0, 1 - price - total(less)), 0, ...gains]);
  const [first, usual] = [before[0]?.worth ?? 0, behindRejected[0]?.worth ?? 0];
  /** @type {Branch[]} */
  const branches = [];
  let reached = 1;
  for (const [place, chance] of chances.entries()) {
    let left = reached * (1 - chance);
    for (const [rank, share] of record
      .chances(alternatives[place] ?? [], "alternatives")
      .entries()) {
      const other = reached * share;
      const isFirst = other * first > left * usual;
      const steps = isFirst ? before : after;
      branches.push({ place, rank, chance: other, steps, rows: 0 });
      if (isFirst) left = Math.max(0, left - other);
    }
    branches.push({ place, rank: null, chance: left, steps: behindRejected, rows: 0 });
    reached *= chance;
  }
  const steps = stepsOf([0, ...gains]);
  branches.push({ place: chances.length, rank: null, chance: reached, steps, rows: 0 });
  return branches;
}

/**
 * Tokens per second so far, drawn to the most that this plan may give.
 * @param {DraftRecord} record
 * @param {{ worth: number, rows: number }[]} points
 * @param {number} base
 * @param {RowCosts} costs
 */
function rateOf(record, points, base, costs) {
  let [tokens, seconds] = [0, 1];
  for (const point of points) {
    const time = secondsOf(costs, base + point.rows);
    if ((1 + point.worth) / time > tokens / seconds) [tokens, seconds] = [1 + point.worth, time];
  }
  return (record.rate[0] + PRIOR_WEIGHT * tokens) / (record.rate[1] + PRIOR_WEIGHT * seconds);
}

/**
 * Steps by falling worth. A row that brings less than the next is taken together with it.
 * @param {number[]} gains what row after row brings
 */
function stepsOf(gains) {
  /** @type {Step[]} */
  const steps = [];
  for (const gain of gains) {
    let [worth, rows] = [gain, 1];
    for (let earlier = steps.at(-1); earlier && earlier.worth < worth; earlier = steps.at(-1)) {
      const sum = worth * rows + earlier.worth * earlier.rows;
      rows += earlier.rows;
      worth = sum / rows;
      steps.pop();
    }
    steps.push({ worth, rows });
  }
  return steps;
}

/** @param {Sums} sums @param {number} sum @param {number} expected @returns {Sums} */
function plus(sums, sum, expected) {
  return [sums[0] * MEMORY + sum, sums[1] * MEMORY + expected];
}

/** The share of the expected that came true, drawn to the usual one. @param {Sums} sums @param {number} usual */
function ratioOf([sum, expected], usual) {
  return (sum + PRIOR_WEIGHT * usual) / (expected + PRIOR_WEIGHT);
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

/** Products of the first, the first two, ... of them. @param {number[]} values */
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
