// One lane of a race: how far it is, and its text appearing where it will stand.
// What is not decoded yet keeps its place, empty, so that nothing moves while the lanes run.

import { countOf } from "../core/numbers.js";
import { joinBytes } from "../core/text/bytes.js";
import { lanePieces } from "../core/text/letters.js";
import { make, setStyle, setText } from "../dom/elements.js";
import { explain, question } from "../dom/terms.js";
import { showPieces } from "../dom/tokens.js";
import { briefly, Verdict as VerdictLine, verdictParts } from "../watch/verdict.js";
import { placeOf } from "./board.js";

/** @import { BoardRow, BoardToken, Comparison } from "./board.js" */

const LINE_GAP = 8; // pixels of a line below its letters, with the edge of the text
const DIFFERS_TITLE = "differs from next-token prediction";

/**
 * The text of each token, bytes that spell a character together joined at the first.
 * @param {BoardToken[]} tokens
 */
function raceTexts(tokens) {
  const joined = joinBytes(tokens.map(([, text], position) => ({ position, text })));
  return tokens.map(([, text], position) => {
    const whole = joined.get(position);
    return !whole ? text : whole.index === 0 ? whole.text : "";
  });
}

/** @param {number} count */
function makeMissing(count) {
  const title = `${countOf(count, "token")} of next-token prediction missing here`;
  const attributes = { title, role: "img", "aria-label": title };
  return make("span", "sbd-race-missing", attributes, `−${count}`);
}

/**
 * The sums of the numbers up to each.
 * @param {number[]} numbers
 */
function runningSums(numbers) {
  let sum = 0;
  return numbers.map((number) => {
    sum += number;
    return sum;
  });
}

/** A lane at a time. */
export class RaceLane {
  /**
   * @param {BoardRow} row
   * @param {Comparison | null} comparison
   * @param {boolean} isSudoku whether the answer is a grid of 16 digits
   */
  constructor(row, comparison, isSudoku) {
    this.row = row;
    this.shown = "";
    /** When each pass ends, microseconds. */
    this.ends = runningSums(row.times);
    const added = row.times.map(() => 0);
    for (const [, , pass] of row.tokens) added[pass] = (added[pass] ?? 0) + 1;
    this.counts = runningSums(added);
    this.spans = this.makeSpans(comparison?.differing ?? new Set());
    /** @type {HTMLElement[]} */
    this.gaps = [];
    const nodes = this.withGaps((!isSudoku && comparison?.missing) || new Map());
    this.value = make("b", "");
    this.unit = make("small", "");
    this.place = make("span", "sbd-race-place", {}, this.value, " ", this.unit);
    this.fill = make("span", "sbd-race-fill");
    const attributes = { role: "group", tabindex: "0", "aria-label": `Text of ${row.label}` };
    this.text = make("div", `sbd-race-text${isSudoku ? " is-sudoku" : ""}`, attributes, ...nodes);
    this.verdict = new VerdictLine();
    this.why = question(`the verdict on ${row.label}`, "");
    this.cut = make("p", "sbd-race-cut");
    this.beside = make("div", "sbd-race-verdict", {}, this.verdict.root, this.why, this.cut);
    setText(this.cut, row.limit ? `cut off: the limit is ${row.limit} tokens` : "");
    this.root = this.makeRoot();
  }

  makeRoot() {
    const { name, label } = this.row;
    const track = make("div", "sbd-race-track", { "aria-hidden": "true" }, this.fill);
    const title = make("h3", "sbd-race-name", {}, label);
    return make(
      "section",
      `sbd-race-lane sbd-race-${name}`,
      {},
      make("div", "sbd-race-run", {}, title, track, this.place),
      this.text,
      this.beside,
    );
  }

