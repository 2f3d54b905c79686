// Which rows a forward pass of verify feeds: one rule, by what a row may bring and what it costs;
// sbd_core/decoding/verify_rows.py says how. Pure; nothing here sees a token.

/**
 * Seconds of a forward pass by its number of rows, which rises from 1 on; the seconds never fall.
 * @typedef {[numRows: number, seconds: number][]} RowCosts
 */
/**
 * How far a head's probabilities can be believed; kept with its weights.
 * @typedef {{ survival: number[], drafted: number, alternatives: number, rejected: number }} Calibration
 */
/**
 * The rows of a forward pass besides one exact token and the draft that it checks. blockSizes: masks
 * behind the draft's first 0, 1, 2, ... tokens. alternatives: place in the draft, rank from 0 on and
 * masks behind it of each one read. price: tokens that a row must bring.
 * @typedef {{ blockSizes: number[], alternatives: [place: number, rank: number, size: number][], price: number }} RowPlan
 */
/** A step by which a branch grows. @typedef {{ worth: number, rows: number }} Step worth: tokens that each row brings */
/**
 * A place for rows: masks behind `place` drafted tokens, or an alternative to the next one.
 * @typedef {{ place: number, rank: number | null, chance: number, steps: Step[], rows: number }} Branch
 */
/** Sums that fade, of what came true and of what was expected. @typedef {[sum: number, expected: number]} Sums */

/** Largest number of alternatives to a drafted token. */
export const NUM_ALTERNATIVES = 7;
const MEMORY = 0.98;
const PRIOR_WEIGHT = 2;
const CERTAIN = 0.99;

/** Seconds of a forward pass of so many rows. @param {RowCosts} costs @param {number} numRows */
export function secondsOf(costs, numRows) {
  if (costs.length === 1) return costs[0][1];
  const found = costs.findIndex(([rows]) => rows >= numRows);
  const place = Math.max(1, found < 0 ? costs.length - 1 : found);
  const [[fewer, low], [more, high]] = costs.slice(place - 1);
  return Math.max(low + ((numRows - fewer) / (more - fewer)) * (high - low), Number.MIN_VALUE);
}

/** The record of how drafts fared in this decode; it fades towards the calibration. */
export class DraftRecord {
  /** @param {Calibration} calibration */
  constructor(calibration) {
    this.calibration = calibration;
    /** Draft tokens that were right, and the head's probabilities of those checked. @type {Sums} */
    this.drafted = [0, 0];
    /** The same of alternatives. @type {Sums} */
    this.alternatives = [0, 0];
    /** For each depth the chances that a new draft is right up to there, and drafts. @type {Sums[]} */
    this.survivals = [];
    /** Tokens and seconds, by the table of costs. @type {Sums} */
    this.rate = [0, 0];
  }

  /**
   * The chance of each token to be right.
   * @param {number[]} probabilities those of the head
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
   * Record a block read behind accepted tokens.
   * @param {number[]} probabilities the head's, of all tokens that might be drafted; 0 behind the end of the text
   */
  see(probabilities) {
    for (const [depth, reached] of products(this.chances(probabilities)).entries())
      this.survivals[depth] = plus(this.survivals[depth] ?? [0, 0], reached, 1);
  }

  /**
   * Record a forward pass. checked: the head's probabilities of the drafted tokens up to the first
   * wrong one, numRight of which were right; others: those of the alternatives to tokens that were
   * reached; seconds: by the table of costs, 0 if the pass does not count.
   * @param {{ checked: number[], numRight: number, others: number[], hasAlternative: boolean, numTokens: number, seconds: number }} pass
   */
  count({ checked, numRight, others, hasAlternative, numTokens, seconds }) {
    this.drafted = plus(this.drafted, numRight, total(checked));
    this.alternatives = plus(this.alternatives, Number(hasAlternative), total(others));
    this.rate = plus(this.rate, seconds ? numTokens : 0, seconds);
  }
}

/** The number of rows of a forward pass, with one exact token. @param {RowPlan} plan */
export function numRowsOf({ blockSizes, alternatives }) {
  return blockSizes.length + total(blockSizes) + total(alternatives.map(([, , size]) => 1 + size));
}

