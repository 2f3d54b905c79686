// The player shows a run at its playhead: it makes the parts of the view, lays them out and updates them in each frame.
//
//   const player = new Player(element, host);
//   player.push(wireText);   // any number of wire lines, see core/run.ts
//
// The page, its host, decodes again with other settings, times runs and serves the share sheet; without one the player
// only replays. Drawing happens at most once a frame, and only when something changed.

import { html, render } from "lit-html";
import { failureWords, listInWords } from "../core/numbers.ts";
import { History, type Run, type Settings } from "../core/run.ts";
import type { Timing } from "../core/times.ts";
import { find, make, setAttribute, setText } from "../dom/elements.ts";
import { listenToKeys } from "../dom/keys.ts";
import { promptBox } from "../dom/page.ts";
import {
  foldForm,
  isDarkPage,
  isLecturing,
  makeLecture,
  onResize,
  onScheme,
  prefersReducedMotion,
  scrollOnPhone,
} from "../dom/screen.ts";
import { buttonTemplate, editButton, iconButton, iconTemplate } from "../dom/templates.ts";
import { makeTermNote } from "../dom/terms.ts";
import { currentView, onViewChange, type PlayerElement, showView } from "../dom/views.ts";
import { form, OTHER_PROMPT } from "../form/form.ts";
import { doJob } from "../jobs.ts";
import { settingsOf } from "../models.ts";
import { keepRun } from "../saved_run.ts";
import { askServer } from "../server.ts";
import { bareAddress, linkTo, replaceAddress } from "../share/permalink.ts";
import { replayPage, Share, type ShareHost } from "../share/sheet.ts";
import { type Actions, makeActions } from "./actions.ts";
import { FormDifference, otherRunWords, WAITING } from "./form_difference.ts";
import { Help } from "./help.ts";
import { Hood } from "./hood.ts";
import { Inspector } from "./inspector.ts";
import {
  initialState,
  type PlayerState,
  Playhead,
  Reveals,
  type View,
  viewOf,
} from "./playhead.ts";
import { Details, Headline } from "./results.ts";
import { Staircase } from "./staircase.ts";
import { SudokuView } from "./sudoku.ts";
import { LaneView } from "./text.ts";
import { BlockView, positionTitle } from "./tiles.ts";
import { makeTransport } from "./transport.ts";
import { givenWords, type Origin, RunTree, Tree } from "./tree.ts";

/** onBegin: called when another run is shown. time: decodes with these settings several times, to time the engine. */
type PlayerHost = ShareHost & { onBegin: (run: Run) => void } & Record<
    "decode" | "time",
    (settings: Settings) => void
  >;

export class Player {
  history = new History();
  runTree = new RunTree();
  reveals = new Reveals();
  frame = 0;
  announced = "";
  state = initialState();
  leaving = new AbortController();
  playhead = new Playhead(
    this.state,
    () => this.run,
    (change) => this.set(change),
  );
  actions: Actions = makeActions(this);
  formDifference: FormDifference;
  parts: Parts;
  share: Share;
  lecture: { leave: () => void; toggle: () => void | Promise<void> };
  termNote: HTMLDivElement;

