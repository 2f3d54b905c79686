// The player: one history, one playhead, several views of both. Knows nothing of Gradio.
//
//   const player = new Player(element, { redo(settings) {}, host });
//   player.push(wireText);   // any number of wire lines, see core/run/history.js
//
// `redo` is asked to decode again with other settings; without it the player only replays. `host`
// serves the share sheet. Drawing happens at most once a frame, and only when something changed.

import { clamp } from "../core/numbers.js";
import { Family } from "../core/run/family.js";
import { History } from "../core/run/history.js";
import { middlePass } from "../core/run/lane.js";
import { makeClock } from "../dom/clock.js";
import { make, setAttribute, setText } from "../dom/elements.js";
import { listenToKeys } from "../dom/keys.js";
import { isLecturing, makeLecture } from "../dom/lecture.js";
import { makeLegend } from "../dom/legend.js";
import { playRate } from "../dom/pace.js";
import { isDarkPage } from "../dom/page.js";
import { Reveals, STILL } from "../dom/reveal.js";
import { makeTermNote } from "../dom/terms.js";
import { Share } from "../share/sheet.js";
import { makeActions } from "./actions.js";
import { Budget } from "./budget.js";
import { Help } from "./help.js";
import { Inspector } from "./inspector/inspector.js";
import { makeNumbers } from "./numbers.js";
import { Staircase } from "./staircase/staircase.js";
import { Stale } from "./stale.js";
import { SudokuView } from "./sudoku.js";
import { LaneView } from "./text/lane.js";
import { Tiles } from "./tiles.js";
import { makeTransport } from "./transport.js";
import { Tree } from "./tree.js";
import { makeVerifyLegend } from "./verify.js";
import { viewOf } from "./view.js";

/** @import { Node, Origin } from "../core/run/family.js" */
/** @import { Run, Settings } from "../core/run/run.js" */
/** @import { ShareHost } from "../share/sheet.js" */
/** @import { Timing } from "./numbers.js" */
/** @import { PlayerState } from "./view.js" */

/**
 * `began`: a run is shown now; `time`: decode with these settings a few times.
 * @typedef {ShareHost & { began: (run: Run) => void, time: (settings: Settings) => void }} PlayerHost
 */
/** @typedef {{ redo?: (settings: Settings) => void, host?: PlayerHost }} PlayerOptions */

const MANUAL_STEP_MS = 500;

export class Player {
  /**
   * @param {HTMLElement} root
   * @param {PlayerOptions} [options]
   */
  constructor(root, { redo, host } = {}) {
    this.root = root;
    this.redo = redo ?? null;
    this.host = host ?? null;
    this.history = new History();
    this.family = new Family();
    this.reveals = new Reveals();
    /** @type {number | null} how long the pass stands that comes next [ms], null after a jump */
    this.arrival = null;
    this.hasMoved = false;
    this.frame = 0;
    this.told = "";
    /** @type {PlayerState} */
    this.state = {
      pass: 0,
      isPlaying: false,
      speed: 1,
      hovered: null,
      held: null,
      gammaPreview: null,
      alternative: null,
      showsHindsight: false,
    };
    const leaving = new AbortController();
    this.leaving = leaving;
    this.actions = makeActions(this);
    const { actions } = this;
    this.numbers = makeNumbers(actions);
    this.prompt = make("p", "sbd-prompt");
    this.news = make("p", "sbd-news", { role: "status" });
    this.news.hidden = true;
    this.about = make("p", "sbd-about");
    this.stale = new Stale(() => (this.host ? this.run : null), leaving.signal);
    this.tree = new Tree(this.family, actions);
    this.main = new LaneView("Text decoded so far", actions);
    this.tiles = new Tiles(actions);
    this.sudoku = new SudokuView(actions);
    this.budget = new Budget(actions);
    this.verify = makeVerifyLegend();
    this.ntp = new LaneView("Next-token text so far", actions);
    this.ntp.root.classList.add("sbd-lane-ntp");
    this.staircase = new Staircase(actions);
    this.transport = makeTransport(actions);
    this.inspector = new Inspector(actions);
    this.help = new Help(actions.canRedo);
    this.share = new Share(this, this.host, leaving.signal);
    this.lecture = makeLecture(root, () => this.fit(), leaving.signal);
    this.note = makeTermNote(root, leaving.signal);
    this.live = make("div", "sbd-live", { "aria-live": "polite" });
    this.watch = this.makeWatch();
    this.clock = makeClock(
      () => this.state.isPlaying,
      () => this.rate(),
      () => this.advance(),
    );
    this.listen();
    this.mount();
  }

  makeWatch() {
    return make(
      "div",
      "sbd-card sbd-watch",
      {},
      this.stale.root,
      this.numbers.root,
      make("div", "sbd-prompt-row", {}, this.prompt, makeLegend()),
      this.news,
      this.about,
      this.tree.root,
      make("div", "sbd-lanes", {}, this.main.root, this.ntp.root),
      this.tiles.root,
      this.tiles.more,
      make("p", "sbd-hint", {}, "Tap a tile to look inside it."),
      this.budget.root,
      this.verify,
    );
  }

