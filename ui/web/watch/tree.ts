// The tree of runs that were made from one another by pins, branches and other gammas: a row for each run,
// indented below its parent; pressing a row shows its run. Below the rows are the answers of the run shown and of its
// parent, with their differences marked.

import {
  type AnswerToken,
  answerTokens,
  type Differences,
  differences,
  differWords,
} from "../core/differences.ts";
import { lanePieces, tokenName } from "../core/letters.ts";
import { clamp, formatGamma } from "../core/numbers.ts";
import type { Run } from "../core/run.ts";
import { make, setText, showPieces } from "../dom/elements.ts";
import type { Actions } from "./actions.ts";
import type { View } from "./playhead.ts";

/** kind: pin, branch or gamma */
export type Origin = { kind: string; position?: number; pass?: number };
/** words: how it was made */
export type TreeNode = { run: Run; parent: TreeNode | null; depth: number; words: string };
const MAX_REQUESTS = 32;

/** Say how a run was made from its parent. */
function originWords(run: Run, { kind, position = -1, pass = 0 }: Origin) {
  const token = run.pins.get(position);
  const name = token === undefined ? "" : tokenName(run.tokenText(token));
  if (kind === "pin") return `pin ${name} at ${position}`;
  if (kind === "branch") return `branch ${name} at ${position}, forward pass ${pass + 1}`;
  return `γ ${formatGamma(run.solver.gamma ?? 0)}`;
}

/** Compare the answers of a node's run (right) and its parent's (left); null if one is incomplete. */
export function compareWithParent({
  parent,
  run,
}: TreeNode): { left: AnswerToken[]; right: AnswerToken[]; differ: Differences } | null {
  if (!parent?.run.main.finish || !run.main.finish) return null;
  const left = answerTokens(parent.run, parent.run.main);
  const right = answerTokens(run, run.main);
  const ids = (tokens: AnswerToken[]) => tokens.map(({ id }) => id);
  return { left, right, differ: differences(ids(left), ids(right)) };
}

export class RunTree {
  nodes: TreeNode[] = [];
  /**
   * Requests by the id that their run will carry, so that a second request does not replace one whose run is on its
   * way.
   */
  requests: Map<string, { parent: TreeNode | null; origin: Origin }> = new Map();
  numRequests = 0;

  /** Remember a request to make a run from `run`; return the id that the new run will carry. */
  request(run: Run, origin: Origin) {
    this.numRequests += 1;
    const id = `a${this.numRequests}`;
    this.requests.set(id, { parent: this.nodeOf(run), origin });
    for (const old of [...this.requests.keys()].slice(0, -MAX_REQUESTS)) this.requests.delete(old);
    return id;
  }

  /** Add a run that began: as a child of the run it was made from, or else as the first of a new tree. */
  add(run: Run) {
    const request = this.requests.get(run.requestId);
    // Another tree may have replaced the one with the parent.
    const parent = request?.parent && this.nodes.includes(request.parent) ? request.parent : null;
    const words = request && parent ? originWords(run, request.origin) : "first run";
    const node = { run, parent, depth: parent ? parent.depth + 1 : 0, words };
    this.requests.delete(run.requestId);
    if (!parent) this.nodes = [node];
    else this.nodes.splice(this.endOf(parent), 0, node);
  }

  nodeOf(run: Run | null) {
    return this.nodes.find((node) => node.run === run) ?? null;
  }

  /** Return the index after the last descendant of `node`, where its next child goes. */
  endOf(node: TreeNode) {
    const start = this.nodes.indexOf(node);
    const after = this.nodes.findIndex(
      (other, index) => index > start && other.depth <= node.depth,
    );
    return after < 0 ? this.nodes.length : after;
  }

  /** Return the run `by` rows further down the tree, or at most the first or last one. */
  neighbour(run: Run | null, by: number) {
    const index = this.nodes.findIndex((node) => node.run === run) + by;
    return this.nodes[clamp(index, 0, this.nodes.length - 1)]?.run ?? run;
  }
}

