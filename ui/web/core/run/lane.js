// One lane of a run: its forward passes, and what they fixed where. A pass is an index into the
// lane's steps, a position an offset in the answer. Knows no DOM.

/** @import { EndLine, Hindsight, Step, Verdict } from "./wire.js" */

/**
 * When, how and as what a position was fixed.
 * @typedef {object} FixedItem
 * @property {number} position
 * @property {number} token
 * @property {number} pass
 * @property {number} rank in the solver's order
 * @property {number | null} probability null where no solver revealed it
 * @property {number | null} entropy at its reveal, nats
 * @property {boolean} [isPinned] whether it was given
 */
/** @typedef {Step & { committedBefore: number }} LaneStep */

export class Lane {
  /**
   * @param {string} name
   * @param {Map<number, number>} pins offset to token, those given
   * @param {(token: number) => boolean} [isEnd] whether a token ends the answer
   */
  constructor(name, pins, isEnd = () => false) {
    this.name = name;
    this.pins = pins;
    this.isEnd = isEnd;
    /** @type {FixedItem[]} tokens that end the answer, in the order in which they came */
    this.ends = [];
    /** @type {LaneStep[]} */
    this.steps = [];
    /** @type {Map<number, FixedItem>} */
    this.fixed = new Map();
    /** @type {Map<number, Hindsight & { pass: number }>} */
    this.hindsight = new Map();
    this.numCommitted = 0;
    /** @type {string | null} */
    this.finish = null;
    this.text = "";
    /** @type {Verdict | null} null where nothing could check the answer */
    this.verdict = null;
    /** @type {{ state: string, counts: number[] }} */
    this.counted = { state: "", counts: [] };
  }

  /** @param {Step} step */
  append(step) {
    const pass = this.steps.length;
    const isLast = step.committed.some((token) => this.isEnd(token));
    this.steps.push({
      ...step,
      committedBefore: this.numCommitted,
      draft: isLast ? [] : step.draft,
      predrafts: step.predrafts.map((each) => (isLast ? { ...each, isUsed: false } : each)),
    });
    for (const reveal of step.reveals) {
      const entropy = step.masked.get(reveal.position)?.entropy ?? null;
      this.fix({ ...reveal, pass, entropy });
    }
    for (const [position, token] of this.pins) {
      if (position < step.block.start + step.block.size) this.give(position, token, pass, true);
    }
    step.committed.forEach((token, offset) => {
      const position = this.numCommitted + offset;
      this.give(position, token, pass, this.pins.has(position));
    });
    this.numCommitted += step.committed.length;
    for (const item of step.hindsight) this.hindsight.set(item.position, { ...item, pass });
  }

  /** The lane is complete. @param {Pick<EndLine, "finish" | "text" | "verdict">} line */
  complete({ finish, text, verdict }) {
    this.finish = finish;
    this.text = text ?? "";
    this.verdict = verdict ?? null;
  }

  /**
   * A position that no solver revealed: it was pinned, or came with the commit.
   * @param {number} position
   * @param {number} token
   * @param {number} pass
   * @param {boolean} isPinned
   */
  give(position, token, pass, isPinned) {
    if (this.fixed.has(position)) return;
    const unknown = { rank: 0, probability: null, entropy: null };
    this.fix({ position, token, pass, ...unknown, isPinned });
  }

  /** @param {FixedItem} item */
  fix(item) {
    this.fixed.set(item.position, item);
    if (this.isEnd(item.token)) this.ends.push(item);
  }

  get lastPass() {
    return this.steps.length - 1;
  }

  /** The end of the answer, exclusive; Infinity while that is not known. */
  get end() {
    return this.endAt(this.lastPass);
  }

  /**
   * Where the answer is seen to end at `pass`, exclusive; Infinity while nothing says so. A limit
   * on its length is known from the start, a token that ends it once it is there.
   * @param {number} pass
   */
  endAt(pass) {
    const { finish, numCommitted } = this;
    if (finish !== null && finish !== "end_of_sequence") return numCommitted;
    const least = finish === null ? 0 : numCommitted - 1;
    const isWhole = finish !== null && this.fixedAt(least, pass) !== null;
    const seen = this.ends.filter((item) => item.pass <= pass && item.position >= least);
    return isWhole ? numCommitted : Math.min(...seen.map(({ position }) => position)) + 1;
  }