  /** @param {Set<number>} differing */
  makeSpans(differing) {
    const { tokens, has_end: hasEnd } = this.row;
    const texts = raceTexts(tokens);
    return texts.map((text, position) => {
      const span = make(differing.has(position) ? "mark" : "span", "sbd-race-token");
      if (differing.has(position)) span.title = DIFFERS_TITLE;
      const before = texts[position - 1]?.at(-1) ?? "";
      const after = texts[position + 1]?.[0] ?? "…";
      if (hasEnd && position === texts.length - 1)
        span.append(make("span", "sbd-race-end", {}, "end"));
      else showPieces(span, lanePieces(text, before, after));
      return span;
    });
  }

  /**
   * The spans, with a box before those where tokens are missing.
   * @param {Map<number, number>} missing
   */
  withGaps(missing) {
    const nodes = [];
    for (let position = 0; position <= this.spans.length; position += 1) {
      const count = missing.get(position);
      if (count) {
        const gap = makeMissing(count);
        this.gaps.push(gap);
        nodes.push(gap);
      }
      const span = this.spans[position];
      if (span) nodes.push(span);
    }
    return nodes;
  }

  get lastPass() {
    return this.ends.length - 1;
  }

  /** Engine microseconds of the whole lane. */
  get duration() {
    return this.ends.at(-1) ?? 0;
  }

  /**
   * The last pass that is over at `clock`: passes begun, or microseconds; -1 before the first.
   * @param {number} clock
   * @param {boolean} isByTime
   */
  passAt(clock, isByTime) {
    if (!isByTime) return Math.min(clock - 1, this.lastPass);
    return this.ends.findLastIndex((end) => end <= clock);
  }

  /**
   * Bring the lane to where it is at `clock`. Returns whether it has finished.
   * @param {number} clock
   * @param {boolean} isByTime
   */
  update(clock, isByTime) {
    const pass = this.passAt(clock, isByTime);
    const isFinished = pass >= this.lastPass;
    const key = `${pass} ${isByTime}`;
    if (key !== this.shown) this.show(pass, isFinished, isByTime);
    this.shown = key;
    return isFinished;
  }

  /**
   * @param {number} pass
   * @param {boolean} isFinished
   * @param {boolean} isByTime
   */
  show(pass, isFinished, isByTime) {
    const { num_tokens: numTokens, tokens } = this.row;
    const count = this.counts[pass] ?? 0;
    this.spans.forEach((span, position) => {
      const fixed = tokens[position]?.[2] ?? 0;
      span.classList.toggle("is-ahead", fixed > pass);
      span.classList.toggle("is-new", fixed === pass && !isFinished);
    });
    for (const gap of this.gaps) gap.classList.toggle("is-ahead", !isFinished);
    setStyle(this.fill, "width", `${(count / Math.max(numTokens, 1)) * 100}%`);
    this.root.classList.toggle("is-finished", isFinished);
    const { value, unit } = placeOf(pass, (this.ends[pass] ?? 0) / 1e6, isByTime);
    setText(this.value, value);
    setText(this.unit, unit);
    this.showVerdict(isFinished);
    this.cut.hidden = !isFinished || !this.row.limit;
    this.keepNewestInSight();
  }

  /**
   * In a word; the reason is behind the "?".
   * @param {boolean} isFinished
   */
  showVerdict(isFinished) {
    const { judged, open } = verdictParts(this.row.verdict ?? null);
    const brief = judged && { ...judged, words: briefly(judged.words) };
    this.verdict.show(brief, isFinished, "", briefly(open));
    explain(this.why, "", judged?.words ?? open);
    this.why.hidden = !isFinished;
  }

  keepNewestInSight() {
    const { text } = this;
    if (text.scrollHeight <= text.clientHeight) return;
    const newest = this.spans.findLast((span) => !span.classList.contains("is-ahead"));
    const bottom = newest ? newest.offsetTop + newest.offsetHeight + LINE_GAP : 0;
    text.scrollTop = Math.max(0, bottom - text.clientHeight);
  }
}
