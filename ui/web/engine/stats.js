// Rows of logits measured, in plain numbers: LogitStats and compute_logit_stats() of
// sbd_core/sampling.py.

import { EngineError } from "./errors.js";

/** @import { Logits } from "./model.js" */

const NUM_BEST = 2; // the margin is between two

/**
 * Measures asked for, besides each row's best token and its probability.
 * @typedef {object} StatsSpec
 * @property {number[]} forbiddenIds tokens made impossible first
 * @property {number} numTop tokens listed a row
 */

/**
 * One row: its likeliest token and that one's probability, the next one's, its entropy in nats, the
 * tokens listed, best first; logits: of the row, there until the next forward pass.
 * @typedef {{ bestId: number, probability: number, second: number, entropy: number, topIds: number[], topProbabilities: number[], logits: () => Float32Array }} Row
 */

/** A row with logits of its own, which outlive the next forward pass. @param {Row} row @returns {Row} */
export function kept(row) {
  const own = row.logits().slice();
  return { ...row, logits: () => own };
}

/** The probability of a token, whichever it is. @param {Row} row @param {number} tokenId */
export function probabilityOf({ bestId, probability, logits }, tokenId) {
  if (tokenId === bestId) return probability;
  const own = logits();
  return probability * Math.exp((own[tokenId] ?? 0) - (own[bestId] ?? 0));
}

/**
 * The measures of rows of logits. Logits of forbidden tokens are -infinity in them afterwards. Raises
 * EngineError for logits that are no numbers.
 * @param {Logits} logits
 * @param {number} start
 * @param {number} stop
 * @param {StatsSpec} spec
 * @returns {Row[]}
 */
export function measureRows(logits, start, stop, { forbiddenIds, numTop }) {
  return Array.from({ length: stop - start }, (_, index) => {
    const own = () => logits.row(start + index);
    const row = own();
    for (const id of forbiddenIds) {
      if (!((row[id] ?? 0) < Infinity)) throw notNumbers();
      row[id] = -Infinity;
    }
    return { ...measure(row, numTop), logits: own };
  });
}

function notNumbers() {
  return new EngineError("The model gave logits that are NaN, infinite or all -infinity.");
}

/** All of a row but its logits. @param {Float32Array} row @param {number} numTop tokens listed */
function measure(row, numTop) {
  const ids = topOf(row, Math.min(Math.max(numTop, NUM_BEST), row.length));
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
  const [probability = 0, second = 0] = chances;
  return {
    bestId: best,
    probability,
    second,
    entropy: Math.log1p(others) - weighted / whole,
    topIds: ids.slice(0, numTop),
    topProbabilities: chances.slice(0, numTop),
  };
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
