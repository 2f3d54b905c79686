// The player of the Compare view. During decoding it shows all that has come; afterwards it plays the lanes together,
// by forward pass or by the engine time that they took.

import { html, nothing, render } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { clamp, formatRaceSeconds } from "../core/numbers.ts";
import { History, type Run } from "../core/run.ts";
import { NUM_TIMINGS } from "../core/times.ts";
import { Clock } from "../dom/clock.ts";
import { find } from "../dom/elements.ts";
import { listenToKeys } from "../dom/keys.ts";
import { csvOf, saveFile } from "../dom/save.ts";
import {
  makeLecture,
  onResize,
  prefersReducedMotion,
  scrollBehavior,
  scrollOnPhone,
} from "../dom/screen.ts";
import {
  buttonTemplate,
  editButton,
  iconButton,
  measureChoice,
  playButton,
  questionTemplate,
  speedChoice,
} from "../dom/templates.ts";
import { makeTermNote } from "../dom/terms.ts";
import { Sheet } from "../share/sheet.ts";
import { Help, type HelpWords } from "../watch/help.ts";
import { puzzleIn } from "../watch/sudoku.ts";
import { HOW } from "./form.ts";
import { LaneState, laneTemplate, newestTop, resultsOf, tableTemplate } from "./lane.ts";

const PLAY_SECONDS = 8; // of playback at speed 1, until the last lane finishes

export class ComparePlayer {
  history = new History();
  lanes: LaneState[] = [];
  clock: Clock;
  isOpen = false; // whether the view was ever in front: before, nothing is drawn
  isFollowing = false; // whether the clock stays at the newest forward pass as lanes are decoded
  said = ""; // by a screen reader
  numLeft = 0; // timings that are still to come
  /** seconds a token by lane, in every timing of the comparison with this link */
  timed: { link: string; times: Map<string, number[]> } = { link: "", times: new Map() };
  /** the form, which stands over the lanes */
  form: Node | null = null;
  /** a line about the form, under the prompt */
  note: Node | null = null;
  lecture: ReturnType<typeof makeLecture>;
  actions: ReturnType<ComparePlayer["makeActions"]>;
  help = new Help(false, COMPARE_HELP);
  share = new Sheet();

  constructor(
    readonly root: HTMLElement,
    link: () => string,
    readonly time: () => void,
    signal: AbortSignal,
  ) {
    const options = { duration: PLAY_SECONDS, loops: false, isByTime: false };
    this.clock = new Clock(options, () => this.paint(), signal);
    this.lecture = makeLecture(root, () => this.paint(), signal);
    this.actions = this.makeActions();
    this.share.rows = [this.share.linkRow("Opens the page and compares these lanes again.", link)];
    onResize(root, () => this.paint(), signal);
    listenToKeys(root, this.actions, signal);
    makeTermNote(root, signal);
  }

  makeActions() {
    const { clock } = this;
    return {
      seek: (value: number) => this.move(() => clock.seek(value)),
      first: () => this.move(() => clock.seek(0)),
      last: () => this.move(() => clock.seek(Infinity)),
      back: () => this.move(() => clock.step(-1)),
      forward: () => this.move(() => clock.step(1)),
      togglePlay: () => this.togglePlay(),
      lecture: () => this.lecture.toggle(),
      help: () => this.help.toggle(),
      share: () => this.share.toggle(),
      closeAll: () => this.lecture.leave(),
      previousPosition: () => this.moveFocus(-1),
      nextPosition: () => this.moveFocus(1),
    };
  }

  /** Take wire lines of a new run, whose lanes are shown at once, or of more passes. */
  receive(wire: string) {
    const news = this.history.accept(wire);
    const { run } = this.history;
    if (!news || !run) return;
    if (news === "run") this.open(run);
    this.addPasses(run);
  }

  open(run: Run) {
    this.lanes = [...run.lanes.values()].map((lane) => new LaneState(run, lane));
    this.clock.lanes = [...run.lanes.values()];
    this.isFollowing = true;
    this.paint();
    if (this.isOpen && !run.isRecorded) scrollOnPhone(this.card);
  }

  addPasses(run: Run) {
    // A recorded run plays from its start, unless the visitor wants no motion.
    const plays = run.isRecorded && run.isComplete && !prefersReducedMotion();
    if (plays) this.clock.set({ value: 0, isPlaying: true });
    else if (this.isFollowing) this.clock.seek(Infinity);
    else this.paint();
  }

