// The player of the Compare view. During decoding it shows all that has come; afterwards it plays the lanes together,
// by forward pass or by the engine time that they took. Its clock counts forward passes, or microseconds of that time.

import { clamp, formatRaceSeconds } from "../core/numbers.ts";
import { History } from "../core/run.ts";
import { NUM_TIMINGS } from "../core/times.ts";
import {
  make,
  makeButton,
  makeMeasureChoice,
  makeSpeedChoice,
  setAttribute,
  setStyle,
  setText,
  showPlaying,
} from "../dom/elements.ts";
import { listenToKeys } from "../dom/keys.ts";
import { csvOf } from "../dom/save.ts";
import { makeLecture, onResize, prefersReducedMotion, scrollOnPhone } from "../dom/screen.ts";
import { makeTermNote, question } from "../dom/terms.ts";
import { Sheet } from "../share/sheet.ts";
import { Help, type HelpWords } from "../watch/help.ts";
import { makeTicker } from "../watch/playhead.ts";
import { puzzleIn } from "../watch/sudoku.ts";
import { compareWithNtp, LaneCard, makeTable, resultsOf } from "./lane.ts";

function makeTransport(player: ComparePlayer) {
  const { actions } = player;
  return make(
    "div",
    "sbd-compare-transport",
    { role: "group", "aria-label": "Playback" },
    make(
      "div",
      "sbd-buttons",
      makeButton("first", "Start (Home)", actions.first),
      player.play,
      makeButton("last", "Finish (End)", actions.last),
    ),
    make("div", "sbd-scrubber", player.range),
    player.place,
    makeMeasureChoice(false, (isByTime) => player.measureBy(isByTime)),
    makeSpeedChoice("Pace", (speed) => player.set({ speed })),
    makeButton("share", "Take it home (S)", actions.share),
    makeButton("lecture", "Lecture mode (L)", actions.lecture),
    makeButton("help", "Help (?)", actions.help),
    player.message,
  );
}

export type PlayState = { clock: number; isPlaying: boolean; speed: number; isByTime: boolean };

const RESULTS_WORDS = "The numbers of every lane, as in the table.";
const PLAY_SECONDS = 8; // of playback at speed 1, until the last lane finishes

export class ComparePlayer {
  history = new History();
  state: PlayState;
  lanes: LaneCard[] = [];
  results: ReturnType<typeof makeTable> | null = null;
  ticker: ReturnType<typeof makeTicker>;
  isFollowing = false; // whether the clock stays at the newest forward pass as lanes are decoded
  lecture: { leave: () => void; toggle: () => void | Promise<void> };
  actions: {
    seek: (clock: number) => void;
    first: () => void;
    last: () => void;
    back: () => void;
    forward: () => void;
    togglePlay: () => void;
    lecture: () => void | Promise<void>;
    help: () => void;
    share: () => void;
    closeAll: () => void;
    previousPosition: () => void;
    nextPosition: () => void;
    pin: () => void;
    branch: () => void;
  };
  help = new Help(false, COMPARE_HELP);
  share = new Sheet();
  title: HTMLParagraphElement;
  stage: HTMLDivElement;
  table: HTMLDivElement;
  live: HTMLDivElement;
  legend: HTMLElement;
  message: HTMLParagraphElement;
  timeButton: HTMLButtonElement;
  saveButtons: HTMLButtonElement[];
  /** seconds a token by lane, in every timing of the comparison with this link */
  timed: { link: string; times: Map<string, number[]> } = { link: "", times: new Map() };
  play: HTMLButtonElement;
  range: HTMLInputElement;
  place: HTMLSpanElement;
  head: HTMLDivElement;
  card: HTMLDivElement;
  result: HTMLDivElement;

