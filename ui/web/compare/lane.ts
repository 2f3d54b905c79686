// One lane of a comparison: a card with its progress, its text and its staircase, and its row in the table of results.
// While an earlier forward pass is shown, later tokens are hidden but keep their places, so that nothing moves.

import { answerTokens, differences, differWords } from "../core/differences.ts";
import { lanePieces } from "../core/letters.ts";
import { countOf, formatRaceSeconds, median, roundToRaceDigits } from "../core/numbers.ts";
import type { Lane, Run } from "../core/run.ts";
import { fasterWords, LEAST_TIMINGS, tokenCostRatio } from "../core/times.ts";
import { laneTitle, laneWords, strategyOf } from "../core/words.ts";
import { make, setAttribute, setStyle, setText, showPieces } from "../dom/elements.ts";
import { isDarkPage } from "../dom/screen.ts";
import { makeTerm, question, setTerm } from "../dom/terms.ts";
import { contextOf, inksOf } from "../watch/mask_grid.ts";
import { answersInCells } from "../watch/sudoku.ts";
import { VerdictLine, verdictParts, verdictWithoutReason } from "../watch/verdict.ts";

/** positions and forward passes that every staircase spans */
type Extent = { positions: number; passes: number };

const LINE_GAP = 8; // pixels below a token: the rest of its line, and the edge of the text box
const STAIRS_HEIGHT = 72;
const DIFFERS_TITLE = "differs from next-token prediction";

function makeMissing(count: number) {
  const title = `${countOf(count, "token")} of next-token prediction missing here`;
  const attributes = { title, role: "img", "aria-label": title };
  return make("span", "sbd-compare-missing", attributes, `−${count}`);
}

export class LaneCard {
  isSudoku: boolean;
  title: string;
  shownKey = "";
  drawnKey = "";
  /** seconds a token in every complete timing of this comparison */
  timings: number[] = [];
  /** the last forward pass that has ended, -1 for none */
  pass = -1;
  /** engine time at the end of each forward pass, in microseconds from the lane's start */
  passEnds: number[] = [];
  spans: HTMLElement[] = [];
  /** a key of what each span shows */
  spanKeys: string[] = [];
  comparison: Comparison | null = null;
  value: HTMLElement;
  unit: HTMLElement;
  place: HTMLSpanElement;
  fill: HTMLSpanElement;
  text: HTMLDivElement;
  stairs: HTMLCanvasElement;
  verdict = new VerdictLine();
  verdictQuestion: HTMLElement;
  cut: HTMLParagraphElement;
  verdictBox: HTMLDivElement;
  root: HTMLElement;