  constructor(
    readonly root: HTMLElement,
    readonly host: PlayerHost | null = null,
  ) {
    const { signal } = this.leaving;
    this.formDifference = new FormDifference(() => this.differences, signal);
    this.parts = new Parts(this.actions, this.runTree, this.formDifference, () => this.draw());
    this.share = new Share(this, this.host, signal);
    this.lecture = makeLecture(root, () => this.fit(), signal);
    this.termNote = makeTermNote(root, signal);
    root.classList.add("sbd-player");
    root.replaceChildren(...this.parts.roots, this.share.root, this.termNote);
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

  destroy() {
    this.leaving.abort();
    cancelAnimationFrame(this.frame);
    this.root.replaceChildren();
  }

  get run() {
    return this.history.run;
  }

  /** Choose the layout by the width of the player, not of the window. */
  fit() {
    const width = this.root.clientWidth;
    this.root.classList.toggle("is-wide", width >= 760 && !isLecturing(this.root));
    this.root.classList.toggle("is-narrow", width < 640);
    this.draw();
  }

  /** Take in wire lines; a new run is shown and plays. */
  push(text: string) {
    const news = this.history.accept(text);
    if (news === "run" && this.run) this.begin(this.run);
    else if (news) this.draw();
    if (news) this.changed();
    this.playhead.clock.hurry();
  }

  /** Announce that runs came or went on, or another is shown, so that they can be saved. */
  changed() {
    this.root.dispatchEvent(new CustomEvent("sbd-change"));
  }

  /** Show a message until the next run begins. @param words "" hides the last message */
  showMessage(words: string) {
    const { message } = this.parts;
    message.hidden = words === "";
    if (words) setText(message, words);
  }

  /** Show whether the visitor waits for a decode that has not begun. */
  wait(isWaiting: boolean) {
    if (this.formDifference.isWaiting === isWaiting) return;
    this.root.classList.toggle("is-waiting", isWaiting);
    if (isWaiting) this.set({ isPlaying: false });
    this.formDifference.wait(isWaiting);
  }

  /** How the form differs from the run shown, or that another is on its way; "" if neither, or nothing decodes here. */
  get differences() {
    const { run, host } = this;
    if (this.formDifference.isWaiting) return WAITING;
    const words = run && host ? form.differences(run) : [];
    const isSamePrompt = run?.isRecorded && words.length > 0 && words[0] !== OTHER_PROMPT;
    if (isSamePrompt) return `A recording. Decode runs its prompt with ${listInWords(words)}.`;
    const answers =
      words[0] === OTHER_PROMPT ? ` This run answers “${shortened(run?.prompt)}”.` : "";
    return otherRunWords(words) + answers;
  }

  /** Add a new run to the tree, show it and play it. */
  begin(run: Run) {
    if (run.id !== "opening") this.host?.onBegin(run);
    const { isRecorded, main } = run;
    const isWithoutMotion = isRecorded && prefersReducedMotion();
    this.runTree.add(run);
    foldForm(true);
    this.showMessage("");
    // A live run opens after the pass that only reads the prompt, if a later one is already there.
    const skipsPrefill = !isRecorded && main.steps[0]?.kind === "prefill" && main.lastPass > 0;
    this.open(
      isWithoutMotion ? Math.max(main.lastPass, 0) : skipsPrefill ? 1 : 0,
      !isWithoutMotion,
    );
    this.playhead.isFollowing = !isRecorded;
    if (skipsPrefill) this.playhead.startStep();
    if (run.id !== "opening") scrollOnPhone(this.root);
  }

  /** Show the history's current run, with nothing held or previewed. */
  open(pass: number, isPlaying: boolean) {
    this.wait(false);
    this.reveals.fadeIn(this.parts.lanes);
    this.playhead.reset();
    this.set({
      pass,
      ntpPass: null,
      isPlaying,
      held: null,
      hovered: null,
      gammaPreview: null,
      alternative: null,
    });
  }

  /** Show another run of the tree, at its last pass. */
  show(run: Run | null) {
    if (!run || run === this.run) return;
    this.history.run = run;
    this.host?.onBegin(run);
    this.open(Math.max(run.main.lastPass, 0), false);
    this.say(this.runTree.nodeOf(run)?.words ?? "");
    this.changed();
  }

  /** Decode this run again with some settings changed; the new run becomes its child in the tree. */
  redoWith(changes: Record<string, unknown>, origin: Origin) {
    if (!this.run) return;
    const ask = this.runTree.request(this.run, origin);
    this.host?.decode(settingsOf(this.run, { ...changes, ask }));
  }

  /** Have the run shown decoded again to time it; takeTiming receives the results. */
  timeRun() {
    const { run } = this;
    if (!run || !this.host) return;
    this.takeTiming({ run: run.id, seconds: [], ntpSeconds: [] });
    this.host.time(settingsOf(run, { ask: run.id }));
  }

  takeTiming(timing: Timing) {
    this.parts.details.timings.set(timing.run, timing);
    this.draw();
    this.changed();
  }

  stop() {
    if (!this.history.latest) return;
    this.history.latest.isStopped = true;
    this.draw();
    this.changed();
  }

  set(change: Partial<PlayerState>) {
    Object.assign(this.state, change);
    this.draw();
    this.playhead.clock.start();
  }

  seek(pass: number, isManual: boolean) {
    if (!this.run) return;
    this.playhead.seek(pass, isManual);
    if (isManual) this.say(`Forward pass ${this.state.pass + 1}`);
  }

  /** Let a screen reader speak, of what the visitor did but never of what streams in. */
  say(text: string) {
    setText(this.parts.live, text);
  }

  sayPosition(position: number) {
    const view = this.makeView();
    if (view) this.say(positionTitle(view, position));
  }

  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  /** Return what a frame drawn now shows; null without a run. */
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
    if (playhead.hasMoved) this.reveals.begin(playhead.shownMs);
    const view = this.makeView();
    if (!view) return;
    playhead.hasMoved = false;
    this.root.classList.toggle("is-holding", view.held !== null);
    this.root.classList.toggle("is-playing", view.isPlaying);
    this.root.classList.toggle("is-quick", this.reveals.isQuick);
    this.parts.update(view);
    this.announceRun(view.run);
  }

