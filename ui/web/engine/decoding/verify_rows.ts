// Decides which rows a forward pass of verify reads, by the tokens that a row may bring and the time that it costs;
// sbd_core/decoding/verify_rows.py explains the rule. Pure: it sees no token.

/** Seconds of a forward pass for rising numbers of rows, the first of them 1. The seconds never fall. */
export type RowCosts = [numRows: number, seconds: number][];
/** How far a head's probabilities can be trusted, stored with its weights; see Calibration in sbd_core/config.py. */
export type Calibration = {
  survival: number[];
  drafted: number;
  alternatives: number;
  rejected: number;
};
/**
 * The rows of a forward pass besides one exact token and the draft that it checks. blockSizes: number of masks
 * after the draft's first 0, 1, 2, ... tokens. alternatives: for each one read, the index of the drafted token, its
 * rank from 0 on, and the number of masks after it. price: expected tokens below which a row does not pay.
 */
export type RowPlan = {
  blockSizes: number[];
  alternatives: [place: number, rank: number, size: number][];
  price: number;
};
/** Rows by which a branch grows; worth: expected tokens per row. */
type Step = { worth: number; rows: number };
/**
 * Rows that may follow the draft's first `place` tokens: an alternative, with its rank (null for none), then masks.
 * chance: that the check ends there and the alternative is right. steps: its growth in order. rows: rows chosen so
 * far.
 */
type Branch = { place: number; rank: number | null; chance: number; steps: Step[]; rows: number };
/** Fading sums of what came true and of what was expected. */
type Sums = [sum: number, expected: number];

/** Largest number of alternatives to a drafted token. */
export const NUM_ALTERNATIVES = 7;
const MEMORY = 0.98;
const PRIOR_WEIGHT = 2;
const CERTAIN = 0.99;

/** Return the seconds of a forward pass, interpolated. */
export function secondsOf(costs: RowCosts, numRows: number) {
  if (costs.length === 1) return costs[0][1];
  const found = costs.findIndex(([rows]) => rows >= numRows);
  const place = Math.max(1, found < 0 ? costs.length - 1 : found);
  const [[fewer, low], [more, high]] = costs.slice(place - 1);
  return Math.max(low + ((numRows - fewer) / (more - fewer)) * (high - low), Number.MIN_VALUE);
}

/** How the drafts of this decode fared, in fading sums, starting from the calibration. */
export class DraftRecord {
  /** Number of right draft tokens, and the head's probabilities of all checked ones. */
  drafted: Sums = [0, 0];
  /** The same for alternatives. */
  alternatives: Sums = [0, 0];
  /** For each depth, the chances that a new draft is right up to there, and the number of drafts. */
  survivals: Sums[] = [];
  /** Tokens and seconds of forward passes, the latter by the table of costs. */
  rate: Sums = [0, 0];

  constructor(readonly calibration: Calibration) {}

  /**
   * Return the chance that each token is right.
   * @param probabilities the head's
   */
  chances(probabilities: number[], kind: "drafted" | "alternatives" = "drafted") {
    const scale = ratioOf(this[kind], this.calibration[kind]);
    return probabilities.map((probability) => Math.min(CERTAIN, probability * scale));
  }

