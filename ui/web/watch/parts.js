// The parts that the player is put together from: made, laid out, and given what a frame shows.

import { make, setAttribute, setText } from "../dom/elements.js";
import { makeLegend } from "../dom/legend.js";
import { Hood } from "../hood/hood.js";
import { Budget } from "./budget.js";
import { Help } from "./help.js";
import { Inspector } from "./inspector/inspector.js";
import { makeNumbers } from "./numbers.js";
import { makeTransport } from "./playback/transport.js";
import { Staircase } from "./staircase/staircase.js";
import { SudokuView } from "./sudoku.js";
import { LaneView } from "./text/lane.js";
import { Tiles } from "./tiles.js";
import { Tree } from "./tree.js";
import { VerifyView } from "./verify/view.js";

/** @import { Family } from "../core/run/family.js" */
/** @import { Actions } from "./actions.js" */
/** @import { Stale } from "./stale.js" */
/** @import { View } from "./view.js" */

export class Parts {
  /**
   * @param {Actions} actions
   * @param {Family} family
   * @param {Stale} stale
   * @param {() => void} redraw
   */
  constructor(actions, family, stale, redraw) {
    this.numbers = makeNumbers(actions);
    this.prompt = make("p", "sbd-prompt");
    this.news = make("p", "sbd-news", { role: "status" });
    this.news.hidden = true;
    this.about = make("p", "sbd-about");
    this.tree = new Tree(family, actions);
    this.main = new LaneView("Text decoded so far", actions);
    this.tiles = new Tiles(actions);
    this.sudoku = new SudokuView(actions);
    this.budget = new Budget(actions);
    this.verify = new VerifyView();
    this.ntp = new LaneView("Next-token text so far", actions);
    this.ntp.root.classList.add("sbd-lane-ntp");
    this.staircase = new Staircase(actions);
    this.transport = makeTransport(actions);
    this.hood = new Hood(redraw);
    this.inspector = new Inspector(actions);
    this.help = new Help(actions.canRedo);
    this.live = make("div", "sbd-live", { "aria-live": "polite" });
    this.watch = this.makeWatch(stale);
  }

  /** @param {Stale} stale */
  makeWatch(stale) {
    return make(
      "div",
      "sbd-card sbd-watch",
      {},
      this.numbers.root,
      make("div", "sbd-prompt-row", {}, stale.root, this.prompt, makeLegend()),
      this.news,
      this.about,
      this.tree.root,
      make("div", "sbd-lanes", {}, this.main.root, this.ntp.root),
      this.tiles.root,
      this.tiles.more,
      make("p", "sbd-hint", {}, "Tap a tile to look inside it."),
      this.budget.root,
      this.verify.root,
    );
  }

  /** What stands on the page, in order. */
  get roots() {
    const replay = make("div", "sbd-card sbd-replay", {}, this.staircase.root, this.sudoku.root);
    const rows = [this.watch, replay, this.hood.root, this.transport.root];
    const stage = make("div", "sbd-stage", {}, ...rows);
    return [stage, this.inspector.root, this.help.root, this.live];
  }

  /** @param {View} view */
  update(view) {
    const { run } = view;
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
    this.verify.update(view);
    this.ntp.root.hidden = run.ntp === null;
    if (run.ntp) this.ntp.update(view, run.ntp);
    this.transport.update(view);
    this.inspector.update(view);
    // Last: text on its canvas makes the browser work out all styles, once is enough.
    this.staircase.update(view);
    this.hood.update(view);
  }

  /**
   * Say what happened, to be read until the next run begins; nothing: until now.
   * @param {string | null} words
   */
  tellVisitor(words) {
    this.news.hidden = words === null;
    if (words !== null) setText(this.news, words);
  }
}