  /** Announce to the page which run is shown and whether it is complete, if either changed. */
  announceRun(run: Run) {
    const news = `${run.id} ${run.isComplete}`;
    if (news === this.announced) return;
    this.announced = news;
    this.root.dispatchEvent(new CustomEvent("sbd-run", { bubbles: true }));
  }
}

const MAX_PROMPT = 60; // letters

function shortened(prompt = "") {
  return prompt.length > MAX_PROMPT ? `${prompt.slice(0, MAX_PROMPT).trim()} …` : prompt;
}

class Parts {
  headline = new Headline();
  details = new Details(this.actions);
  prompt = make("p", "sbd-prompt");
  message = make("p", "sbd-news", { role: "status", hidden: "" });
  aboutRun = make("p", "sbd-about");
  tree = new Tree(this.runTree, this.actions);
  playOn = make("span", "sbd-play-on");
  sudoku = new SudokuView(this.actions);
  main = new LaneView("Text decoded so far", this.actions, this.sudoku.root);
  ntp = new LaneView("Next-token text so far", this.actions, this.playOn);
  block = new BlockView(this.actions);
  staircase = new Staircase(this.actions);
  transport = makeTransport(this.actions);
  hood = new Hood(this.redraw);
  inspector = new Inspector(this.actions);
  help = new Help(this.actions.canRedo);
  live = make("div", "sbd-live", { "aria-live": "polite" });
  lanes = make("div", "sbd-lanes", this.main.root, this.ntp.root);
  stage = make("div", "sbd-stage");

  constructor(
    readonly actions: Actions,
    readonly runTree: RunTree,
    formDifference: FormDifference,
    readonly redraw: () => void,
  ) {
    const playOn = "Play next-token prediction to its end";
    const look = "sbd-button sbd-button-play sbd-onward";
    const words = html`${iconTemplate("play")}to its end`;
    const names = { label: playOn, title: playOn };
    render(buttonTemplate(look, words, actions.playNtp, names), this.playOn);
    this.ntp.root.classList.add("sbd-lane-ntp");
    const edit = () => {
      foldForm(false);
      promptBox()?.focus();
    };
    const stage = html`<div class="sbd-stage-head">
        ${this.headline.root}
        <div class="sbd-notes"
          >${formDifference.root}${this.message}${this.aboutRun}${this.headline.note}</div>
        <div class="sbd-asides">
          ${this.details.button}
          ${iconButton("share", "Take it home (S)", actions.share)}
          ${iconButton("lecture", "Lecture mode (L)", actions.lecture)}
          ${iconButton("help", "Help (?)", actions.help)}
        </div>
      </div>
      <div class="sbd-prompt-row">
        ${this.prompt}
        ${editButton(edit)}
      </div>
      ${this.lanes}${this.block.root}${this.staircase.root}${this.tree.root}${this.hood.root}
      ${this.transport.root}`;
    render(stage, this.stage);
  }

