// One lane of a comparison: a card with its progress, its text and its staircase, and its row in the table of results.
// While an earlier forward pass is shown, later tokens are hidden but keep their places, so that nothing moves.

import { html, nothing } from "lit-html";
import { guard } from "lit-html/directives/guard.js";
import { answerTokens, compareWithNtp } from "../core/differences.ts";
import { lanePieces } from "../core/letters.ts";
import { countOf, formatRaceSeconds, median, roundToRaceDigits } from "../core/numbers.ts";
import type { Lane, Run } from "../core/run.ts";
import { fasterWords, LEAST_TIMINGS, tokenCostRatio } from "../core/times.ts";
import { laneTitle, laneWords, strategyOf } from "../core/words.ts";
import type { Clock } from "../dom/clock.ts";
import {
  classes,
  meterTemplate,
  pieceTemplates,
  questionTemplate,
  termTemplate,
} from "../dom/templates.ts";
import { answersInCells } from "../watch/sudoku.ts";
import { verdictParts, verdictWithoutReason } from "../watch/verdict.ts";

/** positions and forward passes that every staircase spans */
type Extent = { positions: number; passes: number };

const LINE_GAP = 8; // pixels below a token: the rest of its line, and the edge of the text box
const DIFFERS_TITLE = "differs from next-token prediction";

/** A lane of a comparison: its answer, how that differs, and how long it took. */
export class LaneState {
  title = laneTitle(this.lane.name);
  /** seconds a token in every complete timing of this comparison */
  timings: number[] = [];
  /** where its text was last scrolled to, in pixels; -1 before */
  top = -1;

  constructor(
    readonly run: Run,
    readonly lane: Lane,
  ) {}

  /** Seconds a token in every timing of this comparison; before it is timed again, in this run. */
  get times() {
    const { lane } = this;
    const own = lane.secondsAt(lane.lastPass) / Math.max(lane.numCommitted, 1);
    return this.timings.length ? this.timings : [own];
  }

  get numTokens() {
    return this.lane.numTokensAt(this.lane.lastPass);
  }

  /** How its answer differs from next-token prediction's; null until both are complete. */
  get comparison() {
    return compareWithNtp(this.run, this.lane);
  }

  /** Whether a token of next-token prediction's is missing, or one differs. */
  get isMarked() {
    const { comparison } = this;
    return comparison !== null && comparison.differing.size + comparison.missing.size > 0;
  }

  isFinishedAt(clock: Clock) {
    return this.lane.finish !== null && clock.passOf(this.lane) >= this.lane.lastPass;
  }

  /** The texts by position, up to the last known one; undefined for a mask. */
  get texts() {
    const texts: (string | undefined)[] = [];
    for (const { position, text } of answerTokens(this.run, this.lane)) texts[position] = text;
    return texts;
  }
}

function missingTemplate(count: number | undefined) {
  if (count === undefined) return nothing;
  const title = `${countOf(count, "token")} of next-token prediction missing here`;
  return html`<span class="sbd-compare-missing" title=${title} role="img" aria-label=${title}
    >−${count}</span>`;
}

/**
 * Return the tokens of the text at a pass, those that differ underlined, and a box where tokens are missing.
 * @param pass the last one that has ended, -1 for none
 * @param isGrid whether the text is shown as a grid, which gets no boxes
 */
function tokenTemplates(
  { lane, comparison }: LaneState,
  texts: (string | undefined)[],
  pass: number,
  isGrid: boolean,
) {
  const isOver = lane.finish !== null && pass >= lane.lastPass;
  const ends = new Set(lane.endTokens.map(({ position }) => position));
  const missing = (position: number) =>
    missingTemplate(isGrid ? undefined : comparison?.missing.get(position));
  const tokens = Array.from(texts, (text, position) => {
    const at = lane.fixed.get(position)?.pass ?? -1;
    const isOther = comparison?.differing.has(position);
    const look = classes({
      "is-mask": text === undefined,
      "is-other": isOther,
      "is-ahead": at > pass,
      "is-new": at === pass && !isOver,
    });
    const [before, after] = [texts[position - 1]?.at(-1) ?? "", texts[position + 1]?.[0] ?? "…"];
    const shown =
      text === undefined
        ? nothing
        : ends.has(position)
          ? html`<span class="sbd-compare-end">end</span>`
          : pieceTemplates(lanePieces(text, before, after));
    return html`${missing(position)}<span
        class="sbd-compare-token ${look}"
        title=${isOther ? DIFFERS_TITLE : nothing}
        >${shown}</span>`;
  });
  return [tokens, missing(texts.length)];
}

