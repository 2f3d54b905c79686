// Decides which rows a forward pass of verify reads, by the tokens expected of each; sbd_core/decoding/verify_rows.py
// explains the rule. Pure: it sees no token.

/** How far a head's probabilities can be trusted, stored with its weights; see Calibration in sbd_core/config.py. */
export type Calibration = {
  survival: number[];
  drafted: number;
  alternatives: number;
  rejected: number;
  least: number;
};
/**
 * The rows of a forward pass besides one exact token and the draft that it checks. blockSizes: number of masks
 * after the draft's first 0, 1, 2, ... tokens. alternatives: for each one read, the index of the drafted token, its
 * rank from 0 on, and the number of masks after it.
 */
export type RowPlan = {
  blockSizes: number[];
  alternatives: [place: number, rank: number, size: number][];
};
/** Rows that are read together; worth: expected tokens per row. */
type Step = { worth: number; rows: number };
/**
 * Rows that may follow the draft's first `place` tokens: an alternative, with its rank (null for none), then masks.
 * chance: that the check ends there and the alternative is right. steps: its growth in order. rows: rows chosen so
 * far.
 */
type Branch = { place: number; rank: number | null; chance: number; steps: Step[]; rows: number };

/** Largest number of alternatives to a drafted token. */
export const NUM_ALTERNATIVES = 7;
const CERTAIN = 0.99;

/** Return the chance that each token is right. @param probabilities the head's */
function chancesOf(probabilities: number[], scale: number) {
  return probabilities.map((probability) => Math.min(CERTAIN, probability * scale));
}

/**
 * Return the number of tokens to draft: as many as are all right with a chance above 0.5 / maxRows and above `least`.
 * @param probabilities the head's, of the likeliest token at each position
 */
export function draftLength(probabilities: number[], calibration: Calibration, maxRows: number) {
  const bound = Math.max(calibration.least, 0.5 / maxRows);
  let [reached, length] = [1, 0];
  for (const chance of chancesOf(probabilities, calibration.drafted)) {
    reached *= chance;
    if (reached <= bound) break;
    length += 1;
  }
  return Math.min(length, maxRows - 1);
}

/** What a plan depends on besides the draft's probabilities. */
interface PlanInputs {
  blockSize: number; // largest number of masks in a block
  numLeft: number; // tokens that the answer may still grow by
  maxRows: number; // largest number of rows of the pass
  alternatives: number[][]; // for each drafted token, the probabilities of its alternatives, likeliest first
  numSure: number; // number of leading draft tokens that count as right
  isEnd: boolean; // whether the draft's last token ends the answer
}

/**
 * Plan the forward pass that checks a draft.
 * @param probabilities the head's, of the drafted tokens
 */
export function planRows(
  probabilities: number[],
  calibration: Calibration,
  inputs: PlanInputs,
): RowPlan {
  const { blockSize, numLeft, numSure } = inputs;
  const checked = chancesOf(probabilities.slice(numSure), calibration.drafted);
  const chances = new Array(numSure).fill(1).concat(checked);
  const others = inputs.alternatives.map((own) => chancesOf(own, calibration.alternatives));
  const length = Math.max(0, Math.min(blockSize, numLeft) - 1);
  const survival = Array.from({ length }, (_, depth) => survivalTo(calibration, depth));
  const branches = branchesOf(chances, others, survival, calibration.rejected);
  if (inputs.isEnd) branches.pop();
  let numFree = inputs.maxRows - 1 - chances.length;
  for (const { branch, ...unit } of unitsOf(branches)) {
    if (numFree <= 0) break;
    let to = Math.min(branch.rows + Math.min(unit.rows, numFree), numLeft - branch.place);
    if (to === (branch.rank === null ? 1 : 2)) to -= 1; // a single mask brings nothing
    if (to <= branch.rows) continue;
    numFree -= to - branch.rows;
    branch.rows = to;
  }
  const plan: RowPlan = { blockSizes: new Array(chances.length + 1).fill(0), alternatives: [] };
  for (const { place, rank, rows } of branches) {
    if (rank === null) plan.blockSizes[place] = rows;
    else if (rows) plan.alternatives.push([place, rank, rows - 1]);
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
 * @param alternatives chances that each alternative to each drafted token is right
 * @param survival chances that a draft is right up to its token 1, 2, ...
 */
function branchesOf(
  chances: number[],
  alternatives: number[][],
  survival: number[],
  rejected: number,
) {
  const less = survival.map((chance) => chance * rejected);
  const behindRejected = stepsOf([0, ...less]);
  const before = stepsOf([1, 0, ...survival]);
  const expected = less.reduce((sum, chance) => sum + chance, 0);
  const after = stepsOf([Math.max(0, 1 - expected), 0, ...survival]);
  const [first, usual] = [before[0].worth, behindRejected[0].worth];
  const branches: Branch[] = [];
  let reached = 1;
  for (const [place, chance] of chances.entries()) {
    let left = reached * (1 - chance);
    for (const [rank, share] of (alternatives[place] ?? []).entries()) {
      const other = reached * share;
      const isFirst = other * first > left * usual;
      const steps = isFirst ? before : after;
      branches.push({ place, rank, chance: other, steps, rows: 0 });
      if (isFirst) left = Math.max(0, left - other);
    }
    branches.push({ place, rank: null, chance: left, steps: behindRejected, rows: 0 });
    reached *= chance;
  }
  const steps = stepsOf([0, ...survival]);
  branches.push({ place: chances.length, rank: null, chance: reached, steps, rows: 0 });
  return branches;
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