  /** Mark unfinished lanes as stopped, as nothing more will come. */
  end() {
    const lanes = this.lanes.filter(({ lane }) => lane.finish === null);
    for (const { lane } of lanes) lane.complete({ finish: "stopped" });
    if (lanes.length && this.history.run) this.addPasses(this.history.run);
  }

  get extent() {
    return {
      positions: Math.max(1, ...this.lanes.map((state) => state.numTokens)),
      passes: Math.max(1, ...this.lanes.map(({ lane }) => lane.steps.length)),
    };
  }

  get card() {
    return find(this.root, ".sbd-compare-card");
  }

  get texts() {
    return [...this.root.querySelectorAll<HTMLElement>(".sbd-compare-text")];
  }

  /** Move the focus from lane to lane. @param by 1 ahead, -1 back */
  moveFocus(by: number) {
    const from = this.texts.findIndex((text) => text.matches(":focus"));
    const last = this.texts.length - 1;
    const next = from < 0 ? (by > 0 ? 0 : last) : clamp(from + by, 0, last);
    this.texts[next]?.focus();
  }

  save(kind: string) {
    const { run } = this.history;
    if (!run) return;
    const results = resultsOf(run, this.lanes);
    const { prompt, model } = run;
    const rows = () => results.rows.map((row) => ({ ...row, model, prompt }));
    const text = kind === "CSV" ? csvOf(rows()) : JSON.stringify(results, null, 1);
    saveFile(`compare-${run.fileStem}.${kind.toLowerCase()}`, new Blob([text]));
  }

  /** Add the times of a complete run to those of the same comparison. @param link that compares its lanes again */
  takeTimes(link: string) {
    if (link !== this.timed.link) this.timed = { link, times: new Map() };
    const { times } = this.timed;
    for (const state of this.lanes) {
      times.set(state.lane.name, [...(times.get(state.lane.name) ?? []), ...state.times]);
      state.timings = times.get(state.lane.name) ?? [];
    }
    this.paint();
  }

  /** Show how many timings are still to come; 0: none. */
  showTiming(numLeft: number) {
    this.numLeft = numLeft;
    this.paint();
  }

  /** Pause, as drawing must not take time from an engine on the same machine. */
  pause() {
    if (this.clock.isPlaying) this.clock.set({ isPlaying: false });
  }

  move(act: () => void) {
    if (!this.lanes.length) return;
    act();
    this.isFollowing = this.clock.value >= this.clock.finish;
    this.said = this.clockWords;
    this.paint();
  }

  togglePlay() {
    if (!this.lanes.length) return;
    this.isFollowing = false;
    this.clock.toggle();
  }

  /** Let the arrow keys step on the track too, whose own steps are none of the lanes'. */
  stepOnTrack(event: KeyboardEvent) {
    const act = { ArrowLeft: this.actions.back, ArrowRight: this.actions.forward }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }

  get clockWords() {
    const { value, finish, isByTime } = this.clock;
    if (!isByTime) return `forward pass ${Math.floor(value)} of ${finish}`;
    return `${formatRaceSeconds(value)} of ${formatRaceSeconds(finish)}`;
  }

  paint() {
    if (!this.isOpen) return;
    const { run } = this.history;
    const view = html`${this.form}${run ? [this.board(run), this.results(run)] : nothing}
      <div class="sbd-live" aria-live="polite">${this.said}</div>
      ${this.help.root}${this.share.root}`;
    render(view, this.root);
    // All are measured before any is scrolled: to write and measure in turns lays out the page for each.
    const tops = this.texts.map(newestTop);
    for (const [index, state] of this.lanes.entries()) {
      const [text, top = 0] = [this.texts[index], tops[index]];
      // Only when something has come since: the visitor may have scrolled the text.
      if (text && state.top !== top) text.scrollTop = top;
      state.top = top;
    }
  }

