// Decides which rows a forward pass of verify reads, by the tokens that a row may bring and the time that it costs;
// sbd_core/decoding/verify_rows.py explains the rule. Pure: it sees no token.

/**
 * Seconds of a forward pass for rising numbers of rows, the first of them 1. The seconds never fall.
 * @typedef {[numRows: number, seconds: number][]} RowCosts
 */
/**
 * How far a head's probabilities can be trusted, stored with its weights; see Calibration in sbd_core/config.py.
 * @typedef {{ survival: number[], drafted: number, alternatives: number, rejected: number }} Calibration
 */
/**
 * The rows of a forward pass besides one exact token and the draft that it checks. blockSizes: number of masks after
 * the draft's first 0, 1, 2, ... tokens. alternatives: for each one read, the index of the drafted token, its rank from
 * 0 on, and the number of masks after it. price: expected tokens below which a row does not pay.
 * @typedef {{ blockSizes: number[], alternatives: [place: number, rank: number, size: number][], price: number }} RowPlan
 */
/** Rows by which a branch grows; worth: expected tokens per row. @typedef {{ worth: number, rows: number }} Step */
/**
 * Rows that may follow the draft's first `place` tokens: an alternative, with its rank (null for none), then masks.
 * chance: that the check ends there and the alternative is right. steps: its growth in order. rows: rows chosen so far.
 * @typedef {{ place: number, rank: number | null, chance: number, steps: Step[], rows: number }} Branch
 */
/** Fading sums of what came true and of what was expected. @typedef {[sum: number, expected: number]} Sums */

/** Largest number of alternatives to a drafted token. */
export const NUM_ALTERNATIVES = 7;
const MEMORY = 0.98;
const PRIOR_WEIGHT = 2;
const CERTAIN = 0.99;

/** Return the seconds of a forward pass, interpolated. @param {RowCosts} costs @param {number} numRows */
export function secondsOf(costs, numRows) {
  if (costs.length === 1) return costs[0][1];
  const found = costs.findIndex(([rows]) => rows >= numRows);
  const place = Math.max(1, found < 0 ? costs.length - 1 : found);
  const [[fewer, low], [more, high]] = costs.slice(place - 1);
  return Math.max(low + ((numRows - fewer) / (more - fewer)) * (high - low), Number.MIN_VALUE);
}

/** How the drafts of this decode fared, in fading sums, starting from the calibration. */
export class DraftRecord {
  /** @param {Calibration} calibration */
  constructor(calibration) {
    this.calibration = calibration;
    /** Number of right draft tokens, and the head's probabilities of all checked ones. @type {Sums} */
    this.drafted = [0, 0];
    /** The same for alternatives. @type {Sums} */
    this.alternatives = [0, 0];
    /** For each depth, the chances that a new draft is right up to there, and the number of drafts. @type {Sums[]} */
    this.survivals = [];
    /** Tokens and seconds of forward passes, the latter by the table of costs. @type {Sums} */
    this.rate = [0, 0];
  }

  /**
   * Return the chance that each token is right.
   * @param {number[]} probabilities the head's
   * @param {"drafted" | "alternatives"} [kind]
   */
  chances(probabilities, kind = "drafted") {
    const scale = ratioOf(this[kind], this.calibration[kind]);
    return probabilities.map((probability) => Math.min(CERTAIN, probability * scale));
  }

  /** Return the chances that a future draft is right up to its token 1, 2, ... @param {number} length */
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
   * Record a block read after accepted tokens.
   * @param {number[]} probabilities the head's, of all tokens that the block could draft; 0 after the end of the answer
   */
  addDraft(probabilities) {
    for (const [depth, reached] of products(this.chances(probabilities)).entries())
      this.survivals[depth] = plus(this.survivals[depth] ?? [0, 0], reached, 1);
  }

  /**
   * Record a forward pass. checked: the head's probabilities of the drafted tokens up to the first wrong one. numRight:
   * how many of these were right. others: the head's probabilities of the alternatives that the check reached.
   * hasAlternative: whether one of these was right. seconds: by the table of costs; 0 leaves the pass out of the rate.
   * @param {{ checked: number[], numRight: number, others: number[], hasAlternative: boolean, numTokens: number, seconds: number }} pass
   */
  addPass({ checked, numRight, others, hasAlternative, numTokens, seconds }) {
    this.drafted = plus(this.drafted, numRight, total(checked));
    this.alternatives = plus(this.alternatives, Number(hasAlternative), total(others));
    this.rate = plus(this.rate, seconds ? numTokens : 0, seconds);
  }
}

/** Count the rows of a forward pass, including the exact token and the draft. @param {RowPlan} plan */
export function numRowsOf({ blockSizes, alternatives }) {
  return blockSizes.length + total(blockSizes) + total(alternatives.map(([, , size]) => 1 + size));
}