  /** Return the chances that a future draft is right up to its token 1, 2, ... */
  survival(length: number) {
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
   * @param probabilities the head's, of all tokens that the block could draft; 0 after the end of the answer
   */
  addDraft(probabilities: number[]) {
    for (const [depth, reached] of products(this.chances(probabilities)).entries())
      this.survivals[depth] = plus(this.survivals[depth] ?? [0, 0], reached, 1);
  }

  /**
   * Record a forward pass. checked: the head's probabilities of the drafted tokens up to the first wrong one. numRight:
   * how many of these were right. others: the head's probabilities of the alternatives that the check reached.
   * hasAlternative: whether one of these was right. seconds: by the table of costs; 0 leaves the pass out of the rate.
   */
  addPass({
    checked,
    numRight,
    others,
    hasAlternative,
    numTokens,
    seconds,
  }: {
    checked: number[];
    numRight: number;
    others: number[];
    hasAlternative: boolean;
    numTokens: number;
    seconds: number;
  }) {
    this.drafted = plus(this.drafted, numRight, total(checked));
    this.alternatives = plus(this.alternatives, Number(hasAlternative), total(others));
    this.rate = plus(this.rate, seconds ? numTokens : 0, seconds);
  }
}

/** Count the rows of a forward pass, including the exact token and the draft. */
export function numRowsOf({ blockSizes, alternatives }: RowPlan) {
  return blockSizes.length + total(blockSizes) + total(alternatives.map(([, , size]) => 1 + size));
}

/** Return the number of tokens to draft: as many as are all right with a chance above the price. */
export function draftLength(chances: number[], price: number) {
  const end = products(chances).findIndex((chance) => chance <= price);
  return end < 0 ? chances.length : end;
}

/** What a plan depends on besides the draft's probabilities. */
interface PlanInputs {
  blockSize: number; // largest number of masks in a block
  numLeft: number; // tokens that the answer may still grow by
  alternatives: number[][]; // for each drafted token, the probabilities of its alternatives, likeliest first
  numSure: number; // number of leading draft tokens that count as right
  maxRows: number | null; // largest number of rows of the pass; null if costs decide
  costs: RowCosts | null; // null if maxRows decides
  isEnd: boolean; // whether the draft's last token ends the answer
  numCausal: number; // exact tokens that the pass reads
  price: number; // of the last plan
}

/**
 * Plan the forward pass that checks a draft.
 * @param probabilities the head's, of the drafted tokens
 */
export function planRows(
  record: DraftRecord,
  probabilities: number[],
  inputs: PlanInputs,
): RowPlan {
  const { costs, numLeft, numSure } = inputs;
  const chances = new Array(numSure).fill(1).concat(record.chances(probabilities.slice(numSure)));
  const survival = record.survival(Math.max(0, Math.min(inputs.blockSize, numLeft) - 1));
  const branches = branchesOf(record, chances, inputs.alternatives, survival, inputs.price);
  if (inputs.isEnd) branches.pop();
  const base = 1 + probabilities.length;
  const most = costs?.at(-1)?.[0] ?? inputs.maxRows ?? 1;
  let [worth, rows, price] = [0, 0, 0];
  let points: { worth: number; rows: number; branch?: Branch; to: number }[] = [
    { worth, rows, to: 0 },
  ];
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
  const plan: RowPlan = { blockSizes: new Array(base).fill(0), alternatives: [], price };
  for (const branch of branches) {
    const size = sizes.get(branch);
    if (size === undefined) continue;
    if (branch.rank === null) plan.blockSizes[branch.place] = size;
    else plan.alternatives.push([branch.place, branch.rank, size - 1]);
  }
  return plan;
}

/** Return the steps of all branches that are worth anything, the best first. */
function unitsOf(branches: Branch[]) {
  const units = branches.flatMap((branch) =>
    branch.steps.map(({ worth, rows }) => ({ worth: branch.chance * worth, rows, branch })),
  );
  return units.filter(({ worth }) => worth > 0).sort((a, b) => b.worth - a.worth);
}

/**
 * Return all branches; the last one follows the whole draft. If an alternative is right, the masks after the rejected
 * token go unused: the better of the two counts in full, the other only for what it adds.
 * @param chances that each drafted token is right
 * @param alternatives see Asked
 * @param survival see DraftRecord.survival()
 */
function branchesOf(
  record: DraftRecord,
  chances: number[],
  alternatives: number[][],
  survival: number[],
  price: number,
) {
  const { rejected } = record.calibration;
  const gains = survival.map((chance) => Math.max(0, chance - price));
  const less = survival.map((chance) => Math.max(0, chance * rejected - price));
  const behindRejected = stepsOf([0, ...less]);
  const before = stepsOf([1 - price, 0, ...gains]);
  const after = stepsOf([Math.max(0, 1 - price - total(less)), 0, ...gains]);
  const [first, usual] = [before[0].worth, behindRejected[0].worth];
  const branches: Branch[] = [];
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

/** Return the tokens per second so far, averaged with the best rate that this plan can give. */
function rateOf(
  record: DraftRecord,
  points: { worth: number; rows: number }[],
  base: number,
  costs: RowCosts,
) {
  const rates = points.map(({ worth, rows }) => [1 + worth, secondsOf(costs, base + rows)]);
  const [tokens, seconds] = rates.reduce((a, b) => (b[0] / b[1] > a[0] / a[1] ? b : a));
  return (record.rate[0] + PRIOR_WEIGHT * tokens) / (record.rate[1] + PRIOR_WEIGHT * seconds);
}

/**
 * Group rows into steps of falling worth. A row that brings less than the next one joins that one's step.
 * @param gains expected tokens of row 1, 2, ...
 */
function stepsOf(gains: number[]) {
  const steps: Step[] = [];
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

/** Add an observation to the sums. */
function plus(sums: Sums, sum: number, expected: number): Sums {
  return [sums[0] * MEMORY + sum, sums[1] * MEMORY + expected];
}

/** Return the ratio of true to expected, averaged with the usual ratio. */
function ratioOf([sum, expected]: Sums, usual: number) {
  return (sum + PRIOR_WEIGHT * usual) / (expected + PRIOR_WEIGHT);
}

/**
 * Return the chance that a draft's tokens 0 to `depth` are all right. Beyond the measured depths it falls by the last
 * ratio measured.
 */
function survivalTo({ survival }: Calibration, depth: number) {
  const known = survival[depth];
  if (known !== undefined) return known;
  const [before = 1, last = 0] = [1, ...survival].slice(-2);
  return last * (before ? last / before : 0) ** (depth - survival.length + 1);
}

/** Return the products of the first value, of the first two, and so on. */
function products(values: number[]) {
  let product = 1;
  return values.map((value) => (product *= value));
}

/** Return the sum of the values. */
function total(values: number[]) {
  return values.reduce((sum, value) => sum + value, 0);
}
