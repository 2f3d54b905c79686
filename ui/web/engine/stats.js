// Rows of logits measured, in plain numbers: LogitStats and compute_logit_stats() of
// sbd_core/sampling.py.

import { ModelError } from "./errors.js";

/** @import { Logits } from "./model.js" */

const NUM_BEST = 2; // the margin is between two

/**
 * Measures asked for, besides each row's best token and its probability.
 * @typedef {object} StatsSpec
 * @property {number[]} forbiddenIds tokens made impossible first
 * @property {number} numTop tokens listed a row
 */

/**
 * One row: its likeliest tokens, best first, their probabilities, its entropy in nats; listed: how
 * many of the tokens are told; logits: of the row, there until the next forward pass.
 * @typedef {{ ids: number[], chances: number[], entropy: number, listed: number, logits: () => Float32Array }} Row
 */

export class LogitStats {
  /** @param {Row[]} all */
  constructor(all) {
    this.all = all;
    this.entropy = all.map(({ entropy }) => entropy);
    this.bestIds = all.map(({ ids }) => ids[0] ?? 0);
    this.probability = all.map(({ chances }) => chances[0] ?? 0);
    this.margin = all.map(({ chances: [first = 0, second = 0] }) => first - second);
    this.topIds = all.map(({ ids, listed }) => ids.slice(0, listed));
    this.topProbabilities = all.map(({ chances, listed }) => chances.slice(0, listed));
  }

  /** The measures of some of the rows. @param {number} start @param {number} stop */
  rows(start, stop) {
    return new LogitStats(this.all.slice(start, stop));
  }

  /**
   * The measures of rows that stand one after the other, made in parts.
   * @param {LogitStats[]} parts
   */
  static joined(parts) {
    return new LogitStats(parts.flatMap(({ all }) => all));
  }

  /** One row with logits of its own, which outlive the next forward pass. @param {number} index */
  kept(index) {
    return new LogitStats(
      this.all.slice(index, index + 1).map((one) => {
        const own = one.logits().slice();
        return { ...one, logits: () => own };
      }),
    );
  }

  /** The probability of one token a row, whichever it is. @param {number[]} tokenIds */
  tokenProbabilities(tokenIds) {
    return tokenIds.map((tokenId, index) => {
      const [best = 0, top = 0] = [this.bestIds[index], this.probability[index]];
      const row = tokenId === best ? null : this.all[index]?.logits();
      return row ? top * Math.exp((row[tokenId] ?? 0) - (row[best] ?? 0)) : top;
    });
  }
}

/**
 * Measure rows of logits. Logits of forbidden tokens are -infinity in them afterwards. Raises
 * ModelError for logits that are no numbers.
 * @param {Logits} logits
 * @param {number} start
 * @param {number} stop
 * @param {StatsSpec} spec
 */
export function computeLogitStats(logits, start, stop, { forbiddenIds, numTop }) {
  return new LogitStats(
    Array.from({ length: stop - start }, (_, index) => {
      const own = () => logits.row(start + index);
      const row = own();
      for (const id of forbiddenIds) {
        if (!((row[id] ?? 0) < Infinity)) throw notNumbers();
        row[id] = -Infinity;
      }
      return { ...measure(row, Math.max(numTop, NUM_BEST)), listed: numTop, logits: own };
    }),
  );
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