  /**
   * @param limit the most tokens of an answer
   * @param isSudoku whether the prompt is a sudoku
   */
  constructor(
    readonly run: Run,
    readonly lane: Lane,
    readonly limit: number | null,
    isSudoku: boolean,
  ) {
    this.isSudoku = isSudoku;
    this.title = laneTitle(lane.name);
    this.value = make("b", "");
    this.unit = make("small", "");
    this.place = make("span", "sbd-compare-place", this.value, " ", this.unit);
    this.fill = make("span", "sbd-compare-fill");
    const attributes = { role: "group", tabindex: "0", "aria-label": `Text of ${this.title}` };
    this.text = make("div", "sbd-compare-text", attributes);
    this.stairs = make("canvas", "sbd-compare-stairs", { role: "img" });
    this.verdictQuestion = question(`the verdict on ${this.title}`, "");
    this.cut = make("p", "sbd-compare-cut");
    this.verdictBox = make(
      "div",
      "sbd-compare-verdict",
      this.verdict.root,
      this.verdictQuestion,
      this.cut,
    );
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
      this.verdictBox,
    );
  }

  get lastPass() {
    return this.lane.lastPass;
  }

  /** Seconds a token in every timing of this comparison; before it is timed again, in this run. */
  get times() {
    const { lane } = this;
    const own = lane.secondsAt(lane.lastPass) / Math.max(lane.numCommitted, 1);
    return this.timings.length ? this.timings : [own];
  }

  /** Engine time of the lane so far, in microseconds. */
  get duration() {
    return this.passEnds.at(-1) ?? 0;
  }

  get numTokens() {
    return this.lane.numTokensAt(this.lastPass);
  }

  /**
   * Show the forward passes that have come.
   * @param comparison null until both answers are complete
   */
  addPasses(comparison: Comparison | null) {
    const { lane, run } = this;
    for (const { seconds } of lane.steps.slice(this.passEnds.length))
      this.passEnds.push(this.duration + Math.round(seconds * 1e6));
    const known = lane.knownAt(lane.lastPass);
    const joined = run.joinedAt(lane, lane.lastPass);
    /** by position, up to the last known one; undefined for a mask */
    const texts: (string | undefined)[] = new Array((known.at(-1)?.position ?? -1) + 1);
    for (const { position, token } of known) {
      const part = joined.get(position);
      texts[position] = part ? (part.index ? "" : part.text) : run.tokenText(token);
    }
    setAttribute(this.text, "dir", run.directionOf(lane));
    const endPositions = new Set(lane.endTokens.map(({ position }) => position));
    for (const span of this.spans.splice(texts.length)) span.remove();
    this.spanKeys.length = this.spans.length;
    for (let position = 0; position < texts.length; position += 1) {
      const isEnd = endPositions.has(position) && texts[position] !== undefined;
      this.showToken(position, texts, isEnd);
    }
    const isGrid = this.isSudoku && answersInCells(texts.map((text) => text ?? ""));
    this.text.classList.toggle("is-sudoku", isGrid);
    if (comparison && !this.comparison) this.mark(comparison, isGrid);
    const { finish } = lane;
    const words = { length: `cut at ${this.limit} tokens, the limit`, stopped: "stopped" };
    setText(this.cut, words[finish as "length" | "stopped"] ?? "");
    this.shownKey = "";
  }

  showToken(position: number, texts: (string | undefined)[], isEnd: boolean) {
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
    if (this.spanKeys[position] === key) return;
    this.spanKeys[position] = key;
    span.classList.toggle("is-mask", text === undefined);
    if (text === undefined) span.replaceChildren();
    else if (isEnd) span.replaceChildren(make("span", "sbd-compare-end", "end"));
    else showPieces(span, lanePieces(text, before, after));
  }

  /**
   * Underline tokens that differ, and put a box where tokens are missing.
   * @param isGrid whether the text is shown as a grid, which gets no boxes
   */
  mark(comparison: Comparison, isGrid: boolean) {
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
   * Return the last forward pass that has ended at `clock`, -1 for none.
   * @param clock number of forward passes, or microseconds of engine time
   * @param isByTime whether `clock` is in microseconds
   */
  passAt(clock: number, isByTime: boolean) {
    if (!isByTime) return Math.min(clock - 1, this.lastPass);
    return this.passEnds.findLastIndex((end) => end <= clock);
  }

  /** Show the lane as it is at `clock`; return whether it has finished. */
  update(clock: number, isByTime: boolean) {
    this.pass = this.passAt(clock, isByTime);
    const isFinished = this.lane.finish !== null && this.pass >= this.lastPass;
    const key = [this.pass, isByTime, isFinished].join(" ");
    if (key !== this.shownKey) this.show(this.pass, isFinished, isByTime);
    this.shownKey = key;
    return isFinished;
  }

  /** @param pass the last one that has ended, -1 for none */
  show(pass: number, isFinished: boolean, isByTime: boolean) {
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
    const place = {
      seconds: (this.passEnds[pass] ?? 0) / 1e6,
      tokens: this.lane.numTokensAt(pass),
    };
    const { value, unit } = progressWords(pass, place, isByTime);
    setText(this.value, value);
    setText(this.unit, unit);
    this.showVerdict(isFinished);
    this.cut.hidden = !isFinished;
  }

  /** Measure the card after update(), and return what draws its staircase and scrolls its text. */
  measure(extent: Extent) {
    const width = this.text.clientWidth;
    const key = [this.shownKey, width, ...Object.values(extent)].join(" ");
    if (key === this.drawnKey || !width) return () => {};
    this.drawnKey = key;
    const ink = getComputedStyle(this.root).getPropertyValue("--ink");
    const top = this.newestTop();
    return () => {
      this.drawStairs(width, ink, extent);
      if (top !== null) this.text.scrollTop = top;
    };
  }

  /** Show the verdict in a word, and its reason behind the "?". */
  showVerdict(isFinished: boolean) {
    const { judged, unjudgedWords } = verdictParts(this.lane.verdict);
    const brief = judged && { ...judged, words: verdictWithoutReason(judged.words) };
    const isStopped = this.lane.finish === "stopped"; // no answer to judge
    this.verdict.show(brief, isFinished, isStopped ? "" : verdictWithoutReason(unjudgedWords));
    setTerm(this.verdictQuestion, "", judged?.words ?? unjudgedWords);
    this.verdictQuestion.hidden = !isFinished || isStopped;
  }

  /** Draw the staircase: position to the right, forward pass downwards; dashed: one token per pass. */
  drawStairs(width: number, ink: string, { positions, passes }: Extent) {
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
    context.fillStyle = ink || inks.causal;
    for (const item of this.lane.knownAt(this.lastPass)) {
      context.globalAlpha = item.pass <= this.pass ? 1 : 0.2;
      const [wide, high] = [Math.max(cell - 0.5, 1), Math.max(row - 0.5, 1.5)];
      context.fillRect(item.position * cell, item.pass * row, wide, high);
    }
    context.globalAlpha = 1;
  }

  /** Return where to scroll the text, by whole lines, for the newest token to be in sight; null if all is. */
  newestTop() {
    const { text } = this;
    if (text.scrollHeight <= text.clientHeight) return null;
    const newest = this.spans.findLast((span) => !span.matches(".is-ahead, .is-mask"));
    const bottom = newest ? newest.offsetTop + newest.offsetHeight + LINE_GAP : 0;
    const line = Number.parseFloat(getComputedStyle(text).lineHeight) || 1;
    return Math.ceil(Math.max(0, bottom - text.clientHeight) / line) * line;
  }
}

