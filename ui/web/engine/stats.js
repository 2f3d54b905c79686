// What rows of logits say, in plain numbers: LogitStats of sbd_core/sampling.py.

/**
 * What is to be measured, besides each row's best token and its probability.
 * @typedef {object} StatsSpec
 * @property {number | null} forbiddenId a token made impossible first
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
