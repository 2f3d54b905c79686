// The best candidates of one position as bars; where the page can decode again, each can be
// chosen to be pinned there, or to branch from there.

import { formatPercent } from "../../core/numbers.js";
import { tokenName } from "../../core/text/letters.js";
import { make, setAttribute, setStyle, setText } from "../../dom/elements.js";
import { showToken } from "../../dom/tokens.js";

/** @import { Top } from "../../core/run/wire.js" */
/** @import { Actions } from "../actions.js" */
/** @import { View } from "../view.js" */

const TOP_ROWS = 5;

/**
 * The candidate to act on: the one chosen by hand, else the best that is not the token itself.
 * @param {View} view
 * @param {Top[]} top
 * @param {number | undefined} fixedToken
 */
function chosenAlternative(view, top, fixedToken) {
  const byHand = top.find((entry) => entry.token === view.alternative);
  return byHand ?? top.find((entry) => entry.token !== fixedToken) ?? null;
}

/** @typedef {[position: number, id: number]} Pin */

/**
 * Tokens fixed by the view's pass.
 * @param {View} view
 * @returns {Pin[]}
 */
function tokensSoFar({ run, pass }) {
  return run.main.knownAt(pass).map(({ position, token }) => [position, token]);
}

/**
 * Why nothing can be pinned here or branched, "" if it can.
 * @param {View} view
 * @param {Top | null} alternative
 */
function whyNoAction({ run, focus, pass }, alternative) {
  if (run.strategy !== "sbd") return "Only Set Block Decoding can decode round a given token.";
  if (alternative || focus === null) return "";
  if (run.pins.has(focus)) return "This token was given; branch at another position.";
  if (run.main.isAfterEnd(focus, pass)) return "This position is after the end of the answer.";
  const isKnown = run.main.fixedAt(focus, pass) !== null;
  return isKnown
    ? "The model weighed no other token here: choose another position."
    : "No candidates yet: go to a forward pass whose block holds this position.";
}

/** The rows and the two buttons under them. */
export class Alternatives {
  /** @param {Actions} actions */
  constructor(actions) {
    this.actions = actions;
    /** @type {View | null} */
    this.view = null;
    /** @type {Top | null} */
    this.alternative = null;
    this.rows = Array.from({ length: TOP_ROWS }, () => this.makeRow());
    this.pin = this.makeAction(
      "pin",
      "Pin",
      "p",
      "Decode again with this token fixed here",
      ({ run }) => run.settings().pinned,
    );
    this.branch = this.makeAction(
      "branch",
      "Branch",
      "b",
      "Keep what is revealed so far, put this token here, decode the rest",
      (view) => [...view.run.settings().pinned, ...tokensSoFar(view)],
    );
    this.buttons = make("div", "sbd-alternative-actions", {}, this.pin.button, this.branch.button);
    this.note = make("p", "sbd-action-note");
    this.acting = make("div", "sbd-alternative-acting", {}, this.buttons, this.note);
    this.root = make("div", "sbd-top", {}, ...this.rows.map((row) => row.root), this.acting);
  }

  makeRow() {
    const token = make("span", "sbd-top-token");
    const bar = make("span", "sbd-top-bar");
    const value = make("span", "sbd-top-value");
    const root = make(
      "button",
      "sbd-top-row",
      { type: "button" },
      token,
      make("span", "sbd-top-track", {}, bar),
      value,
    );
    /** @type {{ entry: Top | null }} */
    const shown = { entry: null };
    const row = { root, token, bar, value, shown };
    root.addEventListener("click", () => shown.entry && this.actions.choose(shown.entry.token));
    return row;
  }

  /**
   * A button that decodes again with the chosen token among the given ones.
   * @param {string} name
   * @param {string} word
   * @param {string} key
   * @param {string} title
   * @param {(view: View) => Pin[]} pinsOf what else is given
   */
  makeAction(name, word, key, title, pinsOf) {
    const label = make("span", "sbd-action-token");
    const button = make(
      "button",
      `sbd-action sbd-action-${name}`,
      { type: "button", title },
      make("span", "", {}, word),
      label,
      make("kbd", "", { "aria-hidden": "true" }, key.toUpperCase()),
    );
    const act = () => {
      const { view, alternative } = this;
      const position = view?.focus ?? null;
      if (button.disabled || button.hidden || !view || !alternative || position === null) return;
      const pins = new Map(pinsOf(view)).set(position, alternative.token);
      this.actions.redo(
        { pinned: [...pins].sort((a, b) => a[0] - b[0]) },
        { kind: name, position, pass: view.pass },
      );
    };
    button.addEventListener("click", act);
    return { button, label, act };
  }

  /**
   * @param {View} view
   * @param {Top[]} top
   */
  update(view, top) {
    const { run, focus } = view;
    const fixedToken = focus === null ? undefined : run.main.fixedAt(focus, view.pass)?.token;
    this.view = view;
    this.alternative = chosenAlternative(view, top, fixedToken);
    const note = this.actions.canRedo ? whyNoAction(view, this.alternative) : "";
    this.acting.hidden = !this.actions.canRedo;
    this.buttons.hidden = this.acting.hidden || note !== "";
    this.note.hidden = note === "";
    setText(this.note, note);
    this.rows.forEach((row, index) => {
      const entry = top[index] ?? null;
      this.showRow(view, row, entry);
      row.root.classList.toggle("is-written", entry?.token === fixedToken && entry !== null);
    });
    for (const { button, label } of [this.pin, this.branch]) {
      button.disabled = this.alternative === null || note !== "";
      showToken(label, this.alternative ? run.tokenText(this.alternative.token) : "\u200a");
    }
  }

  /**
   * @param {View} view
   * @param {ReturnType<Alternatives["makeRow"]>} row
   * @param {Top | null} entry
   */
  showRow({ run }, row, entry) {
    const name = entry ? tokenName(run.tokenText(entry.token)) : "";
    row.shown.entry = entry;
    row.root.disabled = !entry;
    row.root.hidden = !entry;
    const isChosen = entry !== null && entry === this.alternative && !this.buttons.hidden;
    setAttribute(row.root, "title", isChosen ? `${name}: what Pin and Branch put here` : name);
    setAttribute(row.root, "aria-pressed", isChosen);
    row.root.classList.toggle("is-chosen", isChosen);
    showToken(row.token, entry ? run.tokenText(entry.token) : "\u200a");
    setText(row.value, entry ? formatPercent(entry.probability) : "");
    setStyle(row.bar, "transform", `scaleX(${entry?.probability ?? 0})`);
  }
}