/**
 * The number of tokens to draft: as long as the chance that all are right is above the price.
 * @param {number[]} chances
 * @param {number} price
 */
export function draftLength(chances, price) {
  const end = products(chances).findIndex((chance) => chance <= price);
  return end < 0 ? chances.length : end;
}

/**
 * What a plan depends on besides the draft's own probabilities.
 * @typedef {object} Asked
 * @property {number} blockSize masks of a block at most
 * @property {number} numLeft tokens that the answer may still grow by
 * @property {number[][]} alternatives for each drafted token the probabilities of others, likeliest first
 * @property {number} numSure number of leading draft tokens that are as good as right
 * @property {number | null} maxRows rows of the pass at most; null by costs
 * @property {RowCosts | null} costs
 * @property {boolean} isEnd whether the draft's last token ends the text
 * @property {number} numCausal exact tokens that the pass reads
 * @property {number} price the last plan's
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
  const chances = new Array(numSure).fill(1).concat(record.chances(probabilities.slice(numSure)));
  const survival = record.survival(Math.max(0, Math.min(asked.blockSize, numLeft) - 1));
  const branches = branchesOf(record, chances, asked.alternatives, survival, asked.price);
  if (asked.isEnd) branches.pop();
  const base = 1 + probabilities.length;
  const most = costs?.at(-1)?.[0] ?? asked.maxRows ?? 1;
  let [worth, rows, price] = [0, 0, 0];
  /** @type {{ worth: number, rows: number, branch?: Branch, to: number }[]} */
  let points = [{ worth, rows, to: 0 }];
  for (const { branch, ...unit } of unitsOf(branches)) {
    if (base + rows >= most) {
      price = unit.worth;
      break;
    }
    const more = Math.min(unit.rows, most - base - rows);
    let to = Math.min(branch.rows + more, numLeft - branch.place);
    if (to === (branch.rank === null ? 1 : 2)) to -= 1; // a single mask brings nothing
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
  const [first, usual] = [before[0].worth, behindRejected[0].worth];
  /** @type {Branch[]} */
  const branches = [];
  let reached = 1;
  for (const [place, chance] of chances.entries()) {
    let left = reached * (1 - chance);
    const shares = record.chances(alternatives[place] ?? [], "alternatives");
    for (const [rank, share] of shares.entries()) {
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
 * The tokens per second so far, drawn to the most that this plan may give.
 * @param {DraftRecord} record
 * @param {{ worth: number, rows: number }[]} points
 * @param {number} base
 * @param {RowCosts} costs
 */
function rateOf(record, points, base, costs) {
  const rates = points.map(({ worth, rows }) => [1 + worth, secondsOf(costs, base + rows)]);
  const [tokens, seconds] = rates.reduce((a, b) => (b[0] / b[1] > a[0] / a[1] ? b : a));
  return (record.rate[0] + PRIOR_WEIGHT * tokens) / (record.rate[1] + PRIOR_WEIGHT * seconds);
}

/**
 * Steps by falling worth. A row that brings less than the next one is taken together with it.
 * @param {number[]} gains the tokens that row after row brings
 */
function stepsOf(gains) {
  /** @type {Step[]} */
  const steps = [];
  for (const gain of gains) {
    let [worth, rows] = [gain, 1];
    for (let last = steps.at(-1); last && last.worth < worth; last = steps.at(-1)) {
      worth = (worth * rows + last.worth * last.rows) / (rows + last.rows);
      rows += last.rows;
      steps.pop();
    }
    steps.push({ worth, rows });
  }
  return steps;
}

/** The sums after one more observation. @param {Sums} sums @param {number} sum @param {number} expected @returns {Sums} */
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

/** The products of the first, the first two, ... of them. @param {number[]} values */
function products(values) {
  let product = 1;
  return values.map((value) => (product *= value));
}

/** The sum of them. @param {number[]} values */
function total(values) {
  return values.reduce((sum, value) => sum + value, 0);
}