  /**
   * Whether it can be seen at `pass` that a position is after the end of the answer.
   * @param {number} position
   * @param {number} pass
   */
  isAfterEnd(position, pass) {
    const end = this.endAt(pass);
    if (position < end) return false;
    return this.fixedAt(position, pass) !== null || this.fixedAt(end - 1, pass) !== null;
  }

  /**
   * Tokens of earlier passes that `pass` put after the end of the answer: it revealed an earlier end.
   * @param {number} pass
   */
  numDroppedAt(pass) {
    const [before, end] = [this.endAt(pass - 1), this.endAt(pass)];
    const known = [...this.fixed.values()].filter((item) => item.pass < pass);
    return known.filter(({ position }) => position >= end && position < before).length;
  }

  /**
   * Tokens by `pass` in whose place next-token prediction, asked later, would have had another.
   * @param {number} pass
   */
  disagreementsAt(pass) {
    return [...this.hindsight.values()].filter((item) => this.disagrees(item.position, pass));
  }

  /**
   * Tokens of the answer that were read again by `pass`, so that hindsight knows of them.
   * @param {number} pass
   */
  numReadAgainAt(pass) {
    const known = [...this.hindsight.values()];
    const end = this.endAt(pass);
    return known.filter((item) => item.pass <= pass && item.position < end).length;
  }

  /** @param {number} position @param {number} pass */
  disagrees(position, pass) {
    const item = this.hindsight.get(position);
    if (!item || item.pass > pass || position >= this.endAt(pass)) return false;
    return item.argmax !== this.fixed.get(position)?.token;
  }

  /** Tokens fixed by the end of each pass that were not seen then to be after the end. */
  get tokensByPass() {
    const state = `${this.steps.length}/${this.finish}`;
    if (this.counted.state === state) return this.counted.counts;
    const { end: last } = this;
    const late = [...this.fixed.values()].filter(({ position }) => position >= last);
    const added = new Array(this.steps.length).fill(0);
    for (const item of this.fixed.values()) added[item.pass] += 1;
    let sum = 0;
    const counts = added.map((count, pass) => {
      sum += count;
      const end = this.endAt(pass);
      return sum - late.filter((item) => item.pass <= pass && item.position >= end).length;
    });
    this.counted = { state, counts };
    return counts;
  }

  /** Tokens fixed by the end of `pass` that belong to the answer. @param {number} pass */
  numTokensAt(pass) {
    return this.tokensByPass[Math.min(pass, this.lastPass)] ?? 0;
  }

  /** How many of those the model did not decode: they were pinned. @param {number} pass */
  numGivenAt(pass) {
    if (!this.pins.size) return 0;
    return this.knownAt(pass).filter((item) => item.isPinned).length;
  }

  /**
   * Positions of the answer fixed by the end of `pass`, from left to right.
   * @param {number} pass
   */
  knownAt(pass) {
    const end = this.endAt(pass);
    return [...this.fixed.values()]
      .filter((item) => item.pass <= pass && item.position < end)
      .sort((a, b) => a.position - b.position);
  }

  /** Engine seconds up to and including `pass`. @param {number} pass */
  secondsAt(pass) {
    return this.steps.slice(0, pass + 1).reduce((sum, step) => sum + step.seconds, 0);
  }

  /**
   * The reveal of `position` if it happened by `pass`.
   * @param {number} position
   * @param {number} pass
   */
  fixedAt(position, pass) {
    const item = this.fixed.get(position);
    return item && item.pass <= pass ? item : null;
  }

  /** Entropy of `position` at every pass that saw it masked. @param {number} position */
  entropyHistory(position) {
    return this.steps.flatMap((step, pass) => {
      const masked = step.masked.get(position);
      return masked ? [{ pass, entropy: masked.entropy }] : [];
    });
  }
}
