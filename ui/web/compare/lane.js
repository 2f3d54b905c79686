// One lane: how far it is, its text appearing where it stands, and its staircase. A token keeps its
// place while an earlier forward pass is looked at, so nothing moves as the lanes play.

import { lanePieces } from "../core/letters.js";
import { countOf } from "../core/numbers.js";
import { laneTitle, laneWords, strategyOf } from "../core/words.js";
import { make, setStyle, setText, showPieces } from "../dom/elements.js";
import { isDarkPage } from "../dom/screen.js";
import { explain, makeTerm, question } from "../dom/terms.js";
import { contextOf, inksOf } from "../watch/hood.js";
import { answersInCells } from "../watch/sudoku.js";
import { briefly, Verdict as VerdictLine, verdictParts } from "../watch/verdict.js";
import { placeOf } from "./board.js";

/** @import { Lane, Run } from "../core/run.js" */
/** @import { Comparison } from "./board.js" */

/** @typedef {{ positions: number, passes: number }} Extent of the staircases, one scale for all */

const LINE_GAP = 8; // pixels of a line below its letters, with the edge of the text
const STAIRS_HEIGHT = 72;
const DIFFERS_TITLE = "differs from next-token prediction";

/** @param {number} count */
function makeMissing(count) {
  const title = `${countOf(count, "token")} of next-token prediction missing here`;
  const attributes = { title, role: "img", "aria-label": title };
  return make("span", "sbd-compare-missing", attributes, `−${count}`);
}

export class LaneCard {
  /**
   * @param {Run} run
   * @param {Lane} lane
   * @param {number | null} limit the longest answer
   * @param {boolean} isSudoku whether the prompt is one
   */
  constructor(run, lane, limit, isSudoku) {
    this.run = run;
    this.lane = lane;
    this.limit = limit;
    this.isSudoku = isSudoku;
    this.title = laneTitle(lane.name);
    this.shown = "";
    /** @type {number[]} when each pass ends, microseconds */
    this.ends = [];
    /** @type {HTMLElement[]} */
    this.spans = [];
    /** @type {string[]} what each span shows */
    this.keys = [];
    /** @type {Comparison | null} */
    this.comparison = null;
    this.value = make("b", "");
    this.unit = make("small", "");
    this.place = make("span", "sbd-compare-place", this.value, " ", this.unit);
    this.fill = make("span", "sbd-compare-fill");
    const attributes = { role: "group", tabindex: "0", "aria-label": `Text of ${this.title}` };
    this.text = make("div", "sbd-compare-text", attributes);
    this.stairs = make("canvas", "sbd-compare-stairs", { role: "img" });
    this.verdict = new VerdictLine();
    this.why = question(`the verdict on ${this.title}`, "");
    this.cut = make("p", "sbd-compare-cut");
    this.beside = make("div", "sbd-compare-verdict", this.verdict.root, this.why, this.cut);
    this.root = make(
      "section",
      "sbd-compare-lane",
      { "data-strategy": strategyOf(lane.name), "data-lane": lane.name },
      make(
        "div",
        "sbd-compare-run",
        make("h3", "sbd-compare-name", makeTerm(this.title, laneWords(lane.name))),
        make("div", "sbd-compare-track", { "aria-hidden": "true" }, this.fill),
        this.place,
      ),
      this.text,
      this.stairs,
      this.beside,
    );
  }

  get lastPass() {
    return this.lane.lastPass;
  }

  /** Engine microseconds of the lane so far. */
  get duration() {
    return this.ends.at(-1) ?? 0;
  }

  get numTokens() {
    return this.lane.numTokensAt(this.lastPass);
  }

  /**
   * Take the forward passes that came.
   * @param {Comparison | null} comparison once its answer and next-token prediction's are whole
   */
  grow(comparison) {
    const { lane, run } = this;
    for (const { seconds } of lane.steps.slice(this.ends.length))
      this.ends.push(this.duration + Math.round(seconds * 1e6));
    const known = lane.knownAt(lane.lastPass);
    const joined = run.joinedAt(lane, lane.lastPass);
    /** @type {(string | undefined)[]} of each position up to the last known one */
    const texts = new Array((known.at(-1)?.position ?? -1) + 1);
    for (const { position, token } of known) {
      const part = joined.get(position);
      texts[position] = part ? (part.index ? "" : part.text) : run.tokenText(token);
    }
    const ends = new Set(lane.ends.map(({ position }) => position));
    for (const span of this.spans.splice(texts.length)) span.remove();
    this.keys.length = this.spans.length;
    for (let position = 0; position < texts.length; position += 1) {
      const isEnd = ends.has(position) && texts[position] !== undefined;
      this.write(position, texts, isEnd);
    }
    const isGrid = this.isSudoku && answersInCells(texts.map((text) => text ?? ""));
    this.text.classList.toggle("is-sudoku", isGrid);
    if (comparison && !this.comparison) this.mark(comparison, isGrid);
    const { finish } = lane;
    const words = { length: `cut off: the limit is ${this.limit} tokens`, stopped: "stopped" };
    setText(this.cut, words[/** @type {"length" | "stopped"} */ (finish)] ?? "");
    this.shown = "";
  }

