// The current block: its tiles under a heading, each with position, forward pass, token or best guess, and a bar
// that sinks as the model grows sure; under them the entropy budget, or the predraft that verify used.

import { tokenName } from "../core/letters.js";
import { clamp } from "../core/numbers.js";
import { alternativeWords, branchOf, checkedDraft, draftedAt, MAX_TILES } from "../core/run.js";
import { entropyColour, unsureness } from "../core/scale.js";
import { make, setAttribute, setStyle, setText, showToken } from "../dom/elements.js";
import { scrollBehavior } from "../dom/screen.js";
import { question, term } from "../dom/terms.js";
import { pointsAt } from "./actions.js";
import { Budget } from "./budget.js";
import { passMark, positionTitle, tileState } from "./playhead.js";

/** @import { Joined } from "../core/letters.js" */
/** @import { Branch, Run } from "../core/run.js" */
/** @import { Actions, Pointing } from "./actions.js" */
/** @import { TileState, View } from "./playhead.js" */

const TILES =
  "Each tile is a place of the block. In grey italics: a mask’s best guess; the bar is how unsure " +
  "the model is. Bold: revealed; ringed: in this forward pass. Choose a tile to look inside it.";

/** "Block 3 of 7", as far as that can be told. @param {View} view */
function headingOf({ run, pass }) {
  if (run.strategy === "ntp") return "Tokens to come";
  if (run.strategy === "verify") return "Draft";
  const { start } = run.windowAt(pass);
  const number = run.blockSize ? Math.floor(start / run.blockSize) + 1 : 1;
  const total = Math.ceil(run.main.numCommitted / Math.max(run.blockSize, 1));
  return `Block ${number}${run.main.finish && total >= number ? ` of ${total}` : ""}`;
}

export class BlockView {
  /** @param {Actions} actions */
  constructor(actions) {
    this.heading = make("span");
    this.tiles = new Tiles(actions);
    this.budget = new Budget(actions);
    this.branches = new Branches();
    this.legend = makeVerifyLegend();
    this.about = question("tiles", TILES);
    const folded = { "aria-expanded": "false", "aria-label": "What the tiles of a draft mean" };
    const turn = () => this.turn(!this.hasLegend);
    this.explain = make("button", "sbd-term sbd-question", folded, turn);
    this.hasLegend = false;
    this.legend.hidden = true;
    this.verify = make("div", "sbd-verify-view", this.legend, this.branches.root);
    this.root = make(
      "section",
      "sbd-block-view",
      { "aria-label": "Current block" },
      make("div", "sbd-row", make("h3", "", this.heading), this.about, this.explain),
      this.tiles.root,
      this.tiles.more,
      this.verify,
      this.budget.root,
    );
    this.root.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.turn(false);
    });
  }

  /** @param {boolean} isOpen whether the legend shows */
  turn(isOpen) {
    this.hasLegend = isOpen;
    this.legend.hidden = !isOpen;
    this.explain.setAttribute("aria-expanded", String(isOpen));
  }

  /** @param {View} view */
  update(view) {
    const { strategy } = view.run;
    this.root.dataset.strategy = strategy;
    setText(this.heading, headingOf(view));
    this.tiles.update(view);
    this.about.hidden = strategy === "verify";
    this.explain.hidden = strategy !== "verify";
    this.verify.hidden = strategy !== "verify";
    this.budget.root.hidden = strategy !== "sbd";
    if (strategy === "sbd") this.budget.update(view);
    if (strategy !== "verify") return;
    this.branches.update(view);
  }
}

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
    pointsAt(node, actions, () => this.at);
    node.addEventListener("focus", () => {
      if (node.matches(":focus-visible")) actions.hover(this.at);
    });
    node.addEventListener("blur", () => actions.hover(null));
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

/** @type {[kind: string, words: string][]} */
const KINDS = [
  ["draft", "drafted"],
  ["accepted", "accepted"],
  ["struck", "thrown away"],
  ["new", "its own token"],
  ["masked", "a mask’s guess"],
  ["beyond", "after the end"],
];