  board(run: Run) {
    const isSudoku = puzzleIn(run.prompt) !== null;
    const { lanes, clock, extent } = this;
    const hasMarks = lanes.some(({ isMarked }) => isMarked);
    const edit = () =>
      find(this.root, ".sbd-compare-form").scrollIntoView({ behavior: scrollBehavior() });
    return html`<div class="sbd-compare-card">
      <div class="sbd-compare-head">
        <p class="sbd-compare-prompt" title=${run.prompt}>${run.prompt}</p>${editButton(edit)}
        <span class=${hasMarks ? "" : "is-unused"}>${questionTemplate("the marks", MARKS_WORDS)}</span
        >${this.note}
      </div>
      ${this.transport()}
      <div class="sbd-compare-lanes">
        ${lanes.map((state) => laneTemplate(state, clock, extent, isSudoku))}
      </div>
    </div>`;
  }

  transport() {
    const { actions, clock } = this;
    const { value, finish, isByTime, slownessWords } = clock;
    const done = finish ? value / finish : 0;
    return html`<div class="sbd-compare-transport" role="group" aria-label="Playback">
      <div class="sbd-buttons">
        ${iconButton("first", "Start (Home)", actions.first)}
        ${playButton(clock.isPlaying, actions.togglePlay)}
        ${iconButton("last", "Finish (End)", actions.last)}
      </div>
      <div class="sbd-scrubber">
        <input
          class="sbd-range"
          type="range"
          min="0"
          max=${finish}
          step=${isByTime ? "any" : 1}
          aria-label="Position"
          aria-valuetext=${this.clockWords}
          style="--done: ${done * 100}%"
          .value=${live(String(isByTime ? value : Math.round(value)))}
          @input=${(event: InputEvent) =>
            actions.seek(Number((event.target as HTMLInputElement).value))}
          @keydown=${(event: KeyboardEvent) => this.stepOnTrack(event)}
        />
      </div>
      <span class="sbd-compare-clock"
        >${[this.clockWords, slownessWords].filter(Boolean).join(" · ")}</span>
      ${measureChoice(isByTime, (byTime) => clock.measureBy(byTime))}
      ${speedChoice("Pace", (speed) => clock.set({ speed }))}
      ${iconButton("share", "Take it home (S)", actions.share)}
      ${iconButton("lecture", "Lecture mode (L)", actions.lecture)}
      ${iconButton("help", "Help (?)", actions.help)}
    </div>`;
  }

  results(run: Run) {
    const number = NUM_TIMINGS - this.numLeft + 1;
    const words = this.numLeft
      ? `timing ${number} of ${NUM_TIMINGS} …`
      : `run each ${NUM_TIMINGS} more times`;
    const save = (kind: string) =>
      buttonTemplate("sbd-action", kind, () => this.save(kind), { label: `Save as ${kind}` });
    const time = buttonTemplate("sbd-action", words, this.time, { isDisabled: this.numLeft > 0 });
    const actions = html`<span class="sbd-compare-acts">${time}${["JSON", "CSV"].map(save)}</span>`;
    const times = run.isRecorded ? `A recorded run, timed once. ${TIMES_WORDS}` : TIMES_WORDS;
    return html`<div class="sbd-card sbd-compare-board">
      <div class="sbd-compare-result">${tableTemplate(this.lanes, this.clock, times, actions)}</div>
    </div>`;
  }
}

const MARKS_WORDS =
  "Underlined: a token that differs from next-token prediction’s, which is not to be wrong. " +
  "A number in a dashed box: so many of its tokens are missing there.";

const COMPARE_HELP: HelpWords = {
  hasScale: false,
  sights: [
    ["Ways to decode", HOW],
    [
      "Playback",
      "All stand at the same forward pass or, by time, where they were by what the model took " +
        "without drawing.",
    ],
    ["Staircases", "All on one scale; dashed: one token a pass, as next-token prediction writes."],
    ["Marks", MARKS_WORDS],
  ],
  keys: [
    ["space", "play or pause"],
    ["← →", "one forward pass back or ahead; by time, of the answer whose turn it is"],
    ["↑ ↓", "move between answers"],
    ["Home End", "start or finish"],
    ["Esc", "leave lecture mode"],
    ["L", "lecture mode, full screen"],
    ["S", "take it home: the link"],
    ["?", "this help"],
  ],
};

const TIMES_WORDS =
  "One model decoded in every way, a forward pass of each in turn. Times are the model’s, without " +
  "drawing; another run gives others: so how much faster a token was is said from three timings on. Answers may differ in length, so they are " +
  "compared by the token.";
