// The current block as tiles of fixed size: position, pass of its reveal, token or best guess,
// and the entropy as a bar that sinks as the model grows sure.

import { clamp } from "../core/numbers.js";
import { MAX_TILES } from "../core/run.js";
import { entropyColour, unsureness } from "../core/scale.js";
import { make, setAttribute, setStyle, setText, showToken } from "../dom/elements.js";
import { scrollBehavior } from "../dom/screen.js";
import { passMark, positionTitle, tileState } from "./view.js";

/** @import { Joined } from "../core/letters.js" */
/** @import { Pointing } from "./actions.js" */
/** @import { TileState, View } from "./view.js" */

const MAX_HEAD_LETTERS = 4; // as many as stand side by side over a token

/** One position: where it is, when it was revealed, its token or best guess, its entropy. */
class Tile {
  /** @param {Pointing} actions */
  constructor(actions) {
    this.position = make("span", "sbd-tile-position");
    this.pass = make("span", "sbd-tile-pass");
    this.token = make("span", "sbd-tile-token");
    this.bar = make("span", "sbd-tile-bar");
    this.struck = make("span", "sbd-tile-struck");
    this.node = make(
      "button",
      "sbd-tile",
      { tabindex: "-1" },
      make("span", "sbd-tile-head", this.position, this.pass),
      this.token,
      make("span", "sbd-tile-well", this.bar, this.struck),
    );
    this.at = 0; // the position shown
    this.isCrowded = false;
    this.listen(actions);
  }

  /** @param {Pointing} actions */
  listen(actions) {
    const { node } = this;
    node.addEventListener("pointerenter", () => actions.hover(this.at));
    node.addEventListener("pointerleave", () => actions.hover(null));
    node.addEventListener("focus", () => {
      if (node.matches(":focus-visible")) actions.hover(this.at);
    });
    node.addEventListener("blur", () => actions.hover(null));
    node.addEventListener("click", () => actions.hold(this.at));
  }

  /** @param {View} view @param {number} position @param {Joined | undefined} joined */
  update(view, position, joined) {
    const state = tileState(view, position);
    const { node } = this;
    this.at = position;
    const pass = passMark(state);
    setText(this.position, String(position));
    setText(this.pass, pass);
    this.isCrowded = pass !== "" && String(position).length + pass.length > MAX_HEAD_LETTERS;
    const own = state.token === undefined ? "\u200a" : view.run.shownText(state.token);
    if (joined) showToken(this.token, joined.text, `${joined.index + 1}/${joined.count}`);
    else showToken(this.token, own);
    setStyle(this.token, "--letters", String(this.token.textContent?.length || 1));
    const title =
      positionTitle(view, position, state) +
      (joined ? `, part ${joined.index + 1} of ${joined.count} of “${joined.text}”` : "");
    setAttribute(node, "title", title);
    setAttribute(node, "aria-label", title);
    this.struck.hidden = state.struck === undefined;
    if (state.struck !== undefined) showToken(this.struck, view.run.shownText(state.struck));
    this.showState(view, position, state);
  }

  /** @param {number | null} entropy @param {boolean} isDark */
  showEntropy(entropy, isDark) {
    // On the bar, not on the tile: what a tile hands down, all of its parts work out anew.
    setStyle(this.bar, "--level", entropy === null ? "0" : unsureness(entropy).toFixed(3));
    setStyle(this.bar, "background-color", entropy === null ? "" : entropyColour(entropy, isDark));
  }