/** The legend under the tiles. @param {string} [without] a kind that none of them is */
export function makeVerifyLegend(without) {
  const check = [
    "One ",
    term("pass"),
    " checks the last ",
    term("draft"),
    " from left to right (",
    term("causal"),
    "). It keeps the tokens up to the first that next-token prediction would not have written, and writes " +
      "its own there; if the whole draft holds, it drafts on at once. So the answer is next-token " +
      "prediction’s.",
  ];
  const kinds = KINDS.filter(([kind]) => kind !== without).map(([kind, words]) =>
    make(
      "li",
      "",
      make("span", `sbd-sample sbd-sample-${kind}`, { "aria-hidden": "true" }, "a"),
      words,
    ),
  );
  const more = [
    "Beside drafted tokens it may read other ones (",
    term("alternative", "alternatives"),
    "), and it may draft for the case that a token is thrown away (a ",
    term("predraft"),
    "): the next pass then has a draft all the same.",
  ];
  const root = make(
    "section",
    "sbd-verify",
    { "aria-label": "What the tiles mean" },
    make("ul", "", ...kinds),
    make("p", "", ...check),
    make("p", "", ...more),
  );
  return root;
}

/** @param {Run} run @param {number} token @param {string} look */
function makeToken(run, token, look = "") {
  const node = make("span", `sbd-branch-token${look}`);
  showToken(node, run.shownText(token));
  return node;
}

/** @param {Run} run @param {number} pass @param {Branch} branch */
function makeBranch(run, pass, branch) {
  const { position, tokens, numHidden, alternative } = branch;
  const thrown = alternative === undefined ? position : position - 1;
  const { drafted } = draftedAt(run.main, pass, thrown);
  const instead = make("s", "sbd-branch-instead", { "aria-hidden": "true" });
  showToken(instead, drafted === undefined ? "…" : run.shownText(drafted));
  const exact = alternative === undefined ? [] : exactTokens(run, pass, thrown);
  const names = tokens.map((token) => tokenName(run.shownText(token))).join(" ");
  const hidden = numHidden ? ` and ${numHidden} more` : "";
  const right = exact.map((token) => tokenName(run.shownText(token))).join(" ");
  const title =
    alternative === undefined
      ? `Drafted in case position ${position} is thrown away, as it was: ${names}${hidden}`
      : `Another token at position ${thrown} was right: ${right}${names && `; drafted behind it: ${names}${hidden}`}`;
  const nodes = [
    ...exact.map((token) => makeToken(run, token, " sbd-sample-accepted")),
    ...tokens.map((token) => makeToken(run, token)),
  ];
  return make("li", "sbd-branch", { title }, instead, ...nodes);
}

/**
 * Tokens that the pass made final from a position on: an alternative that was right.
 * @param {Run} run
 * @param {number} pass
 * @param {number} position
 */
function exactTokens({ main }, pass, position) {
  const { committed = [], committedBefore = 0 } = main.steps[pass] ?? {};
  return committed.slice(position - committedBefore);
}

/** The branch of the pass, if it used one, and a sentence under it. */
class Branches {
  constructor() {
    this.list = make("ul", "sbd-branches-list", { "aria-label": "Drafts that were ready" });
    this.words = make("p", "sbd-branches-words");
    this.root = make("div", "sbd-branches", this.list, this.words);
    this.shown = "";
  }

  /** @param {View} view */
  update({ run, pass }) {
    const key = `${run.id}/${pass}/${run.main.steps.length > pass}`;
    if (key === this.shown) return;
    this.shown = key;
    const window = run.windowAt(pass);
    const size = Math.min(window.size, MAX_TILES);
    const predrafts = run.main.steps[pass]?.predrafts ?? [];
    const branch = branchOf(predrafts, { ...window, size });
    this.list.replaceChildren(...(branch ? [makeBranch(run, pass, branch)] : []));
    const { tokens, numAccepted } = checkedDraft(run.main, pass);
    const isAccepted = numAccepted === tokens.length;
    setText(this.words, alternativeWords(predrafts, isAccepted));
  }
}