  /**
   * @param link returns the address that compares the chosen lanes
   * @param time compares them several times more
   * @param signal removes the listeners
   */
  constructor(
    readonly root: HTMLElement,
    link: () => string,
    time: () => void,
    signal: AbortSignal,
  ) {
    this.state = { clock: 0, isPlaying: false, speed: 1, isByTime: false };
    this.lecture = makeLecture(root, () => this.draw(), signal);
    const isPlaying = () => this.state.isPlaying;
    this.ticker = makeTicker(isPlaying, (seconds) => this.advance(seconds), signal);
    this.actions = this.makeActions();
    this.title = make("p", "sbd-compare-prompt");
    this.stage = make("div", "sbd-compare-lanes");
    this.table = make("div", "sbd-compare-result");
    this.live = make("div", "sbd-live", { "aria-live": "polite" });
    this.legend = question("the marks", MARKS_WORDS);
    this.message = make("p", "sbd-compare-note sbd-compare-told", { role: "status" });
    this.timeButton = make("button", "sbd-action", time);
    this.share.rows.append(
      this.share.linkRow("Opens the page and compares these lanes again.", link),
      ...["JSON", "CSV"].map((kind) =>
        this.share.row(`Results as ${kind}`, RESULTS_WORDS, `Save ${kind}`, () => this.save(kind)),
      ),
    );
    this.saveButtons = ["JSON", "CSV"].map((kind) =>
      make("button", "sbd-action", { "aria-label": `Save as ${kind}` }, kind, () =>
        this.save(kind),
      ),
    );
    this.showTiming(0);
    this.play = makeButton("play", "Play (space)", this.actions.togglePlay);
    this.range = make("input", "sbd-range", {
      type: "range",
      min: "0",
      step: "1",
      "aria-label": "Position",
    });
    this.range.addEventListener("input", () => this.actions.seek(Number(this.range.value)));
    this.range.addEventListener("keydown", (event) => this.stepOnTrack(event));
    this.place = make("span", "sbd-compare-clock");
    this.head = make("div", "sbd-compare-head", this.title, this.legend);
    this.card = this.makeCard();
    const hidden = { hidden: "" };
    this.result = make("div", "sbd-card sbd-compare-board", hidden, this.table);
    onResize(this.stage, () => this.redraw(), signal);
    listenToKeys(root, this.actions, signal);
    makeTermNote(root, signal);
  }

  makeActions() {
    return {
      seek: (clock: number) => this.seek(clock, true),
      first: () => this.seek(0, true),
      last: () => this.seek(Infinity, true),
      back: () => this.step(-1),
      forward: () => this.step(1),
      togglePlay: () => this.togglePlay(),
      lecture: () => this.lecture.toggle(),
      help: () => this.help.toggle(),
      share: () => this.share.toggle(),
      closeAll: () => this.lecture.leave(),
      previousPosition: () => this.moveFocus(-1),
      nextPosition: () => this.moveFocus(1),
      pin: () => this.sayWherePinsWork(),
      branch: () => this.sayWherePinsWork(),
    };
  }

  makeCard() {
    return make(
      "div",
      "sbd-compare-card",
      { hidden: "" },
      this.head,
      makeTransport(this),
      this.stage,
    );
  }

  /** Take wire lines of a new run, whose lanes are shown at once, or of more passes. */
  receive(wire: string) {
    const news = this.history.accept(wire);
    if (news === "run") this.open();
    if (news) this.addPasses();
  }

  open() {
    const run = this.history.run;
    if (!run) return;
    setText(this.message, "");
    const isSudoku = puzzleIn(run.prompt) !== null;
    this.lanes = [...run.lanes.values()].map(
      (lane) => new LaneCard(run, lane, run.config.max_new_tokens, isSudoku),
    );
    this.stage.replaceChildren(...this.lanes.map((lane) => lane.root));
    this.results = makeTable(
      this.lanes,
      run.isRecorded ? `A recorded run, timed once. ${TIMES_WORDS}` : TIMES_WORDS,
      make("span", "sbd-compare-acts", this.timeButton, ...this.saveButtons),
    );
    this.table.replaceChildren(this.results.root);
    setText(this.title, run.prompt);
    setAttribute(this.title, "title", run.prompt);
    this.card.hidden = false;
    this.result.hidden = false;
    this.isFollowing = true;
    if (!run.isRecorded) scrollOnPhone(this.card);
  }

  addPasses() {
    const run = this.history.run;
    if (!run) return;
    for (const card of this.lanes) card.addPasses(compareWithNtp(run, card.lane));
    const isMarked = this.lanes.some(
      ({ comparison }) => comparison && comparison.differing.size + comparison.missing.size > 0,
    );
    this.legend.classList.toggle("is-unused", !isMarked);
    // A recorded run plays from its start, unless the visitor wants no motion.
    const plays = run.isRecorded && run.isComplete && !prefersReducedMotion();
    if (plays) this.set({ clock: 0, isPlaying: true });
    else this.set(this.isFollowing ? { clock: this.finishClock, isPlaying: false } : {});
  }

