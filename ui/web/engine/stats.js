// What rows of logits say, in plain numbers: LogitStats of sbd_core/sampling.py.

/** @import { Generator } from "./random.js" */

/**
 * What is to be measured, besides each row's best token and its probability.
 * @typedef {object} StatsSpec
 * @property {number | null} forbiddenId a token made impossible first
 * @property {number} temperature of the softmax, at 0 the plain one
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
 * @property {number} temperature
 * @property {Float32Array[] | null} distribution the softmax, above temperature 0
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
    this.temperature = stats.temperature;
    this.distribution = stats.distribution;
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
      temperature: this.temperature,
      distribution: this.distribution?.slice(start, stop) ?? null,
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
      temperature: parts[0]?.temperature ?? 0,
      distribution: parts[0]?.distribution ? every((one) => one.distribution ?? []) : null,
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
    const scale = this.temperature || 1;
    return tokenIds.map((tokenId, index) => {
      const [best = 0, top = 0] = [this.bestIds[index], this.probability[index]];
      if (tokenId === best) return top;
      const row = this.row(index);
      return top * Math.exp(((row[tokenId] ?? 0) - (row[best] ?? 0)) / scale);
    });
  }

  /**
   * A token a row: the best at temperature 0, else one of the distribution.
   * @param {Generator} generator
   */
  sample(generator) {
    return this.distribution ? generator.multinomial(this.distribution) : this.bestIds;
  }
}

/**
 * The stats of a softmax at a temperature, from logits whose forbidden token is impossible.
 * @param {number} numRows
 * @param {(index: number) => Float32Array} row
 * @param {StatsSpec} spec
 */
export function softmaxRows(numRows, row, spec) {
  const rows = Array.from({ length: numRows }, (_, index) => row(index));
  const distribution = rows.map((row) => softmax(row, spec.temperature));
  const orders = distribution.map((shares) => largest(shares, Math.max(2, spec.numTop)));
  const bests = rows.map(indexOfLargest);
  const shares = bests.map((best, index) => distribution[index]?.[best] ?? 0);
  const listed = spec.numTop ? orders.map((order) => order.slice(0, spec.numTop)) : [];
  return new LogitStats({
    probability: shares,
    margin: orders.map((order, index) => {
      const second = order.find((id) => id !== bests[index]);
      return (
        (shares[index] ?? 0) - (second === undefined ? 0 : (distribution[index]?.[second] ?? 0))
      );
    }),
    entropy: distribution.map(entropy),
    bestIds: bests,
    topIds: listed,
    topProbabilities: listed.map((order, index) =>
      order.map((id) => distribution[index]?.[id] ?? 0),
    ),
    row,
    temperature: spec.temperature,
    distribution,
  });
}

/** @param {Float32Array} row @param {number} temperature */
function softmax(row, temperature) {
  const top = row[indexOfLargest(row)] ?? 0;
  const powers = Float64Array.from(row, (value) =>
    Math.exp(Math.fround(Math.fround(value - top) / temperature)),
  );
  const sum = powers.reduce((total, value) => total + value, 0);
  return Float32Array.from(powers, (value) => value / sum);
}

/** @param {Float32Array} shares */
function entropy(shares) {
  let sum = 0;
  for (const share of shares) if (share > 0) sum -= share * Math.log(share);
  return sum;
}

/** @param {Float32Array} row */
function indexOfLargest(row) {
  let best = 0;
  row.forEach((value, index) => {
    if (value > (row[best] ?? 0)) best = index;
  });
  return best;
}

/** @param {Float32Array} shares @param {number} count */
function largest(shares, count) {
  /** @type {number[]} */
  const found = [];
  shares.forEach((share, index) => {
    if (found.length === count && share <= (shares[found[count - 1] ?? 0] ?? 0)) return;
    let place = found.length;
    while (place > 0 && share > (shares[found[place - 1] ?? 0] ?? 0)) place -= 1;
    found.splice(place, 0, index);
    found.length = Math.min(found.length, count);
  });
  return found;
}
