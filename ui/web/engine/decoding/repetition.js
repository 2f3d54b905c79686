// The repetition penalty: tokens that stand before a row become less likely in it;
// sbd_core/decoding/repetition.py.

export class SeenTokens {
  /** @param {number} penalty */
  constructor(penalty) {
    this.penalty = Math.fround(penalty);
    /** @type {Set<number>} */
    this.ids = new Set();
  }

  /** Tokens that stand before every row from now on. @param {number[]} tokenIds */
  add(tokenIds) {
    for (const id of tokenIds) this.ids.add(id);
  }

  /**
   * Change a row of logits in place, once.
   * @param {Float32Array} row
   * @param {number[]} later the tokens before it that were not added yet
   */
  penalise(row, later) {
    for (const id of this.ids) this.scale(row, id);
    for (const id of new Set(later)) if (!this.ids.has(id)) this.scale(row, id);
  }

  /** @param {Float32Array} row @param {number} id */
  scale(row, id) {
    const logit = row[id] ?? 0;
    row[id] = logit < 0 ? logit * this.penalty : logit / this.penalty;
  }
}