/** Show tokens in a row, with those at the indexes in `marked` marked. */
function showMarkedTokens(node: HTMLElement, tokens: AnswerToken[], marked: Set<number>) {
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

type Comparison = NonNullable<ReturnType<typeof compareWithParent>>;

/** Say how a run's answer differs from its parent's, or that it is not complete. */
function comparisonWords(node: TreeNode, pair: Comparison | null) {
  if (node.run.main.finish === null) return node.run.isStopped ? "stopped" : "decoding …";
  return pair ? differWords(pair.differ) || "same ending" : "";
}

/** Say with which run the answer of a node's run is compared. */
export function comparedWords({ parent }: TreeNode) {
  if (!parent) return "";
  return `compared with ${parent.depth ? parent.words : "the first run"}`;
}

/** The rows of the tree, and the two answers that are compared. */
export class Tree {
  rows: HTMLDivElement;
  before: HTMLParagraphElement;
  after: HTMLParagraphElement;
  nameBefore: HTMLSpanElement;
  nameAfter: HTMLSpanElement;
  answers: HTMLDivElement;
  root: HTMLElement;
  drawnKey = "";
  comparisons: WeakMap<TreeNode, Comparison> = new WeakMap();

  constructor(
    readonly runTree: RunTree,
    readonly actions: Actions,
  ) {
    this.rows = make("div", "sbd-tree-rows");
    this.before = make("p", "sbd-ending-text");
    this.after = make("p", "sbd-ending-text");
    this.nameBefore = make("span", "sbd-ending-name");
    this.nameAfter = make("span", "sbd-ending-name");
    this.answers = make(
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
      this.answers,
    );
  }

  /** Return the comparison with the parent, remembered once there is one; null before. */
  compare(node: TreeNode) {
    const known = this.comparisons.get(node);
    if (known) return known;
    const made = compareWithParent(node);
    if (made) this.comparisons.set(node, made);
    return made;
  }

  makeRow(node: TreeNode, isShown: boolean) {
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
      make("span", "sbd-tree-ending", { title: comparedWords(node) }, comparisonWords(node, pair)),
      () => this.actions.show(node.run),
    );
    row.style.setProperty("--depth", String(node.depth));
    return row;
  }

  update(view: View) {
    const { nodes } = this.runTree;
    this.root.hidden = nodes.length < 2;
    const state = nodes.map(({ run }) => [
      run.id,
      run.isStopped,
      run.main.steps.length,
      run.main.finish,
    ]);
    const key = [view.run.id, ...state].join();
    if (this.root.hidden || key === this.drawnKey) return;
    this.drawnKey = key;
    const current = this.runTree.nodeOf(view.run);
    const hadFocus = this.rows.contains(document.activeElement);
    this.rows.replaceChildren(...nodes.map((node) => this.makeRow(node, node === current)));
    this.showAnswers(current);
    this.keepInSight(this.rows.querySelector(".is-shown"), hadFocus);
  }

  /**
   * Scroll the rows, never the page, to the row of the run shown.
   * @param hadFocus whether a row had the focus; the row of the run shown gets it
   */
  keepInSight(row: Element | null, hadFocus: boolean) {
    if (!(row instanceof HTMLElement)) return;
    const { rows } = this;
    const bottom = row.offsetTop + row.offsetHeight;
    rows.scrollTop = clamp(rows.scrollTop, bottom - rows.clientHeight, row.offsetTop);
    if (hadFocus) row.focus({ preventScroll: true });
  }

  showAnswers(node: TreeNode | null) {
    const pair = node ? this.compare(node) : null;
    this.answers.hidden = !pair;
    this.root.classList.toggle("has-endings", Boolean(pair));
    if (!pair) return;
    setText(this.nameBefore, node?.parent?.words ?? "");
    setText(this.nameAfter, node?.words ?? "");
    showMarkedTokens(this.before, pair.left, pair.differ.onlyLeft);
    showMarkedTokens(this.after, pair.right, pair.differ.onlyRight);
  }
}
