// Measures rows of logits, in plain numbers: LogitStats and compute_logit_stats() of
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
 * One row: its likeliest token and that one's probability, the next one's, its entropy in nats and the
 * tokens listed, best first; logits: the row itself, there until the next forward pass.
 * @typedef {{ bestId: number, probability: number, second: number, entropy: number, top: [tokenId: number, probability: number][], logits: () => Float32Array }} Row
 */

/** The same row with a copy of its logits, which outlives the next forward pass. @param {Row} row @returns {Row} */
export function kept(row) {
  const own = row.logits().slice();
  return { ...row, logits: () => own };
}

/** The probability of any token in a row. @param {Row} row @param {number} tokenId */
export function probabilityOf({ bestId, probability, logits }, tokenId) {
  if (tokenId === bestId) return probability;
  const own = logits();
  return probability * Math.exp(own[tokenId] - own[bestId]);
}

/**
 * The measures of rows of logits. Forbidden tokens have logits of -infinity afterwards. Raises
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
      if (!(row[id] < Infinity)) throw notNumbers();
      row[id] = -Infinity;
    }
    return { ...measure(row, numTop), logits: own };
  });
}

function notNumbers() {
  return new EngineError("The model gave logits that are NaN, infinite or all -infinity.");
}

/** All measures of a row. @param {Float32Array} row @param {number} numTop tokens listed */
function measure(row, numTop) {
  const ids = topOf(row, Math.min(Math.max(numTop, NUM_BEST), row.length));
  const [bestId] = ids;
  const most = row[bestId];
  let [others, weighted] = [0, 0]; // besides the best token, whose share would take their digits
  for (let id = 0; id < row.length; id += 1) {
    const below = row[id] - most;
    // exp(-104) is less than half of the least number of fp32.
    if (below < -104 || id === bestId) continue;
    const share = Math.exp(below);
    others += share;
    weighted += share * below;
  }
  if (!Number.isFinite(most + others)) throw notNumbers();
  const whole = 1 + others;
  const chances = ids.map((id) => Math.exp(row[id] - most) / whole);
  const [probability, second = 0] = chances;
  const entropy = Math.log1p(others) - weighted / whole;
  const top = /** @type {Row["top"]} */ (ids.slice(0, numTop).map((id, i) => [id, chances[i]]));
  return { bestId, probability, second, entropy, top };
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
    const value = row[id];
    if (value <= least && ids.length === count) continue;
    let place = ids.length;
    while (place > 0 && row[ids[place - 1]] < value) place -= 1;
    ids.splice(place, 0, id);
    if (ids.length > count) ids.length = count;
    least = row[ids[ids.length - 1]];
  }
  return ids;
}