/** Return the staircase: position to the right, forward pass downwards; dashed: one token per pass. */
function stairsTemplate(state: LaneState, pass: number, { positions, passes }: Extent) {
  const { lane, numTokens } = state;
  const cells = (isAhead: boolean) =>
    lane
      .knownAt(lane.lastPass)
      .filter((item) => item.pass > pass === isAhead)
      .map((item) => `M${item.position} ${item.pass}h1v1h-1z`)
      .join("");
  const label = `Staircase: ${numTokens} tokens in ${lane.steps.length} passes`;
  const box = `0 0 ${positions} ${passes}`;
  return html`<svg
    class="sbd-compare-stairs"
    viewBox=${box}
    preserveAspectRatio="none"
    role="img"
    aria-label=${label}
  >
    <path class="is-even" d="M0 0L${passes} ${passes}"></path>
    <path class="is-ahead" d=${cells(true)}></path>
    <path d=${cells(false)}></path>
  </svg>`;
}

/** Return the verdict in a word, its reason behind the "?", and why the answer was cut off. */
function verdictTemplate({ lane, run, title }: LaneState, isFinished: boolean) {
  const { judged, unjudgedWords } = verdictParts(lane.verdict);
  const isStopped = lane.finish === "stopped"; // no answer to judge
  const brief = verdictWithoutReason(judged?.words ?? (isStopped ? "" : unjudgedWords));
  const words = judged ? `${judged.right ? "✓" : "✗"} ${brief}` : brief;
  const look = classes({
    "is-open": !judged,
    "is-right": isFinished && judged?.right === true,
    "is-wrong": isFinished && judged?.right === false,
  });
  const limits = { length: `cut at ${run.config.max_new_tokens} tokens, the limit` };
  const cut = { ...limits, stopped: "stopped" }[lane.finish as "length" | "stopped"] ?? "";
  return html`<div class="sbd-compare-verdict">
    <p
      class="sbd-verdict ${look}"
      title=${isFinished && judged ? brief : ""}
      ?hidden=${words === ""}
      >${isFinished ? words : "\u200a"}</p>
    ${
      isFinished && !isStopped
        ? questionTemplate(`the verdict on ${title}`, judged?.words ?? unjudgedWords)
        : nothing
    }
    <p class="sbd-compare-cut" ?hidden=${!isFinished}>${cut}</p>
  </div>`;
}

export function laneTemplate(state: LaneState, clock: Clock, extent: Extent, isSudoku: boolean) {
  const { lane, run, title, comparison } = state;
  const [pass, isFinished] = [clock.passOf(lane), state.isFinishedAt(clock)];
  const shown = [lane, lane.steps.length, lane.finish, comparison, pass, clock.isByTime];
  return guard([...shown, extent.positions, extent.passes], () => {
    const texts = state.texts;
    const isGrid = isSudoku && answersInCells(Array.from(texts, (text) => text ?? ""));
    const tokens = lane.numTokensAt(pass);
    const whole = lane.finish === null ? run.config.max_new_tokens : state.numTokens;
    const share = pass < 0 ? 0 : tokens / Math.max(whole, 1);
    const place = { seconds: lane.secondsAt(pass), tokens };
    const { value, unit } = progressWords(pass, place, clock.isByTime);
    return html`<section
      class="sbd-compare-lane ${isFinished ? "is-finished" : ""}"
      data-strategy=${strategyOf(lane.name)}
      data-lane=${lane.name}
    >
      <div class="sbd-compare-run">
        <h3 class="sbd-compare-name">${termTemplate(title, laneWords(lane.name))}</h3>
        ${meterTemplate(share)}
        <span class="sbd-compare-place"><b>${value}</b> <small>${unit}</small></span>
      </div>
      <div
        class="sbd-compare-text ${classes({ "is-sudoku": isGrid, "is-over": isFinished })}"
        role="group"
        tabindex="0"
        aria-label="Text of ${title}"
        dir=${run.directionOf(lane)}
        >${tokenTemplates(state, texts, pass, isGrid)}</div>
      ${stairsTemplate(state, pass, extent)}${verdictTemplate(state, isFinished)}
    </section>`;
  });
}