  /** @param {number} position @param {(string | undefined)[]} texts @param {boolean} isEnd */
  write(position, texts, isEnd) {
    let span = this.spans[position];
    if (!span) {
      span = make("span", "sbd-compare-token");
      this.spans[position] = span;
      this.text.append(span);
    }
    const text = texts[position];
    const before = texts[position - 1]?.at(-1) ?? "";
    const after = texts[position + 1]?.[0] ?? "…";
    const key = text === undefined ? "masked" : [isEnd, before, text, after].join("\n");
    if (this.keys[position] === key) return;
    this.keys[position] = key;
    span.classList.toggle("is-mask", text === undefined);
    if (text === undefined) span.replaceChildren();
    else if (isEnd) span.replaceChildren(make("span", "sbd-compare-end", "end"));
    else showPieces(span, lanePieces(text, before, after));
  }

  /**
   * Underline what differs, with a box where tokens are missing.
   * @param {Comparison} comparison
   * @param {boolean} isGrid
   */
  mark(comparison, isGrid) {
    this.comparison = comparison;
    for (const position of comparison.differing) {
      const span = this.spans[position];
      span?.classList.add("is-other");
      if (span) span.title = DIFFERS_TITLE;
    }
    if (isGrid) return;
    for (const [position, count] of comparison.missing) {
      const gap = makeMissing(count);
      const span = this.spans[position];
      if (span) span.before(gap);
      else this.text.append(gap);
    }
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
   * @param {Extent} extent
   */
  update(clock, isByTime, extent) {
    const pass = this.passAt(clock, isByTime);
    const isFinished = this.lane.finish !== null && pass >= this.lastPass;
    const key = [pass, isByTime, isFinished, ...Object.values(extent)].join(" ");
    if (key !== this.shown) this.show(pass, isFinished, isByTime, extent);
    this.shown = key;
    return isFinished;
  }

  /**
   * @param {number} pass
   * @param {boolean} isFinished
   * @param {boolean} isByTime
   * @param {Extent} extent
   */
  show(pass, isFinished, isByTime, extent) {
    const { fixed, finish } = this.lane;
    this.spans.forEach((span, position) => {
      const at = fixed.get(position)?.pass ?? -1;
      span.classList.toggle("is-ahead", at > pass);
      span.classList.toggle("is-new", at === pass && !isFinished);
    });
    this.text.classList.toggle("is-over", isFinished);
    const whole = finish === null ? this.run.config.max_new_tokens : this.numTokens;
    const share = this.lane.numTokensAt(pass) / Math.max(whole, 1);
    setStyle(this.fill, "width", `${(pass < 0 ? 0 : share) * 100}%`);
    this.root.classList.toggle("is-finished", isFinished);
    const place = { seconds: (this.ends[pass] ?? 0) / 1e6, tokens: this.lane.numTokensAt(pass) };
    const { value, unit } = placeOf(pass, place, isByTime);
    setText(this.value, value);
    setText(this.unit, unit);
    this.showVerdict(isFinished);
    this.cut.hidden = !isFinished;
    this.drawStairs(pass, extent);
    this.keepNewestInSight();
  }

  /** In a word; the reason is behind the "?". @param {boolean} isFinished */
  showVerdict(isFinished) {
    const { judged, open } = verdictParts(this.lane.verdict);
    const brief = judged && { ...judged, words: briefly(judged.words) };
    const isStopped = this.lane.finish === "stopped"; // no answer to judge
    this.verdict.show(brief, isFinished, "", isStopped ? "" : briefly(open));
    explain(this.why, "", judged?.words ?? open);
    this.why.hidden = !isFinished || isStopped;
  }

  /**
   * Position to the right, forward pass downwards; dashed: next-token prediction, one token a pass.
   * @param {number} pass
   * @param {Extent} extent
   */
  drawStairs(pass, { positions, passes }) {
    const width = this.text.clientWidth;
    if (!width) return;
    const count = this.lane.steps.length;
    this.stairs.setAttribute(
      "aria-label",
      `Staircase: ${this.numTokens} tokens in ${count} passes`,
    );
    const inks = inksOf(this.stairs, isDarkPage());
    const context = contextOf(this.stairs, width, STAIRS_HEIGHT);
    const [cell, row] = [width / positions, STAIRS_HEIGHT / passes];
    context.fillStyle = inks.none;
    context.fillRect(0, 0, width, STAIRS_HEIGHT);
    context.strokeStyle = inks.muted;
    context.setLineDash([5, 4]);
    context.beginPath();
    context.moveTo(0, 0);
    context.lineTo(passes * cell, STAIRS_HEIGHT);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = getComputedStyle(this.root).getPropertyValue("--ink") || inks.causal;
    for (const item of this.lane.knownAt(this.lastPass)) {
      context.globalAlpha = item.pass <= pass ? 1 : 0.2;
      const [wide, high] = [Math.max(cell - 0.5, 1), Math.max(row - 0.5, 1.5)];
      context.fillRect(item.position * cell, item.pass * row, wide, high);
    }
    context.globalAlpha = 1;
  }

  keepNewestInSight() {
    const { text } = this;
    if (text.scrollHeight <= text.clientHeight) return;
    const newest = this.spans.findLast((span) => !span.matches(".is-ahead, .is-mask"));
    const bottom = newest ? newest.offsetTop + newest.offsetHeight + LINE_GAP : 0;
    const line = Number.parseFloat(getComputedStyle(text).lineHeight) || 1;
    text.scrollTop = Math.ceil(Math.max(0, bottom - text.clientHeight) / line) * line; // whole lines
  }
}
