// The tree of runs that were made from one another by pins, branches and other gammas: a row for each run,
// indented below its parent; pressing a row shows its run. Below the rows are the answers of the run shown and of its
// parent, with their differences marked.

import { html, render } from "lit-html";
import {
  type AnswerToken,
  answerTokens,
  type Differences,
  differences,
  differWords,
} from "../core/differences.ts";
import { lanePieces, tokenName } from "../core/letters.ts";
import { clamp, countOf, formatGamma } from "../core/numbers.ts";
import type { Run } from "../core/run.ts";
import { make } from "../dom/elements.ts";
import { pieceTemplates } from "../dom/templates.ts";
import type { Actions } from "./actions.ts";
import type { View } from "./playhead.ts";

/** kind: pin, branch or gamma */
export type Origin = { kind: string; position?: number; pass?: number };
/** words: how it was made */
export type TreeNode = { run: Run; parent: TreeNode | null; depth: number; words: string };
const MAX_REQUESTS = 32;

function originWords(run: Run, { kind, position = -1, pass = 0 }: Origin) {
  const token = run.pins.get(position);
  const name = token === undefined ? "" : tokenName(run.tokenText(token));
  if (kind === "pin") return `pin ${name} at ${position}`;
  if (kind === "branch") return `branch ${name} at ${position}, forward pass ${pass + 1}`;
  return `γ ${formatGamma(run.solver.gamma ?? 0)}`;
}

const MAX_NAMED = 3;

/** Count the tokens that a run was given, and name the first: "1 token given, not decoded: “·the” at 4"; "" for none. */
export function givenWords(run: Run) {
  const names = [...run.pins].map(([at, id]) => `${tokenName(run.shownText(id))} at ${at}`);
  const more = names.length > MAX_NAMED ? " …" : "";
  const named = names.slice(0, MAX_NAMED).join(", ");
  return named && `${countOf(names.length, "token")} given, not decoded: ${named}${more}`;
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

/** Return tokens in a row, with those at the indexes in `marked` marked. */
function markedTokens(tokens: AnswerToken[], marked: Set<number>) {
  return tokens.map(({ text, isEnd }, index) => {
    const differs = marked.has(index) ? "sbd-differs" : "";
    if (isEnd) return html`<span class="sbd-token-end ${differs}">end</span>`;
    const [before, after] = [tokens[index - 1]?.text.at(-1), tokens[index + 1]?.text[0]];
    const pieces = lanePieces(text, before ?? "", after ?? "…");
    return html`<span class=${differs}>${pieceTemplates(pieces)}</span>`;
  });
}

type Comparison = NonNullable<ReturnType<typeof compareWithParent>>;

/** Say how a run's answer differs from its parent's, or that it is not complete. */
function comparisonWords(node: TreeNode, pair: Comparison | null) {
  if (node.run.main.finish === null) return node.run.isStopped ? "stopped" : "decoding …";
  return pair ? differWords(pair.differ) || "same ending" : "";
}

export class Tree {
  root = make("section", "sbd-tree", { "aria-label": "Branches" });
  drawnKey = "";
  comparisons: WeakMap<TreeNode, Comparison> = new WeakMap();

  constructor(
    readonly runTree: RunTree,
    readonly actions: Actions,
  ) {}

  /** Return the comparison with the parent, remembered once there is one; null before. */
  compare(node: TreeNode) {
    const known = this.comparisons.get(node);
    if (known) return known;
    const made = compareWithParent(node);
    if (made) this.comparisons.set(node, made);
    return made;
  }

  row(node: TreeNode, isShown: boolean) {
    const { main } = node.run;
    return html`<button
      type="button"
      class="sbd-tree-row ${isShown ? "is-shown" : ""}"
      style="--depth: ${node.depth}"
      aria-pressed=${isShown}
      @click=${() => this.actions.show(node.run)}
      ><span class="sbd-tree-words">${node.words}</span
      ><span class="sbd-tree-count"
        >${main.steps.length} forward passes · ${main.numCommitted} tokens</span
      ><span class="sbd-tree-ending">${comparisonWords(node, this.compare(node))}</span
      ></button>`;
  }

  update(view: View) {
    const { nodes } = this.runTree;
    this.root.hidden = nodes.length < 2;
    const state = nodes.map(({ run: { id, isStopped, main } }) => [
      id,
      isStopped,
      main.steps.length,
      main.finish,
    ]);
    const key = [view.run.id, ...state].join();
    if (this.root.hidden || key === this.drawnKey) return;
    this.drawnKey = key;
    const current = this.runTree.nodeOf(view.run);
    const hadFocus = document.activeElement?.classList.contains("sbd-tree-row") ?? false;
    const pair = current && this.compare(current);
    this.root.classList.toggle("has-endings", pair !== null);
    const answer = (name: string | undefined, tokens: unknown) =>
      html`<div
        ><span class="sbd-ending-name">${name}</span><p class="sbd-ending-text">${tokens}</p></div
      >`;
    const content = html`<div class="sbd-tree-head">
        <h3>Branches</h3>
        <span class="sbd-tree-basis">each compared with the run that it grew from</span>
        <span class="sbd-tree-key" aria-hidden="true"
          ><kbd>[</kbd><kbd>]</kbd> step through them</span>
      </div>
      <div class="sbd-tree-rows">${nodes.map((node) => this.row(node, node === current))}</div>
      <div class="sbd-endings" ?hidden=${!pair}>${
        pair && [
          answer(current?.parent?.words, markedTokens(pair.left, pair.differ.onlyLeft)),
          answer(current?.words, markedTokens(pair.right, pair.differ.onlyRight)),
        ]
      }</div>`;
    render(content, this.root);
    this.keepInSight(hadFocus);
  }

  /**
   * Scroll the rows, never the page, to the row of the run shown.
   * @param hadFocus whether a row had the focus; the row of the run shown gets it
   */
  keepInSight(hadFocus: boolean) {
    const row = this.root.querySelector<HTMLElement>(".is-shown");
    const rows = row?.parentElement;
    if (!row || !rows) return;
    const bottom = row.offsetTop + row.offsetHeight;
    rows.scrollTop = clamp(rows.scrollTop, bottom - rows.clientHeight, row.offsetTop);
    if (hadFocus) row.focus({ preventScroll: true });
  }
}
