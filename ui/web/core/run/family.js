// The runs that grew out of one another: a first run, and what pins, branches and other gammas
// made of it. Knows no DOM.

import { clamp, formatGamma } from "../numbers.js";
import { differences, differWords } from "../text/diff.js";
import { tokenName } from "../text/letters.js";

/** @import { Differences } from "../text/diff.js" */
/** @import { Lane } from "./lane.js" */
/** @import { Run } from "./run.js" */

/** @typedef {{ kind: string, position?: number, pass?: number }} Origin how a run came to be asked for */
/** @typedef {{ run: Run, parent: Node | null, depth: number, words: string }} Node of the tree */
/** @typedef {{ id: number, text: string, isEnd: boolean }} AnswerToken */

const MAX_ASKED = 32;

/**
 * The tokens of a lane's answer, left to right; joined bytes count as one text.
 * @param {Run} run
 * @param {Lane} lane
 * @returns {AnswerToken[]}
 */
export function answerTokens(run, lane) {
  const joined = run.joinedAt(lane, lane.lastPass);
  return lane.knownAt(lane.lastPass).map(({ position, token }) => {
    const part = joined.get(position);
    const isEnd = lane.finish === "end_of_sequence" && position === lane.end - 1;
    const text = part ? (part.index ? "" : part.text) : run.tokenText(token);
    return { id: token, isEnd, text };
  });
}

/** How a run came out of the one before it, in words. @param {Run} run @param {Origin} origin */
function originWords(run, { kind, position = -1, pass = 0 }) {
  const token = run.pins.get(position);
  const name = token === undefined ? "" : tokenName(run.tokenText(token));
  if (kind === "pin") return `pin ${name} at ${position}`;
  if (kind === "follow-up") return "follow-up";
  if (kind === "branch") return `branch ${name} at ${position}, forward pass ${pass + 1}`;
  return `γ ${formatGamma(run.solver.gamma ?? 0)}`;
}

/**
 * The answer of a node beside that of its parent, null while either runs.
 * @param {Node} node
 * @returns {{ left: AnswerToken[], right: AnswerToken[], differ: Differences } | null}
 */
export function compareWithParent({ parent, run }) {
  if (!parent?.run.main.finish || !run.main.finish) return null;
  if (run.turns.length !== parent.run.turns.length) return null; // another question
  const left = answerTokens(parent.run, parent.run.main);
  const right = answerTokens(run, run.main);
  /** @param {AnswerToken[]} tokens */
  const ids = (tokens) => tokens.map(({ id }) => id);
  return { left, right, differ: differences(ids(left), ids(right)) };
}

export class Family {
  constructor() {
    /** @type {Node[]} */
    this.nodes = [];
    /**
     * Requests by the id that the run will carry: a second question must not take the
     * place of one whose answer is on its way.
     * @type {Map<string, { parent: Node | null, origin: Origin }>}
     */
    this.asked = new Map();
    this.numAsked = 0;
  }

  /**
   * Remember what was asked of `run`; the run that answers carries the id given back.
   * @param {Run} run
   * @param {Origin} origin
   */
  ask(run, origin) {
    this.numAsked += 1;
    const id = `a${this.numAsked}`;
    this.asked.set(id, { parent: this.nodeOf(run), origin });
    for (const old of [...this.asked.keys()].slice(0, -MAX_ASKED)) this.asked.delete(old);
    return id;
  }

  /**
   * A run began: a branch of the one it was asked of, or else the first of a new family.
   * @param {Run} run
   */
  take(run) {
    const asked = this.asked.get(run.ask);
    // The tree it was asked in may have given way to another one.
    const parent = asked?.parent && this.nodes.includes(asked.parent) ? asked.parent : null;
    const words = asked && parent ? originWords(run, asked.origin) : "first run";
    const node = { run, parent, depth: parent ? parent.depth + 1 : 0, words };
    this.asked.delete(run.ask);
    if (!parent) this.nodes = [node];
    else this.nodes.splice(this.endOf(parent), 0, node);
  }

  /** @param {Run | null} run */
  nodeOf(run) {
    return this.nodes.find((node) => node.run === run) ?? null;
  }

  /**
   * The index after the last descendant of `node`, where its next child goes.
   * @param {Node} node
   */
  endOf(node) {
    const start = this.nodes.indexOf(node);
    const after = this.nodes.findIndex(
      (other, index) => index > start && other.depth <= node.depth,
    );
    return after < 0 ? this.nodes.length : after;
  }

  /**
   * The run `by` rows further down the tree, the same one at either end.
   * @param {Run | null} run
   * @param {number} by
   */
  neighbour(run, by) {
    const index = this.nodes.findIndex((node) => node.run === run) + by;
    return this.nodes[clamp(index, 0, this.nodes.length - 1)]?.run ?? run;
  }
}

/** @typedef {{ positions: Set<number>, words: string, parting: number | null }} Against positions of the answer that differ; words: see differWords; parting: the first place where the two are not the same */

const MAX_TOKENS = 1000; // each of one answer is laid beside each of the other

/** @type {WeakMap<Run, Against | null>} */
const known = new WeakMap();

/**
 * Null where that cannot be said: a lane is not whole or was stopped, tokens were given to one of
 * them alone, or the answers are too long.
 * @param {Run} run
 * @returns {Against | null}
 */
export function againstPlain(run) {
  const { main, ntp } = run;
  if (!ntp || !main.finish || !ntp.finish) return null;
  const made = known.get(run);
  if (made !== undefined) return made;
  const isOpen = main.finish === "stopped" || ntp.finish === "stopped" || run.pins.size > 0;
  const isLong = Math.max(main.numCommitted, ntp.numCommitted) > MAX_TOKENS;
  const against = isOpen || isLong ? null : compare(run);
  known.set(run, against);
  return against;
}

/** @param {Run} run */
function compare(run) {
  const [left, right] = [run.ntp ?? run.main, run.main].map((lane) =>
    answerTokens(run, lane).map(({ id }) => id),
  );
  const [plain, own] = [left ?? [], right ?? []];
  const differ = differences(plain, own);
  const words = differWords(differ);
  const other = own.findIndex((id, at) => id !== plain[at]);
  const parting = !words ? null : other < 0 ? own.length : other;
  return { positions: differ.onlyRight, words, parting };
}