  get tiles() {
    return this.block.tiles;
  }

  /** The elements of the parts, in their order on the page. */
  get roots() {
    return [this.stage, this.inspector.root, this.details.root, this.help.root, this.live];
  }

  update(view: View) {
    const { run } = view;
    setText(this.prompt, run.prompt);
    const node = this.runTree.nodeOf(run);
    const origin = node?.parent && `${node.words}; the branches are below`;
    const isToldWhole = origin && run.pins.size === 1;
    const about = [run.about || origin, !isToldWhole && givenWords(run)];
    setText(this.aboutRun, about.filter(Boolean).join(". "));
    setAttribute(this.prompt, "title", run.prompt);
    this.headline.update(view, this.details.timingOf(run));
    this.details.update(view);
    this.tree.update(view);
    this.main.update(view, run.main);
    this.sudoku.update(view);
    this.ntp.root.hidden = run.ntp === null;
    if (run.ntp) {
      const pass = view.ntpPass;
      this.ntp.update({ ...view, pass }, run.ntp);
      const isWhole = run.ntp.finish !== null;
      this.playOn.hidden = !view.isOver || view.isPlaying || !isWhole || pass >= run.ntp.lastPass;
    }
    this.block.update(view);
    this.transport.update(view);
    this.inspector.update(view);
    // After the parts above: text on a canvas makes the browser compute all styles, so let that happen once.
    this.staircase.update(view);
    this.hood.update(view);
    this.stage.classList.toggle("has-hood", this.hood.isOpen && !view.isLecture);
  }
}

/** Mount the page's player. @param value wire lines of the opening run */
export function mountPlayer(
  element: HTMLElement,
  value: string,
  hasServer: boolean,
  signal: AbortSignal,
) {
  const host: PlayerElement = find(element, ".sbd-host");
  let hasBegun = false; // a run that the page begins with leaves the address as it is
  const player: Player = new Player(host, {
    decode: (settings) => doJob({ kind: "decode", form: settings }),
    time: (settings) => doJob({ kind: "time", form: settings }),
    replayPage: (run) => replayPage(run, player.parts.details.timingOf(run)),
    sendTrace: (text) => void openTrace(player, text, hasServer),
    onBegin: (run) => {
      if (!hasBegun) return;
      showView("watch");
      replaceAddress(run.isRecorded ? bareAddress() : linkTo(settingsOf(run)));
    },
  });
  host.sbdPlayer = player;
  onViewChange((name) => {
    hasBegun = true;
    foldForm(name === "watch");
    const isUnseen = player.run?.id === "opening" && player.state.pass === 0;
    if (name !== "watch") player.set({ isPlaying: false });
    else if (isUnseen && !prefersReducedMotion()) player.set({ isPlaying: true });
  }, signal);
  player.push(value);
  if (currentView() !== "watch") player.set({ isPlaying: false });
  keepRun(player, signal);
  player.fit();
  player.paint(); // now: parts that appear only in the next frame would move the page
  return player;
}

const NEEDS_SERVER = "A trace file opens on the page that python app.py serves, not on this one.";

/** Have the server check a trace, and show it. */
async function openTrace(player: Player, text: string, hasServer: boolean) {
  try {
    if (!hasServer) throw new Error(NEEDS_SERVER);
    const { lines } = await askServer("trace", { text });
    player.push(lines);
    player.share.receive({ isShown: true });
  } catch (failure) {
    player.share.receive({ error: failureWords(failure) });
  }
}