/**
 * Return the number of tokens to draft: as many as are all right with a chance above the price.
 * @param {number[]} chances
 * @param {number} price
 */
export function draftLength(chances, price) {
  const end = products(chances).findIndex((chance) => chance <= price);
  return end < 0 ? chances.length : end;
}

/**
 * What a plan depends on besides the draft's probabilities.
 * @typedef {object} PlanInputs
 * @property {number} blockSize largest number of masks in a block
 * @property {number} numLeft tokens that the answer may still grow by
 * @property {number[][]} alternatives for each drafted token, the probabilities of its alternatives, likeliest first
 * @property {number} numSure number of leading draft tokens that count as right
 * @property {number | null} maxRows largest number of rows of the pass; null if costs decide
 * @property {RowCosts | null} costs null if maxRows decides
 * @property {boolean} isEnd whether the draft's last token ends the answer
 * @property {number} numCausal exact tokens that the pass reads
 * @property {number} price of the last plan
 */

/**
 * Plan the forward pass that checks a draft.
 * @param {DraftRecord} record
 * @param {number[]} probabilities the head's, of the drafted tokens
 * @param {PlanInputs} inputs
 * @returns {RowPlan}
 */
export function planRows(record, probabilities, inputs) {
  const { costs, numLeft, numSure } = inputs;
  const chances = new Array(numSure).fill(1).concat(record.chances(probabilities.slice(numSure)));
  const survival = record.survival(Math.max(0, Math.min(inputs.blockSize, numLeft) - 1));
  const branches = branchesOf(record, chances, inputs.alternatives, survival, inputs.price);
  if (inputs.isEnd) branches.pop();
  const base = 1 + probabilities.length;
  const most = costs?.at(-1)?.[0] ?? inputs.maxRows ?? 1;
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
    const read = inputs.numCausal + probabilities.length;
    // Rows pay only if passes of that many rows give a token sooner than next-token prediction.
    const nets = points.map((point) => {
      const seconds = secondsOf(costs, base + point.rows);
      const pays = point.rows === 0 || (1 + point.worth) * single > seconds;
      return pays ? point.worth - rate * secondsOf(costs, read + point.rows) : -Infinity;
    });
    points = points.slice(0, 1 + nets.indexOf(Math.max(...nets)));
    // The mean cost of a row, not that of one more: from one row to two the cost rises most.
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

/** Return the steps of all branches that are worth anything, the best first. @param {Branch[]} branches */
function unitsOf(branches) {
  const units = branches.flatMap((branch) =>
    branch.steps.map(({ worth, rows }) => ({ worth: branch.chance * worth, rows, branch })),
  );
  return units.filter(({ worth }) => worth > 0).sort((a, b) => b.worth - a.worth);
}

/**
 * Return all branches; the last one follows the whole draft. If an alternative is right, the masks after the rejected
 * token go unused: the better of the two counts in full, the other only for what it adds.
 * @param {DraftRecord} record
 * @param {number[]} chances that each drafted token is right
 * @param {number[][]} alternatives see Asked
 * @param {number[]} survival see DraftRecord.survival()
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
 * Return the tokens per second so far, averaged with the best rate that this plan can give.
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
 * Group rows into steps of falling worth. A row that brings less than the next one joins that one's step.
 * @param {number[]} gains expected tokens of row 1, 2, ...
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

/** Add an observation to the sums. @param {Sums} sums @param {number} sum @param {number} expected @returns {Sums} */
function plus(sums, sum, expected) {
  return [sums[0] * MEMORY + sum, sums[1] * MEMORY + expected];
}

/** Return the ratio of true to expected, averaged with the usual ratio. @param {Sums} sums @param {number} usual */
function ratioOf([sum, expected], usual) {
  return (sum + PRIOR_WEIGHT * usual) / (expected + PRIOR_WEIGHT);
}

/**
 * Return the chance that a draft's tokens 0 to `depth` are all right. Beyond the measured depths it falls by the last
 * ratio measured.
 * @param {Calibration} calibration
 * @param {number} depth
 */
function survivalTo({ survival }, depth) {
  const known = survival[depth];
  if (known !== undefined) return known;
  const [before = 1, last = 0] = [1, ...survival].slice(-2);
  return last * (before ? last / before : 0) ** (depth - survival.length + 1);
}

/** Return the products of the first value, of the first two, and so on. @param {number[]} values */
function products(values) {
  let product = 1;
  return values.map((value) => (product *= value));
}

/** Return the sum of the values. @param {number[]} values */
function total(values) {
  return values.reduce((sum, value) => sum + value, 0);
}