/** How a lane's answer differs from that of next-token prediction. */
interface Comparison {
  differing: Set<number>; // positions whose tokens differ from next-token prediction's, or were added
  missing: Map<number, number>; // position to how many tokens of next-token prediction are missing before it
  words: string; // see differWords
}

/** Compare a lane's answer with next-token prediction's, as far as both go; null unless both are complete. */
export function compareWithNtp(run: Run, lane: Lane): Comparison | null {
  const ntp = run.lanes.get("ntp");
  if (!ntp?.finish || !lane.finish) return null;
  let [left, right] = [ntp, lane].map((each) => answerTokens(run, each).map(({ id }) => id));
  if (!left || !right) return null;
  if (ntp.finish !== "end_of_sequence") right = right.slice(0, left.length);
  if (lane.finish !== "end_of_sequence") left = left.slice(0, right.length);
  const differ = differences(left, right);
  return { differing: differ.onlyRight, missing: differ.missing, words: differWords(differ) };
}

/**
 * Return a lane's progress in words: forward passes or, by time, seconds; and tokens.
 * @param pass the last one that has ended, -1 for none
 * @param place engine time and tokens at the end of `pass`
 */
export function progressWords(
  pass: number,
  { seconds, tokens }: { seconds: number; tokens: number },
  isByTime: boolean,
) {
  const written = countOf(pass < 0 ? 0 : tokens, "token");
  if (isByTime) return { value: formatRaceSeconds(seconds), unit: written };
  return { value: String(pass + 1), unit: `${pass === 0 ? "pass" : "passes"}, ${written}` };
}

const COLUMNS = [
  "Forward passes",
  "Tokens",
  "Tokens a pass",
  "Time a token",
  "By the clock",
  "Differs from next-token",
];
const FIRST_COMPARED = 4; // index of the first column that compares with next-token prediction
const UNKNOWN = "–";

/** Say how a lane's answer differs from next-token prediction's. */
function differsWords({ lane, comparison }: LaneCard) {
  if (!comparison || lane.name === "ntp") return UNKNOWN;
  if (comparison.words) return comparison.words;
  return lane.name.startsWith("verify") ? "identical, as promised" : "identical";
}

