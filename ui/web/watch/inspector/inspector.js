// Everything known about one position: what the model thinks of it in this pass, its entropy
// over the passes, when and how it was revealed, and what the causal pass later gave it.

import { formatNats, formatPercent } from "../../core/numbers.js";
import { tokenName } from "../../core/text/letters.js";
import { make, setText } from "../../dom/elements.js";
import { icon } from "../../dom/icons.js";
import { makeKeyList, SHORT_KEY_WORDS } from "../../dom/keys.js";
import { makeLegend } from "../../dom/legend.js";
import { term } from "../../dom/terms.js";
import { showToken } from "../../dom/tokens.js";
import { openPositions } from "../view.js";
import { Alternatives } from "./alternatives.js";
import { makeSpark } from "./spark.js";

/** @import { Actions } from "../actions.js" */
/** @import { View } from "../view.js" */

/** @typedef {"open" | "agrees" | "differs"} Verdict */

/**
 * The pass whose distribution is shown: this one if still masked, else that of the reveal.
 * @param {View} view
 * @param {number} focus
 */
function inspectedPass({ run, pass }, focus) {
  if (run.main.steps[pass]?.masked.has(focus)) return pass;
  return run.main.entropyHistory(focus).findLast((item) => item.pass <= pass)?.pass ?? null;
}

/**
 * @param {View} view
 * @param {number} focus
 */
function revealText({ run, pass }, focus) {
  if (run.main.isAfterEnd(focus, pass)) return "After the end of the answer: not part of it.";
  const item = run.main.fixedAt(focus, pass);
  if (item) {
    const order = item.rank === 0 ? "first" : `number ${item.rank + 1}`;
    return `Revealed in forward pass ${item.pass + 1}, ${order} in the solver’s order.`;
  }
  const masked = run.main.steps[pass]?.masked.get(focus);
  if (masked) return `Still masked, entropy ${formatNats(masked.entropy)} nats.`;
  return "Not predicted yet.";
}

/**
 * What the causal check gave, once its pass has been reached.
 * @param {View} view
 * @param {number} focus
 * @returns {[words: string, verdict: Verdict]}
 */
function hindsightText({ run, pass }, focus) {
  const item = run.main.hindsight.get(focus);
  if (!item && run.main.finish !== null) {
    return ["The answer ends before a causal forward pass reads this block.", "open"];
  }
  if (!item || item.pass > pass) {
    return ["The next causal forward pass over this block will show it, for free.", "open"];
  }
  const share = formatPercent(item.probability);
  if (item.argmax === run.main.fixed.get(focus)?.token) {
    return [`The causal forward pass gives this token ${share}. It agrees.`, "agrees"];
  }
  const other = `${tokenName(run.tokenText(item.argmax))} (${formatPercent(item.argmaxProbability)})`;
  return [
    `The causal forward pass gives this token ${share}; it would have said ${other}.`,
    "differs",
  ];
}

/** @param {View} view */
function inspectorKicker({ run, pass, focus, held, showsFocus }) {
  if (focus === null) return "Inspector";
  if (held === focus) return `Position ${focus} · held`;
  if (showsFocus) return `Position ${focus}`;
  const open = openPositions(run, pass);
  const hasOthers = open.length < (run.main.steps[pass]?.masked.size ?? 0);
  const which = hasOthers ? "answer’s least sure" : "least sure now";
  return `Position ${focus} · ${open.length > 1 ? which : "only one left"}`;
}

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
      { type: "button", "aria-label": "Release this position", title: "Release" },
      icon("close"),
    );
    this.release.addEventListener("click", actions.release);
    const still = "Playing. Pause, or point at a tile, a token or a cell, to look inside it.";
    this.still = make("p", "sbd-inspector-still", {}, still);
    this.token = make("div", "sbd-inspector-token");
    this.reveal = make("p", "sbd-inspector-reveal");
    this.topTitle = make("h3", "");
    this.top = new Alternatives(actions);
    this.spark = makeSpark();
    this.hindsight = make("p", "sbd-hindsight");
    const legend = section("Colour and bar height", makeLegend());
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
    legend.classList.add("sbd-legend-section");
    const keys = section("Keys", makeKeyList(SHORT_KEY_WORDS, actions.canRedo));
    keys.classList.add("sbd-keys-section");
    this.root = make(
      "aside",
      "sbd-inspector sbd-card",
      { "aria-label": "Inspector" },
      make("div", "sbd-inspector-head", {}, this.kicker, this.release),
      this.about,
      this.still,
      legend,
      keys,
    );
  }

  /** @param {View} view */
  update(view) {
    const { run, focus } = view;
    // While it plays, only a position that somebody chose is worth following.
    const isStill = view.isPlaying && !view.showsFocus;
    this.about.hidden = isStill;
    this.still.hidden = !isStill;
    if (isStill) setText(this.kicker, "Inspector");
    if (isStill) return;
    const pass = focus === null ? null : inspectedPass(view, focus);
    const masked = focus === null ? undefined : run.main.steps[pass ?? -1]?.masked.get(focus);
    const item = focus === null ? null : run.main.fixedAt(focus, view.pass);
    const chosen = item ? item.token : masked?.top[0]?.token;
    const isNow = pass === null || pass === view.pass;
    this.root.classList.toggle("is-guess", !item);
    this.release.hidden = view.held === null;
    setText(this.kicker, inspectorKicker(view));
    showToken(this.token, chosen === undefined ? "–" : run.tokenText(chosen));
    const reveal = "Point at a tile, a token or a cell.";
    setText(this.reveal, focus === null ? reveal : revealText(view, focus));
    const title = isNow ? "thinks, this forward pass" : `thought, forward pass ${pass + 1}`;
    setText(this.topTitle, `What the model ${title}`);
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