  /** @param {View} view @param {number} position @param {TileState} state */
  showState(view, position, state) {
    const { node } = this;
    const classes = ["sbd-tile", `is-${state.kind}`];
    if (this.isCrowded) classes.push("is-crowded");
    if (view.wouldReveal?.has(position)) classes.push("is-would");
    if (view.focus === position && view.showsFocus) classes.push("is-focused");
    if (view.held === position) classes.push("is-held");
    if (node.className !== classes.join(" ")) node.className = classes.join(" ");
    const item = state.kind === "new" && view.isStep ? state.item : undefined;
    const count = item ? (view.run.main.steps[view.pass]?.reveals.length ?? 0) : 0;
    const delay = item ? view.reveals.delay(item.rank, count) : 0;
    this.showEntropy(state.entropy, view.isDark);
    setStyle(this.bar, "transition-delay", `${delay.toFixed(0)}ms`);
    if (!item) return;
    view.reveals.play(node, "tile", item.rank, count);
    view.reveals.play(this.token, "token", item.rank, count);
  }
}

/** The tiles, one of them in the tab order; up and down move between them. */
export class Tiles {
  /** @param {Pointing} actions */
  constructor(actions) {
    this.actions = actions;
    /** @type {Tile[]} */
    this.tiles = [];
    /** @type {number | null} the position shown for the sake of the focus, given by keys */
    this.followed = null;
    this.window = { start: 0, size: 0 };
    this.root = make("div", "sbd-tiles", {
      role: "group",
      "aria-label": "Current block; up and down keys move between tiles",
    });
    this.more = make("p", "sbd-tiles-more");
    this.root.addEventListener("focusin", () => {
      const tile = this.focused?.tile;
      this.followed = tile?.node.matches(":focus-visible") ? tile.at : null;
    });
    this.root.addEventListener("focusout", () => {
      this.followed = null;
    });
  }

  /** @param {View} view */
  update(view) {
    const block = view.run.windowAt(view.pass);
    const { start } = block;
    const size = Math.min(block.size, MAX_TILES);
    this.window = { start, size };
    while (this.tiles.length < size) this.tiles.push(new Tile(this.actions));
    const shown = this.tiles.slice(0, size);
    if (this.root.childNodes.length !== size) {
      this.root.replaceChildren(...shown.map((tile) => tile.node));
      setStyle(this.root, "--columns", String(Math.min(size, 16)));
      setStyle(this.root, "--narrow-columns", String(Math.min(size, 8)));
    }
    const isCut = size < block.size;
    this.more.hidden = !isCut;
    setText(this.more, isCut ? `the first ${size} of ${block.size} positions of the block` : "");
    const joined = view.run.joinedAt(view.run.main, view.pass);
    const stop = this.indexOf(view.focus) ?? 0;
    for (const [index, tile] of shown.entries()) {
      tile.update(view, start + index, joined.get(start + index));
      setAttribute(tile.node, "tabindex", index === stop ? "0" : "-1");
    }
    this.followFocus();
  }

  /** On a phone the inspector comes up from below: keep the tiles above it. */
  keepInSight() {
    if (this.root.closest(".is-narrow"))
      this.root.scrollIntoView({ block: "nearest", behavior: scrollBehavior() });
  }

  /** The tile of a position, null if the block does not hold it. @param {number | null} position */
  indexOf(position) {
    const index = position === null ? -1 : position - this.window.start;
    return index >= 0 && index < this.window.size ? index : null;
  }

  get focused() {
    const index = this.tiles.findIndex(({ node }) => node === document.activeElement);
    const tile = this.tiles[index];
    return tile && index < this.window.size ? { tile, index } : null;
  }

  /** A tile that has the focus may stand for another position now. */
  followFocus() {
    const position = this.focused?.tile.at ?? null;
    if (this.followed === null || position === null || position === this.followed) return;
    this.followed = position;
    this.actions.hover(position);
  }

  /**
   * Move the focus by a number of tiles; from outside, to the tile of `position` first.
   * @param {number} by
   * @param {number | null} position
   */
  move(by, position) {
    const { size } = this.window;
    if (!size) return;
    const from = this.focused?.index;
    const first = this.indexOf(position) ?? 0;
    this.tiles[from === undefined ? first : clamp(from + by, 0, size - 1)]?.node.focus();
  }
}