  mount() {
    const replay = make("div", "sbd-card sbd-replay", {}, this.staircase.root, this.sudoku.root);
    this.root.classList.add("sbd-player");
    this.root.replaceChildren(
      make("div", "sbd-stage", {}, this.watch, replay, this.transport.root),
      this.inspector.root,
      this.help.root,
      this.share.root,
      this.live,
      this.note,
    );
  }

  listen() {
    const { signal } = this.leaving;
    listenToKeys(this.root, { ...this.actions }, signal);
    const draw = () => this.draw();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw, { signal });
    const size = new ResizeObserver(() => this.fit());
    const scheme = new MutationObserver(draw);
    size.observe(this.root);
    scheme.observe(document.body, { attributes: true, attributeFilter: ["class"] });
    signal.addEventListener("abort", () => {
      size.disconnect();
      scheme.disconnect();
      this.clock.stop();
    });
  }

  /** Leave the page: nothing listens or draws any more. */
  destroy() {
    this.leaving.abort();
    cancelAnimationFrame(this.frame);
    this.root.replaceChildren();
  }

  get run() {
    return this.history.run;
  }

  /** The layout follows the width of the player, not of the window. */
  fit() {
    const width = this.root.clientWidth;
    const isLecture = isLecturing(this.root);
    this.root.classList.toggle("is-wide", width >= 880 && !isLecture);
    this.root.classList.toggle("is-roomy", width >= 1400 && !isLecture);
    this.root.classList.toggle("is-narrow", width < 640);
    this.draw();
  }

  /**
   * Take in wire text; a new run starts playing from its first pass.
   * @param {string} text
   */
  push(text) {
    const news = this.history.accept(text);
    if (news === "run" && this.run) this.begin(this.run);
    else if (news) this.draw();
    if (news) this.changed();
    this.clock.hurry();
  }

  /** Runs came, went on or were left: whoever keeps them may want to know. */
  changed() {
    this.root.dispatchEvent(new CustomEvent("sbd-change"));
  }

  /**
   * Show runs that were kept while the page was loaded anew.
   * @param {{ nodes: Node[], shown: Run, pass: number }} tree
   */
  restore({ nodes, shown, pass }) {
    this.family.nodes = nodes;
    this.history.run = shown;
    this.history.latest = shown;
    this.open(clamp(pass, 0, Math.max(shown.main.lastPass, 0)), false);
    const isOne = nodes.length === 1;
    const runs = isOne ? "The run of this tab was" : `The ${nodes.length} runs of this tab were`;
    const isCut = nodes.some(({ run }) => run.isStopped);
    const cut = isCut ? " What was cut off can be decoded again." : "";
    this.tellVisitor(`The page was loaded anew. ${runs} kept in your browser.${cut}`);
  }

  /**
   * Say what happened, to be read until the next run begins.
   * @param {string} words
   */
  tellVisitor(words) {
    this.news.hidden = false;
    setText(this.news, words);
  }

  /**
   * A run began: it takes its place in the tree and plays.
   * @param {Run} run
   */
  begin(run) {
    if (run.id !== "opening") this.host?.began(run);
    const { isRecorded, main } = run;
    const isCalm = isRecorded && STILL.matches;
    this.family.take(run);
    this.news.hidden = true;
    // A live run opens after the pass that only read the prompt, if it came along.
    const isRead = !isRecorded && main.steps[0]?.kind === "prefill" && main.lastPass > 0;
    const first = run.id === "opening" ? middlePass(main) : isRead ? 1 : 0;
    this.open(isCalm ? middlePass(main) : first, !isCalm);
    this.arrival = isRead ? 1000 / this.pace() : null;
    if (run.id === "opening") return;
    // On a phone the form is as long as the screen: what was asked for must be seen.
    const behavior = STILL.matches ? "auto" : "smooth";
    if (innerWidth < 900) this.root.scrollIntoView({ behavior, block: "start" });
  }

  /**
   * Turn to the run that the history holds now.
   * @param {number} pass
   * @param {boolean} isPlaying
   */
  open(pass, isPlaying) {
    this.reveals.takeOver(this.watch);
    this.arrival = null;
    this.hasMoved = true;
    this.clock.stop();
    this.set({ pass, isPlaying, held: null, hovered: null, gammaPreview: null, alternative: null });
  }

  /**
   * Show another run of the family, as it stands at its end.
   * @param {Run | null} run
   */
  show(run) {
    if (!run || run === this.run) return;
    this.history.run = run;
    this.host?.began(run);
    this.open(Math.max(run.main.lastPass, 0), false);
    this.say(this.family.nodeOf(run)?.words ?? "");
    this.changed();
  }

  /**
   * Decode this run again with some settings changed; the new run becomes its branch.
   * @param {Record<string, unknown>} changes
   * @param {Origin} origin
   */
  askAgain(changes, origin) {
    if (!this.run) return;
    this.redo?.(this.run.settings({ ...changes, ask: this.family.ask(this.run, origin) }));
  }

  /** Ask for more timings of the run shown; they come to takeTiming. */
  timeAgain() {
    const { run } = this;
    if (!run || !this.host) return;
    this.takeTiming({ run: run.id, seconds: [], ntpSeconds: [] });
    this.host.time({ ...run.settings(), ask: run.id });
  }

  /** @param {Timing} timing */
  takeTiming(timing) {
    this.numbers.take(timing);
    this.draw();
  }

  /** The consumer left the run: no more lines will come. */
  stop() {
    if (!this.history.latest) return;
    this.history.latest.isStopped = true;
    this.draw();
    this.changed();
  }

  /** @param {Partial<PlayerState>} change */
  set(change) {
    Object.assign(this.state, change);
    this.draw();
    this.clock.start();
  }

  /** Passes a second at the chosen speed, more while a live run is ahead. */
  pace() {
    const { run, state } = this;
    return playRate(state.speed, !run || run.isComplete ? 0 : run.main.lastPass - state.pass);
  }

  /** The pace, but the pass that only reads a new prompt shows nothing to wait for. */
  rate() {
    const { run, state } = this;
    if (!run || run.isRecorded || run.main.lastPass <= state.pass) return this.pace();
    return run.main.steps[state.pass]?.kind === "prefill" ? Infinity : this.pace();
  }

  /**
   * @param {number} pass
   * @param {boolean} isManual
   */
  seek(pass, isManual) {
    if (!this.run) return;
    const target = clamp(pass, 0, Math.max(this.run.main.lastPass, 0));
    const isStep = target === this.state.pass + 1;
    this.arrival = !isStep ? null : isManual ? MANUAL_STEP_MS : 1000 / this.pace();
    this.hasMoved = true;
    this.set({ pass: target, gammaPreview: null, ...(isManual ? { isPlaying: false } : {}) });
    if (isManual) this.say(`Pass ${target + 1}`);
  }

  /**
   * Tell a screen reader; for what the visitor did, never for what streams in.
   * @param {string} text
   */
  say(text) {
    setText(this.live, text);
  }

  togglePlay() {
    if (!this.run) return;
    const isAtEnd = this.state.pass >= this.run.main.lastPass && this.run.isComplete;
    if (!this.state.isPlaying && isAtEnd) this.seek(0, false);
    this.set({ isPlaying: !this.state.isPlaying, gammaPreview: null });
  }

  advance() {
    if (!this.run) return;
    const { main } = this.run;
    if (this.state.pass < main.lastPass) {
      this.seek(this.state.pass + 1, false);
    } else if (main.finish !== null || this.run.isStopped) {
      const isOpening = this.run.id === "opening";
      // The page stands where there is something to see: tokens landed, others still guesses.
      this.set({ isPlaying: false, ...(isOpening ? { pass: middlePass(main) } : {}) });
    }
  }

  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  /** What a frame drawn now shows; null without a run. */
  makeView() {
    const { run, reveals } = this;
    if (!run) return null;
    return viewOf(this.state, {
      run,
      reveals,
      isDark: isDarkPage(),
      isLecture: isLecturing(this.root),
      isArriving: this.hasMoved && this.arrival !== null,
    });
  }

  paint() {
    if (this.hasMoved) this.reveals.begin(this.arrival);
    const view = this.makeView();
    if (!view) return;
    this.hasMoved = false;
    const { run } = view;
    this.root.classList.toggle("is-holding", view.held !== null);
    this.root.classList.toggle("is-playing", view.isPlaying);
    this.root.classList.toggle("is-quick", this.reveals.isQuick);
    setText(this.prompt, run.prompt);
    setText(this.about, run.about);
    setAttribute(this.prompt, "title", run.prompt);
    this.numbers.update(view);
    this.tree.update(view);
    this.main.update(view, run.main);
    this.tiles.update(view);
    this.sudoku.update(view);
    this.budget.root.hidden = run.strategy !== "sbd";
    if (run.strategy === "sbd") this.budget.update(view);
    this.verify.hidden = run.strategy !== "verify";
    this.ntp.root.hidden = run.ntp === null;
    if (run.ntp) this.ntp.update(view, run.ntp);
    this.transport.update(view);
    this.inspector.update(view);
    // Last: text on its canvas makes the browser work out all styles, once is enough.
    this.staircase.update(view);
    this.tell(run);
  }

  /**
   * Tell the page round the player which run is shown, and when it is complete.
   * @param {Run} run
   */
  tell(run) {
    const news = `${run.id} ${run.isComplete}`;
    if (news === this.told) return;
    this.told = news;
    this.root.dispatchEvent(new CustomEvent("sbd-run", { bubbles: true }));
  }
}
