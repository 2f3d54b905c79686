// The parts that the player is put together from: made, laid out, and given what a frame shows.

import { make, makeButton, setAttribute, setText } from "../dom/elements.js";
import { promptBox } from "../dom/gradio.js";
import { foldForm } from "../dom/screen.js";
import { Hood } from "../hood/hood.js";
import { BlockView } from "./block.js";
import { Conversation } from "./conversation.js";
import { Details } from "./details.js";
import { makeHeadline } from "./headline.js";
import { Help } from "./help.js";
import { Inspector } from "./inspector.js";
import { makeNumbers } from "./numbers.js";
import { Staircase } from "./staircase/staircase.js";
import { SudokuView } from "./sudoku_grid.js";
import { LaneView } from "./text/text.js";
import { makeTransport } from "./transport.js";
import { Tree } from "./tree.js";

/** @import { Family } from "./tree.js" */
/** @import { Actions } from "./actions.js" */
/** @import { Stale } from "./stale.js" */
/** @import { View } from "./view.js" */

/** On a phone the form is folded away: the button that opens it. */
function makeEdit() {
  const edit = make("button", "sbd-action sbd-edit", "Edit");
  edit.setAttribute("aria-label", "Edit in the form");
  edit.addEventListener("click", () => {
    foldForm(false);
    promptBox("sbd-prompt-box")?.focus();
  });
  return edit;
}

export class Parts {
  /**
   * @param {Actions} actions
   * @param {Family} family
   * @param {Stale} stale
   * @param {() => void} redraw
   */
  constructor(actions, family, stale, redraw) {
    this.headline = makeHeadline();
    this.numbers = makeNumbers(actions);
    this.details = new Details(actions, this.numbers.root);
    this.prompt = make("p", "sbd-prompt");
    this.news = make("p", "sbd-news", { role: "status" });
    this.news.hidden = true;
    this.about = make("p", "sbd-about");
    this.family = family;
    this.tree = new Tree(family, actions);
    this.main = new LaneView("Text decoded so far", actions);
    this.ntp = new LaneView("Next-token text so far", actions);
    this.ntp.root.classList.add("sbd-lane-ntp");
    this.onward = makeButton("play", "Play next-token prediction to its end", actions.playPlain);
    this.onward.classList.add("sbd-onward");
    this.onward.append("to its end");
    this.ntp.root.append(this.onward);
    this.sudoku = new SudokuView(actions);
    this.conversation = new Conversation(actions);
    this.main.root.prepend(this.conversation.before);
    this.main.root.append(this.sudoku.root, this.conversation.form);
    this.block = new BlockView(actions);
    this.staircase = new Staircase(actions);
    this.transport = makeTransport(actions);
    this.hood = new Hood(redraw);
    this.inspector = new Inspector(actions);
    this.help = new Help(actions.canRedo);
    this.live = make("div", "sbd-live", { "aria-live": "polite" });
    this.watch = make("div", "sbd-lanes", this.main.root, this.ntp.root);
    const asides = make(
      "div",
      "sbd-asides",
      this.details.button,
      makeButton("share", "Take it home (S)", actions.share),
      makeButton("lecture", "Lecture mode (L)", actions.lecture),
      makeButton("help", "Help (?)", actions.help),
    );
    const said = [stale.root, this.news, this.about, this.headline.note];
    const notes = make("div", "sbd-notes", ...said);
    this.stage = make(
      "div",
      "sbd-stage",
      make("div", "sbd-stage-head", this.headline.root, notes, asides),
      make("div", "sbd-prompt-row", this.prompt, makeEdit()),
      this.watch,
      this.block.root,
      this.staircase.root,
      this.tree.root, // below what it would push down
      this.hood.root,
      this.transport.root,
    );
  }

  get tiles() {
    return this.block.tiles;
  }

  /** Parts of the page, in order. */
  get roots() {
    return [this.stage, this.inspector.root, this.details.root, this.help.root, this.live];
  }

  /** @param {View} view */
  update(view) {
    const { run } = view;
    setText(this.prompt, run.prompt);
    const node = this.family.nodeOf(run);
    setText(this.about, run.about || (node?.parent ? `${node.words}; the branches are below` : ""));
    setAttribute(this.prompt, "title", run.prompt);
    this.headline.update(view, this.numbers.timingOf(run));
    this.numbers.update(view);
    this.details.update(view);
    this.tree.update(view);
    this.main.update(view, run.main);
    this.sudoku.update(view);
    this.conversation.update(view);
    this.ntp.root.hidden = run.ntp === null;
    if (run.ntp) {
      const pass = view.plainPass ?? view.pass;
      this.ntp.update({ ...view, pass }, run.ntp);
      const isWhole = run.ntp.finish !== null;
      this.onward.hidden = !view.isOver || view.isPlaying || !isWhole || pass >= run.ntp.lastPass;
    }
    this.block.update(view);
    this.transport.update(view);
    this.inspector.update(view);
    // Last: text on its canvas makes the browser work out all styles, once is enough.
    this.staircase.update(view);
    this.hood.update(view);
    this.stage.classList.toggle("has-hood", this.hood.isOpen && !view.isLecture);
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
