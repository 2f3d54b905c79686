// The player: one history, one playhead, several views of both. Knows nothing of Gradio.
//
//   const player = new Player(element, { redo(settings) {}, host });
//   player.push(wireText);   // any number of wire lines, see core/run.js
//
// `redo` is asked to decode again with other settings; without it the player only replays. `host`
// serves the share sheet. Drawing happens at most once a frame, and only when something changed.

import { clamp } from "../core/numbers.js";
import { History } from "../core/run.js";
import { Reveals } from "../dom/clock.js";
import { setText } from "../dom/elements.js";
import { listenToKeys } from "../dom/keys.js";
import {
  foldForm,
  isDarkPage,
  isLecturing,
  isStill,
  makeLecture,
  onResize,
  onScheme,
  showOnPhone,
} from "../dom/screen.js";
import { makeTermNote } from "../dom/terms.js";
import { Share } from "../share/sheet.js";
import { makeActions } from "./actions.js";
import { Parts } from "./parts.js";
import { Playhead } from "./playhead.js";
import { Stale } from "./stale.js";
import { Family } from "./tree.js";
import { initialState, viewOf } from "./view.js";

/** @import { Node, Origin } from "./tree.js" */
/** @import { Run, Settings } from "../core/run.js" */
/** @import { Timing } from "../core/times.js" */
/** @import { ShareHost } from "../share/sheet.js" */
/** @import { PlayerState } from "./view.js" */

/**
 * `began`: a run is shown now; `time`: decode with these settings a few times.
 * @typedef {ShareHost & { began: (run: Run) => void, time: (settings: Settings) => void }} PlayerHost
 */
/** @typedef {{ redo?: (settings: Settings) => void, host?: PlayerHost }} PlayerOptions */

export class Player {
  /** @param {HTMLElement} root @param {PlayerOptions} [options] */
  constructor(root, { redo, host } = {}) {
    this.root = root;
    this.redo = redo ?? null;
    this.host = host ?? null;
    this.history = new History();
    this.family = new Family();
    this.reveals = new Reveals();
    this.frame = 0;
    this.told = "";
    this.state = initialState();
    const leaving = new AbortController();
    this.leaving = leaving;
    this.playhead = new Playhead(
      this.state,
      () => this.run,
      (change) => this.set(change),
    );
    this.actions = makeActions(this);
    this.stale = new Stale(() => (this.host ? this.run : null), leaving.signal);
    this.parts = new Parts(this.actions, this.family, this.stale, () => this.draw());
    this.share = new Share(this, this.host, leaving.signal);
    this.lecture = makeLecture(root, () => this.fit(), leaving.signal);
    this.note = makeTermNote(root, leaving.signal);
    root.classList.add("sbd-player");
    root.replaceChildren(...this.parts.roots, this.share.root, this.note);
    this.listen();
  }

  listen() {
    const { signal } = this.leaving;
    listenToKeys(this.root, { ...this.actions }, signal);
    const draw = () => this.draw();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw, { signal });
    onScheme(draw, signal);
    onResize(this.root, () => this.fit(), signal);
    signal.addEventListener("abort", () => this.playhead.clock.stop());
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
    this.root.classList.toggle("is-wide", width >= 760 && !isLecturing(this.root));
    this.root.classList.toggle("is-narrow", width < 640);
    this.draw();
  }

  /** Take in wire text; a new run starts playing from its first pass. @param {string} text */
  push(text) {
    const news = this.history.accept(text);
    if (news === "run" && this.run) this.begin(this.run);
    else if (news) this.draw();
    if (news) this.changed();
    this.playhead.clock.hurry();
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
  }

  /** Say what happened, to be read until the next run begins. @param {string} words */
  tellVisitor(words) {
    this.parts.tellVisitor(words);
  }

  /** Whether a decode was asked for that has not begun: the run shown is another. @param {boolean} isWaiting */
  wait(isWaiting) {
    if (this.stale.isWaiting === isWaiting) return;
    this.stale.isWaiting = isWaiting;
    this.root.classList.toggle("is-waiting", isWaiting);
    if (isWaiting) this.set({ isPlaying: false });
    this.stale.look();
  }

  /** A run began: it takes its place in the tree and plays. @param {Run} run */
  begin(run) {
    if (run.id !== "opening") this.host?.began(run);
    const { isRecorded, main } = run;
    const isCalm = isRecorded && isStill();
    this.family.take(run);
    foldForm(true);
    this.parts.tellVisitor(null);
    // A live run opens after the pass that only read the prompt, if it came along.
    const isRead = !isRecorded && main.steps[0]?.kind === "prefill" && main.lastPass > 0;
    this.open(isCalm ? Math.max(main.lastPass, 0) : isRead ? 1 : 0, !isCalm);
    this.playhead.isFollowing = !isRecorded;
    if (isRead) this.playhead.startStep();
    if (run.id !== "opening") showOnPhone(this.root);
  }

  /** Turn to the run that the history holds now. @param {number} pass @param {boolean} isPlaying */
  open(pass, isPlaying) {
    this.wait(false);
    this.reveals.takeOver(this.parts.watch);
    this.playhead.jump();
    this.set({
      pass,
      plainPass: null,
      isPlaying,
      held: null,
      hovered: null,
      gammaPreview: null,
      alternative: null,
    });
  }

  /** Show another run of the family, as it stands at its end. @param {Run | null} run */
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
    this.parts.numbers.take(timing);
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
    this.playhead.clock.start();
  }

  /** @param {number} pass @param {boolean} isManual */
  seek(pass, isManual) {
    if (!this.run) return;
    this.playhead.seek(pass, isManual);
    if (isManual) this.say(`Forward pass ${this.state.pass + 1}`);
  }

  /**
   * Tell a screen reader; for what the visitor did, never for what streams in.
   * @param {string} text
   */
  say(text) {
    setText(this.parts.live, text);
  }

  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  /** Content of a frame drawn now; null without a run. */
  makeView() {
    const { run, reveals } = this;
    if (!run) return null;
    return viewOf(this.state, {
      run,
      reveals,
      isDark: isDarkPage(),
      isLecture: isLecturing(this.root),
      isStep: this.playhead.isStep,
    });
  }

  paint() {
    const { playhead } = this;
    if (playhead.hasMoved) this.reveals.begin(playhead.stepMs);
    const view = this.makeView();
    if (!view) return;
    playhead.hasMoved = false;
    this.root.classList.toggle("is-holding", view.held !== null);
    this.root.classList.toggle("is-playing", view.isPlaying);
    this.root.classList.toggle("is-quick", this.reveals.isQuick);
    this.parts.update(view);
    this.tell(view.run);
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