/** Return where to scroll a lane's text, by whole lines, for the newest token to be in sight; 0 if all is. */
export function newestTop(text: HTMLElement) {
  if (text.scrollHeight <= text.clientHeight) return 0;
  const seen = text.querySelectorAll<HTMLElement>(".sbd-compare-token:not(.is-ahead, .is-mask)");
  const newest = [...seen].at(-1);
  const bottom = newest ? newest.offsetTop + newest.offsetHeight + LINE_GAP : 0;
  const line = Number.parseFloat(getComputedStyle(text).lineHeight) || 1;
  return Math.ceil(Math.max(0, bottom - text.clientHeight) / line) * line;
}

/**
 * Return a lane's progress in words: forward passes or, by time, seconds; and tokens.
 * @param pass the last one that has ended, -1 for none
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

function differsWords({ lane, comparison }: LaneState) {
  if (!comparison || lane.name === "ntp") return UNKNOWN;
  if (comparison.words) return comparison.words;
  return lane.name.startsWith("verify") ? "identical, as promised" : "identical";
}

/**
 * Say how a lane's time per token compares with next-token prediction's, by the medians as they are shown; from fewer
 * timings than LEAST_TIMINGS only how often it was timed.
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

function rowWords(state: LaneState, ntp: LaneState | undefined) {
  const { lane, times, numTokens } = state;
  return [
    String(lane.steps.length),
    String(numTokens),
    (numTokens / Math.max(lane.steps.length, 1)).toFixed(2),
    timesWords(times),
    clockComparison(times, ntp?.times),
    differsWords(state),
  ];
}

/** The results of a comparison for other programs. Times are seconds of the engine. */
export function resultsOf(run: Run, states: LaneState[]) {
  const { prompt, model, weights, config } = run;
  const rows = states.map((state) => ({
    lane: state.lane.name,
    title: state.title,
    forward_passes: state.lane.steps.length,
    tokens: state.numTokens,
    tokens_per_forward: state.numTokens / Math.max(state.lane.steps.length, 1),
    median_seconds_per_token: median(state.times),
    least_seconds_per_token: Math.min(...state.times),
    most_seconds_per_token: Math.max(...state.times),
    num_timings: state.times.length,
    differs_from_ntp:
      state.lane.name === "ntp" || !state.comparison ? null : state.comparison.words || 0,
    is_right: state.lane.verdict?.right ?? null,
    finish: state.lane.finish,
  }));
  const { block_size, max_new_tokens, seed, repetition_penalty } = config;
  const settings = { block_size, max_new_tokens, seed, repetition_penalty };
  return { prompt, model, weights, versions: run.versions, ...settings, rows };
}

/** Keep a number on one line with its unit or letter. */
function joined(words: string) {
  return words.replace(/(?<=\d) (?=m?s\b)|(?<=[γτ]) /g, "\u00a0");
}

/** Return the table of results at the clock; a row has no figures until its lane has finished. */
export function tableTemplate(states: LaneState[], clock: Clock, words: string, actions: unknown) {
  const ntp = states.find(({ lane }) => lane.name === "ntp");
  const canCompare = ntp?.isFinishedAt(clock) ?? true;
  const row = (state: LaneState) => {
    const { lane, title } = state;
    const figures = state.isFinishedAt(clock) ? rowWords(state, ntp) : null;
    const cells = COLUMNS.map((name, column) => {
      const isCompared = column >= FIRST_COMPARED;
      const known = figures && (canCompare || !isCompared) ? figures[column] : "…";
      const shown = isCompared && !ntp ? "next-token not chosen" : joined(known ?? "");
      return html`<td data-name=${name}>${shown}</td>`;
    });
    return html`<tr
      class=${figures ? "" : "is-open"}
      data-strategy=${strategyOf(lane.name)}
      data-lane=${lane.name}
    >
      <th scope="row">${joined(title)}</th>
      ${cells}
    </tr>`;
  };
  return html`<table class="sbd-compare-table">
    <caption>Result${questionTemplate("the times", words)}${actions}</caption>
    <thead>
      <tr>${["Decoded by", ...COLUMNS].map((name) => html`<th scope="col">${name}</th>`)}</tr>
    </thead>
    <tbody>${states.map(row)}</tbody>
  </table>`;
}
