// A drawer with everything known about one position: what the model thinks of it in this pass, its
// entropy over the passes, when and how it was revealed, and what the causal pass later gave it.

import { make, setText } from "../../dom/elements.js";
import { icon } from "../../dom/icons.js";
import { makeLegend } from "../../dom/legend.js";
import { term } from "../../dom/terms.js";
import { showToken } from "../../dom/tokens.js";
import { Alternatives } from "./alternatives.js";
import { makeSpark } from "./spark.js";
import { guessTitle, hindsightText, inspectedPass, inspectorKicker, revealText } from "./words.js";

/** @import { Actions } from "../actions.js" */
/** @import { View } from "../view.js" */

/**
 * @param {string | (Node | string)[]} title
 * @param {Node[]} nodes
 */
function section(title, ...nodes) {
  return make("section", "", {}, make("h3", "", {}, ...[title].flat()), ...nodes);
}

/** The card of one position. */
export class Inspector {
  /** @param {Actions} actions */
  constructor(actions) {
    this.actions = actions;
    this.kicker = make("span", "sbd-inspector-kicker");
    this.release = make(
      "button",
      "sbd-button sbd-release",
      { type: "button", "aria-label": "Release this position", title: "Close (Esc)" },
      icon("close"),
    );
    this.release.addEventListener("click", actions.release);
    this.token = make("div", "sbd-inspector-token");
    this.reveal = make("p", "sbd-inspector-reveal");
    this.topTitle = make("h3", "");
    this.top = new Alternatives(actions);
    this.spark = makeSpark();
    this.hindsight = make("p", "sbd-hindsight");
    const legend = section("Colour, and a guess’s bar height", makeLegend());
    this.about = make("div", "sbd-inspector-about");
    this.topSection = make("section", "", {}, this.topTitle, this.top.root);
    this.sparkSection = section(
      [term("entropy", "Entropy"), " over ", term("pass", "forward passes")],
      this.spark.root,
    );
    this.about.append(
      this.token,
      this.reveal,
      this.topSection,
      this.sparkSection,
      section([term("hindsight", "Hindsight")], this.hindsight),
    );
    this.root = make(
      "aside",
      "sbd-drawer sbd-inspector",
      { "aria-label": "Inspector" },
      make("div", "sbd-drawer-head", {}, this.kicker, this.release),
      this.about,
      legend,
    );
  }

  /** @param {View} view */
  update(view) {
    const { run, focus } = view;
    // While it plays, only a position that somebody chose is worth following.
    const isStill = view.isPlaying && !view.showsFocus;
    if (isStill) return;
    const pass = focus === null ? null : inspectedPass(view, focus);
    const masked = focus === null ? undefined : run.main.steps[pass ?? -1]?.masked.get(focus);
    const item = focus === null ? null : run.main.fixedAt(focus, view.pass);
    const chosen = item ? item.token : masked?.top[0]?.token;
    this.root.classList.toggle("is-guess", !item);
    this.root.classList.toggle("has-no-pins", run.strategy !== "sbd");
    this.release.hidden = view.held === null;
    setText(this.kicker, inspectorKicker(view));
    showToken(this.token, chosen === undefined ? "–" : run.tokenText(chosen));
    const reveal = "Point at a tile, a token or a cell.";
    setText(this.reveal, focus === null ? reveal : revealText(view, focus));
    setText(this.topTitle, guessTitle(run, pass, view.pass));
    const top = masked?.top ?? [];
    this.top.update(view, top);
    this.topSection.hidden = !top.length && !this.actions.canRedo && !view.isPlaying;
    this.sparkSection.hidden = run.main.entropyHistory(focus ?? -1).length === 0;
    this.spark.update(view);
    const [text, verdict] = focus === null ? ["–", "open"] : hindsightText(view, focus);
    setText(this.hindsight, text);
    this.hindsight.className = `sbd-hindsight is-${verdict}`;
  }
}
