// What rows of logits say, in plain numbers: LogitStats and compute_logit_stats() of
// sbd_core/sampling.py.

import { ModelError } from "./errors.js";

/** @import { Logits } from "./model.js" */

const NUM_BEST = 2; // the margin is between two

/**
 * What is to be measured, besides each row's best token and its probability.
 * @typedef {object} StatsSpec
 * @property {number[]} forbiddenIds tokens made impossible first
 * @property {number} numTop tokens listed a row
 */

/**
 * @typedef {object} Stats
 * @property {number[]} probability of the best token, a row each
 * @property {number[]} margin
 * @property {number[]} entropy nats
 * @property {number[]} bestIds
 * @property {number[][]} topIds
 * @property {number[][]} topProbabilities
 * @property {(index: number) => Float32Array} row the logits of one
 */

export class LogitStats {
  /** @param {Stats} stats */
  constructor(stats) {
    this.probability = stats.probability;
    this.margin = stats.margin;
    this.entropy = stats.entropy;
    this.bestIds = stats.bestIds;
    this.topIds = stats.topIds;
    this.topProbabilities = stats.topProbabilities;
    this.row = stats.row;
  }

  /**
   * Those of some of the rows.
   * @param {number} start
   * @param {number} stop
   */
  rows(start, stop) {
    return new LogitStats({
      probability: this.probability.slice(start, stop),
      margin: this.margin.slice(start, stop),
      entropy: this.entropy.slice(start, stop),
      bestIds: this.bestIds.slice(start, stop),
      topIds: this.topIds.slice(start, stop),
      topProbabilities: this.topProbabilities.slice(start, stop),
      row: (index) => this.row(start + index),
    });
  }

  /**
   * Those of rows that stand one after the other, measured in parts.
   * @param {LogitStats[]} parts
   */
  static joined(parts) {
    /** @template T @param {(stats: LogitStats) => T[]} list */
    const every = (list) => parts.flatMap(list);
    const rows = every((one) => one.bestIds.map((_, index) => () => one.row(index)));
    return new LogitStats({
      probability: every((one) => one.probability),
      margin: every((one) => one.margin),
      entropy: every((one) => one.entropy),
      bestIds: every((one) => one.bestIds),
      topIds: every((one) => one.topIds),
      topProbabilities: every((one) => one.topProbabilities),
      row: (index) => /** @type {() => Float32Array} */ (rows[index])(),
    });
  }

  /** One row with logits of its own, which outlive the next forward pass. @param {number} index */
  kept(index) {
    const one = this.rows(index, index + 1);
    const own = one.row(0).slice();
    one.row = () => own;
    return one;
  }

  /**
   * The probability of one token a row, whichever it is.
   * @param {number[]} tokenIds
   */
  tokenProbabilities(tokenIds) {
    return tokenIds.map((tokenId, index) => {
      const [best = 0, top = 0] = [this.bestIds[index], this.probability[index]];
      if (tokenId === best) return top;
      const row = this.row(index);
      return top * Math.exp((row[tokenId] ?? 0) - (row[best] ?? 0));
    });
  }
}

/**
 * What rows of logits say. Logits of forbidden tokens are -infinity in them afterwards. Raises
 * ModelError for logits that are no numbers.
 * @param {Logits} logits
 * @param {number} start
 * @param {number} stop
 * @param {StatsSpec} spec
 */
export function computeLogitStats(logits, start, stop, { forbiddenIds, numTop }) {
  const rows = Array.from({ length: stop - start }, (_, index) => {
    const row = logits.row(start + index);
    for (const id of forbiddenIds) {
      if (!((row[id] ?? 0) < Infinity)) throw notNumbers();
      row[id] = -Infinity;
    }
    return measure(row, Math.max(numTop, NUM_BEST));
  });
  const listed = numTop ? rows : [];
  return new LogitStats({
    probability: rows.map(({ chances }) => chances[0] ?? 0),
    margin: rows.map(({ chances: [first = 0, second = 0] }) => first - second),
    entropy: rows.map(({ entropy }) => entropy),
    bestIds: rows.map(({ ids }) => ids[0] ?? 0),
    topIds: listed.map(({ ids }) => ids.slice(0, numTop)),
    topProbabilities: listed.map(({ chances }) => chances.slice(0, numTop)),
    row: (index) => logits.row(start + index),
  });
}

function notNumbers() {
  return new ModelError("The model gave logits that are NaN, infinite or all -infinity.");
}

/**
 * The entropy in nats of a row's softmax, its likeliest tokens, and their probabilities.
 * @param {Float32Array} row
 * @param {number} count of tokens
 */
function measure(row, count) {
  const ids = topOf(row, Math.min(count, row.length));
  const [best = 0] = ids;
  const most = row[best] ?? NaN;
  let [others, weighted] = [0, 0]; // besides the best token, whose share would take their digits
  for (let id = 0; id < row.length; id += 1) {
    const below = /** @type {number} */ (row[id]) - most;
    // exp(-104) is less than half of the least number of fp32.
    if (below < -104 || id === best) continue;
    const share = Math.exp(below);
    others += share;
    weighted += share * below;
  }
  if (!Number.isFinite(most + others)) throw notNumbers();
  const whole = 1 + others;
  const chances = ids.map((id) => Math.exp((row[id] ?? 0) - most) / whole);
  return { ids, chances, entropy: Math.log1p(others) - weighted / whole };
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
    const value = /** @type {number} */ (row[id]);
    if (value <= least && ids.length === count) continue;
    let place = ids.length;
    while (place > 0 && /** @type {number} */ (row[/** @type {number} */ (ids[place - 1])]) < value)
      place -= 1;
    ids.splice(place, 0, id);
    if (ids.length > count) ids.length = count;
    least = /** @type {number} */ (row[/** @type {number} */ (ids.at(-1))]);
  }
  return ids;
}
