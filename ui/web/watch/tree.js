// The tree of runs: one row a run, indented below the one it came from; press a row to see that
// run. Below it the ending of the run shown beside the one it came from, what differs marked.

import { clamp } from "../core/numbers.js";
import { compareWithParent } from "../core/run/family.js";
import { differWords } from "../core/text/diff.js";
import { lanePieces } from "../core/text/letters.js";
import { make, setText } from "../dom/elements.js";
import { showPieces } from "../dom/tokens.js";

/** @import { AnswerToken, Family, Node } from "../core/run/family.js" */
/** @import { Actions } from "./actions.js" */
/** @import { View } from "./view.js" */

/**
 * Tokens in a row, those at the indexes `marked` marked; their text stays text.
 * @param {HTMLElement} node
 * @param {AnswerToken[]} tokens
 * @param {Set<number>} marked
 */
function showMarkedTokens(node, tokens, marked) {
  node.replaceChildren(
    ...tokens.map(({ text, isEnd }, index) => {
      const differs = marked.has(index) ? "sbd-differs" : "";
      if (isEnd) return make("span", `sbd-token-end ${differs}`, "end");
      const span = make("span", differs);
      const [before, after] = [tokens[index - 1]?.text.at(-1), tokens[index + 1]?.text[0]];
      showPieces(span, lanePieces(text, before ?? "", after ?? "…"));
      return span;
    }),
  );
}

/** @typedef {NonNullable<ReturnType<typeof compareWithParent>>} Comparison */

/**
 * How a run ended beside its parent, in words.
 * @param {Node} node
 * @param {Comparison | null} pair
 */
function endingWords(node, pair) {
  if (node.run.main.finish === null) return node.run.isStopped ? "stopped" : "decoding …";
  return pair ? differWords(pair.differ) || "same ending" : "";
}

/** With which run the ending of one is compared. @param {Node} node */
export function comparedWords({ parent }) {
  if (!parent) return "";
  return `compared with ${parent.depth ? parent.words : "the first run"}`;
}

/** The rows of the tree and the two endings. */
export class Tree {
  /** @param {Family} family @param {Actions} actions */
  constructor(family, actions) {
    this.family = family;
    this.actions = actions;
    this.rows = make("div", "sbd-tree-rows");
    this.before = make("p", "sbd-ending-text");
    this.after = make("p", "sbd-ending-text");
    this.nameBefore = make("span", "sbd-ending-name");
    this.nameAfter = make("span", "sbd-ending-name");
    this.endings = make(
      "div",
      "sbd-endings",
      make("div", "", this.nameBefore, this.before),
      make("div", "", this.nameAfter, this.after),
    );
    this.root = make(
      "section",
      "sbd-tree",
      { "aria-label": "Branches" },
      make(
        "div",
        "sbd-tree-head",
        make("h3", "", "Branches"),
        make("span", "sbd-tree-basis", "each compared with the run that it grew from"),
        make(
          "span",
          "sbd-tree-key",
          { "aria-hidden": "true" },
          make("kbd", "", "["),
          make("kbd", "", "]"),
          " step through them",
        ),
      ),
      this.rows,
      this.endings,
    );
    this.shown = "";
    /** @type {WeakMap<Node, Comparison>} */
    this.compared = new WeakMap();
  }

  /**
   * The comparison with the parent, made once both are complete; null before.
   * @param {Node} node
   */
  compare(node) {
    const known = this.compared.get(node);
    if (known) return known;
    const made = compareWithParent(node);
    if (made) this.compared.set(node, made);
    return made;
  }

  /** @param {Node} node @param {boolean} isShown */
  makeRow(node, isShown) {
    const pair = this.compare(node);
    const { main } = node.run;
    const row = make(
      "button",
      `sbd-tree-row${isShown ? " is-shown" : ""}`,
      { "aria-pressed": isShown },
      make("span", "sbd-tree-words", node.words),
      make(
        "span",
        "sbd-tree-count",
        `${main.steps.length} forward passes · ${main.numCommitted} tokens`,
      ),
      make("span", "sbd-tree-ending", { title: comparedWords(node) }, endingWords(node, pair)),
    );
    row.style.setProperty("--depth", String(node.depth));
    row.addEventListener("click", () => this.actions.show(node.run));
    return row;
  }

  /** @param {View} view */
  update(view) {
    const { nodes } = this.family;
    this.root.hidden = nodes.length < 2;
    const state = nodes.map(({ run }) => [
      run.id,
      run.isStopped,
      run.main.steps.length,
      run.main.finish,
    ]);
    const key = [view.run.id, ...state].join();
    if (this.root.hidden || key === this.shown) return;
    this.shown = key;
    const current = this.family.nodeOf(view.run);
    const hadFocus = this.rows.contains(document.activeElement);
    this.rows.replaceChildren(...nodes.map((node) => this.makeRow(node, node === current)));
    this.showEndings(current);
    this.keepInSight(this.rows.querySelector(".is-shown"), hadFocus);
  }

  /**
   * Scroll the rows, never the page, to the row of the run shown.
   * @param {Element | null} row
   * @param {boolean} hadFocus
   */
  keepInSight(row, hadFocus) {
    if (!(row instanceof HTMLElement)) return;
    const { rows } = this;
    const bottom = row.offsetTop + row.offsetHeight;
    rows.scrollTop = clamp(rows.scrollTop, bottom - rows.clientHeight, row.offsetTop);
    if (hadFocus) row.focus({ preventScroll: true });
  }

  /** @param {Node | null} node */
  showEndings(node) {
    const pair = node ? this.compare(node) : null;
    this.endings.hidden = !pair;
    this.root.classList.toggle("has-endings", Boolean(pair));
    if (!pair) return;
    setText(this.nameBefore, node?.parent?.words ?? "");
    setText(this.nameAfter, node?.words ?? "");
    showMarkedTokens(this.before, pair.left, pair.differ.onlyLeft);
    showMarkedTokens(this.after, pair.right, pair.differ.onlyRight);
  }
}