/**
 * Say how a lane's time per token compares with next-token prediction's, by the medians as they are shown; from fewer
 * timings than LEAST_TIMINGS only how often it was timed.
 * @param times seconds a token in each timing
 * @param ntp those of next-token prediction; undefined without it
 */
export function clockComparison(times: number[], ntp: number[] | undefined) {
  if (!ntp || times === ntp) return UNKNOWN;
  const count = Math.min(times.length, ntp.length);
  if (count < LEAST_TIMINGS) return count === 1 ? "timed once" : `timed ${count} times`;
  const [main, other] = [times, ntp].map((each) => roundToRaceDigits(median(each)));
  return fasterWords(tokenCostRatio(main ?? 0, 1, other ?? 0, 1)) || UNKNOWN;
}

/** Return the median of some times and, of several, their range. */
function timesWords(times: number[]) {
  const range = [Math.min(...times), Math.max(...times)].map(formatRaceSeconds).join(" to ");
  return formatRaceSeconds(median(times)) + (times.length > 1 ? ` (${range})` : "");
}

function rowWords(card: LaneCard, ntp: LaneCard | undefined) {
  const { lane, times, numTokens } = card;
  return [
    String(lane.steps.length),
    String(numTokens),
    (numTokens / Math.max(lane.steps.length, 1)).toFixed(2),
    timesWords(times),
    clockComparison(times, ntp?.times),
    differsWords(card),
  ];
}

/** The results of a comparison for other programs. Times are seconds of the engine. */
export function resultsOf(run: Run, cards: LaneCard[]) {
  const { prompt, model, weights, config } = run;
  const rows = cards.map((card) => ({
    lane: card.lane.name,
    title: card.title,
    forward_passes: card.lane.steps.length,
    tokens: card.numTokens,
    tokens_per_forward: card.numTokens / Math.max(card.lane.steps.length, 1),
    median_seconds_per_token: median(card.times),
    least_seconds_per_token: Math.min(...card.times),
    most_seconds_per_token: Math.max(...card.times),
    num_timings: card.times.length,
    differs_from_ntp: card.comparison?.words ?? null,
    is_right: card.lane.verdict?.right ?? null,
    finish: card.lane.finish,
  }));
  const { block_size, max_new_tokens, seed } = config;
  return { prompt, model, weights, block_size, max_new_tokens, seed, rows };
}

/**
 * Make the table of results; a row has no figures until its lane has finished.
 * @param words an explanation of the times
 * @param actions what can be done with the results
 */
export function makeTable(cards: LaneCard[], words: string, actions: HTMLElement) {
  const about = question("the times", words);
  const bodies = cards.map(({ lane, title }) => {
    const cells = COLUMNS.map((name) => make("td", "", { "data-name": name }));
    const strategy = strategyOf(lane.name);
    const head = make("th", "", { scope: "row" }, title);
    const data = { "data-strategy": strategy, "data-lane": lane.name };
    return { node: make("tr", "", data, head, ...cells), cells };
  });
  const heads = ["Decoded by", ...COLUMNS].map((name) => make("th", "", { scope: "col" }, name));
  const root = make(
    "table",
    "sbd-compare-table",
    make("caption", "", "Result", about, actions),
    make("thead", "", make("tr", "", ...heads)),
    make("tbody", "", ...bodies.map(({ node }) => node)),
  );

  /** Show the figures of the lanes that have finished. @param finished one flag for each row */
  function update(finished: boolean[]) {
    const ntp = cards.findIndex(({ lane }) => lane.name === "ntp");
    const canCompare = finished[ntp] ?? true;
    bodies.forEach(({ node, cells }, index) => {
      const card = cards[index];
      const isFinished = finished[index] ?? false;
      node.classList.toggle("is-open", !isFinished);
      const words = card && isFinished ? rowWords(card, cards[ntp]) : [];
      for (const [column, cell] of cells.entries()) {
        const isKnown = isFinished && (canCompare || column < FIRST_COMPARED);
        const isAlone = ntp < 0 && column >= FIRST_COMPARED;
        setText(
          cell,
          isAlone ? "next-token not chosen" : isKnown ? (words[column] ?? UNKNOWN) : "…",
        );
      }
    });
  }

  return { root, update };
}