  /** Mark unfinished lanes as stopped, as nothing more will come. */
  end() {
    const lanes = this.lanes.filter(({ lane }) => lane.finish === null);
    for (const { lane } of lanes) lane.complete({ finish: "stopped" });
    if (lanes.length) this.addPasses();
  }

  /** The scale of all staircases. */
  get extent() {
    return {
      positions: Math.max(1, ...this.lanes.map((lane) => lane.numTokens)),
      passes: Math.max(1, ...this.lanes.map((lane) => lane.lastPass + 1)),
    };
  }

  /** Move the focus from lane to lane. @param by 1 ahead, -1 back */
  moveFocus(by: number) {
    const from = this.lanes.findIndex(({ text }) => text === document.activeElement);
    const last = this.lanes.length - 1;
    const next = from < 0 ? (by > 0 ? 0 : last) : clamp(from + by, 0, last);
    this.lanes[next]?.text.focus();
  }

  /** Say that pinning and branching, which change a single run, work in Watch. */
  sayWherePinsWork() {
    setText(
      this.message,
      "Pin and branch work on one run at a time: turn to Watch and decode it there.",
    );
  }

  /** Save the results that the table shows. */
  save(kind: string) {
    const { run } = this.history;
    if (!run) return;
    const results = resultsOf(run, this.lanes);
    const text = kind === "CSV" ? csvOf(results.rows) : JSON.stringify(results, null, 1);
    this.share.save(`compare-${run.fileStem}.${kind.toLowerCase()}`, new Blob([text]));
  }

  /** Add the times of a complete run to those of the same comparison. @param link that compares its lanes again */
  takeTimes(link: string) {
    if (link !== this.timed.link) this.timed = { link, times: new Map() };
    const { times } = this.timed;
    for (const card of this.lanes) {
      times.set(card.lane.name, [...(times.get(card.lane.name) ?? []), ...card.times]);
      card.timings = times.get(card.lane.name) ?? [];
    }
    this.draw();
  }

  /** Show how many timings are still to come; 0: none. */
  showTiming(numLeft: number) {
    const number = NUM_TIMINGS - numLeft + 1;
    this.timeButton.disabled = numLeft > 0;
    setText(
      this.timeButton,
      numLeft ? `timing ${number} of ${NUM_TIMINGS} …` : `run each ${NUM_TIMINGS} times`,
    );
  }

  /** Pause, as drawing must not take time from an engine on the same machine. */
  pause() {
    if (this.state.isPlaying) this.set({ isPlaying: false });
  }

  /** The clock's value when the last lane finishes. */
  get finishClock() {
    return Math.max(
      0,
      ...this.lanes.map((lane) => (this.state.isByTime ? lane.duration : lane.lastPass + 1)),
    );
  }

  set(change: Partial<PlayState>) {
    Object.assign(this.state, change);
    this.draw();
    this.ticker.start();
  }

  /** Switch between time and forward passes, at the same share of the run. */
  measureBy(isByTime: boolean) {
    const part = this.state.clock / Math.max(this.finishClock, 1);
    this.state.isByTime = isByTime;
    this.set({ clock: Math.round(part * this.finishClock) });
  }

  /** @param isManual whether the visitor moved the clock */
  seek(clock: number, isManual: boolean) {
    if (!this.lanes.length) return;
    const target = clamp(clock, 0, this.finishClock);
    if (isManual) this.isFollowing = target >= this.finishClock;
    this.set({ clock: target, ...(isManual ? { isPlaying: false } : {}) });
    if (isManual) setText(this.live, this.clockWords());
  }

  /** Step by one pass or, by time, to the next end of any lane's pass. @param by 1 ahead, -1 back */
  step(by: number) {
    const { clock, isByTime } = this.state;
    const ends = this.lanes.flatMap((lane) => lane.passEnds);
    this.seek(isByTime ? nearestPassEnd(ends, clock, by) : Math.floor(clock) + by, true);
  }

  /** Let the arrow keys step on the track too, whose own step by time is a microsecond. */
  stepOnTrack(event: KeyboardEvent) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.step(by);
  }

  togglePlay() {
    if (!this.lanes.length) return;
    const isOver = this.state.clock >= this.finishClock;
    this.isFollowing = false;
    this.set({ isPlaying: !this.state.isPlaying, ...(isOver ? { clock: 0 } : {}) });
  }

  /** Advance the clock, until the last lane finishes. */
  advance(seconds: number) {
    const { clock, speed } = this.state;
    const moved = seconds * speed * (this.finishClock / PLAY_SECONDS);
    const next = Math.min(clock + moved, this.finishClock);
    Object.assign(this.state, { clock: next, isPlaying: next < this.finishClock });
    this.paint();
  }

  /** Draw everything again, as its size or colours changed. */
  redraw() {
    for (const lane of this.lanes) lane.shownKey = lane.drawnKey = "";
    this.draw();
  }

  draw() {
    if (this.lanes.length) this.paint();
  }

  /** The clock's value in words. */
  clockWords() {
    const { clock, isByTime } = this.state;
    if (!isByTime) return `forward pass ${Math.floor(clock)} of ${this.finishClock}`;
    return `${formatRaceSeconds(clock / 1e6)} of ${formatRaceSeconds(this.finishClock / 1e6)}`;
  }

  /** How much slower or faster than the engine the lanes play; "" by forward pass. */
  slownessWords() {
    const { isByTime, speed } = this.state;
    if (!isByTime) return "";
    const slowness = (PLAY_SECONDS * 1e6) / Math.max(this.finishClock * speed, 1);
    return slowness >= 1
      ? ` · shown ${slowness.toFixed(1)}× slower`
      : ` · shown ${(1 / slowness).toFixed(1)}× faster`;
  }

  paint() {
    const { clock, isByTime, isPlaying } = this.state;
    const { finishClock } = this;
    const time = isByTime ? clock : Math.floor(clock);
    const extent = this.extent;
    this.results?.update(this.lanes.map((lane) => lane.update(time, isByTime)));
    // All are measured before any is drawn: to write and measure in turns makes the browser lay out the page for each.
    const draws = this.lanes.map((lane) => lane.measure(extent));
    for (const draw of draws) draw();
    setAttribute(this.range, "max", finishClock);
    this.range.value = String(Math.round(clock));
    setStyle(this.range, "--done", `${(clock / Math.max(finishClock, 1)) * 100}%`);
    setAttribute(this.range, "aria-valuetext", this.clockWords());
    setText(this.place, this.clockWords() + this.slownessWords());
    showPlaying(this.play, isPlaying);
  }
}

const COMPARE_HELP: HelpWords = {
  hasScale: false,
  sights: [
    [
      "Ways to decode",
      "One prompt, the same weights, up to four ways to decode it, a forward pass of each in turn. " +
        "Played again, all stand at the same forward pass, or where they were at the same time, by " +
        "what the model took without drawing.",
    ],
    [
      "Set Block Decoding and γ",
      "The paper’s entropy bound: a higher γ is bolder; as a rule it needs fewer forward passes and " +
        "errs more. Solvers pick by other rules.",
    ],
    [
      "Staircases",
      "Position to the right, forward pass downwards, all on one scale. Dashed: one token a " +
        "pass, as next-token prediction writes.",
    ],
    [
      "Exact (verify)",
      "Drafts several tokens and checks them in the next forward pass: the answer is that of " +
        "next-token prediction. How many tokens a forward pass reads, its rows, follows what rows " +
        "cost on the machine that decodes, unless a number says how many it may read.",
    ],
    [
      "Marks",
      "Underlined: a token that differs from next-token prediction’s, which is not to be wrong. " +
        "Right or wrong stands below an answer where something can check the answer.",
    ],
  ],
  keys: [
    ["space", "play or pause"],
    ["← →", "one forward pass back or ahead; by time, of the answer whose turn it is"],
    ["↑ ↓", "move between answers"],
    ["Home End", "start or finish"],
    ["Esc", "leave lecture mode"],
    ["L", "lecture mode, full screen"],
    ["S", "take it home: the link, the numbers"],
    ["?", "this help"],
  ],
};

/**
 * Return when the next forward pass ends, or the one before ended; Infinity after the last, 0 before the first.
 * @param ends times at which the forward passes of all lanes end
 * @param by 1 ahead, -1 back
 */
export function nearestPassEnd(ends: number[], clock: number, by: number) {
  return by > 0
    ? Math.min(...ends.filter((end) => end > clock))
    : Math.max(0, ...ends.filter((end) => end < clock));
}

const MARKS_WORDS =
  "Underlined: a token that differs from next-token prediction’s. " +
  "A number in a dashed box: so many of its tokens are missing there.";

const TIMES_WORDS =
  "One model decoded in every way, a forward pass of each in turn. Times are the model’s, without " +
  "drawing; another run gives others: so how much faster a token was is said from three timings on. Answers may differ in length, so they are " +
  "compared by the token.";
