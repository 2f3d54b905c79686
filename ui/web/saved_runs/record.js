// The runs of a tab as a value that the browser keeps, and back. Knows no DOM.

import { History } from "../core/run/history.js";

/** @import { Family, Node } from "../core/run/family.js" */
/** @import { Run } from "../core/run/run.js" */

/** @typedef {{ lines: string, parent: number, words: string, depth: number }} SavedRun parent: its index, -1 */
/** @typedef {{ version: number, savedAt: number, shown: number, pass: number, runs: SavedRun[] }} SavedTab */

export const VERSION = 2;
const MAX_RUNS = 64;
const MAX_CHARACTERS = 20_000_000;

/**
 * The family as a record, the run shown and its pass with it; null if there is nothing to keep.
 * @param {Family} family
 * @param {Run | null} shown
 * @param {number} pass
 * @returns {SavedTab | null}
 */
export function recordOf({ nodes }, shown, pass) {
  const kept = nodes.slice(0, MAX_RUNS);
  const size = kept.reduce((sum, { run }) => sum + run.numCharacters, 0);
  const isWorthIt = kept.some(({ run }) => run.id !== "opening");
  if (!isWorthIt || size > MAX_CHARACTERS) return null;
  return {
    version: VERSION,
    savedAt: Date.now(),
    shown: kept.findIndex(({ run }) => run === shown),
    pass,
    runs: kept.map(({ run, parent, words, depth }) => ({
      lines: run.lines.join("\n"),
      parent: parent ? kept.indexOf(parent) : -1,
      words,
      depth,
    })),
  };
}

/**
 * The tree of a record; null for one that this page does not understand.
 * @param {unknown} record
 * @returns {{ nodes: Node[], shown: Run, pass: number } | null}
 */
export function treeOf(record) {
  if (!isRecord(record)) return null;
  /** @type {Node[]} */
  const nodes = [];
  for (const { lines, parent, words, depth } of record.runs) {
    const history = new History();
    history.accept(lines);
    if (!history.run) return null;
    // No more lines will come: who sent them is gone.
    history.run.isStopped = !history.run.isComplete;
    nodes.push({ run: history.run, parent: nodes[parent] ?? null, words, depth });
  }
  const shown = (nodes[record.shown] ?? nodes[0])?.run;
  return shown ? { nodes, shown, pass: record.pass } : null;
}

/**
 * @param {unknown} record
 * @returns {record is SavedTab}
 */
function isRecord(record) {
  return (
    typeof record === "object" &&
    record !== null &&
    "version" in record &&
    record.version === VERSION &&
    "runs" in record &&
    Array.isArray(record.runs)
  );
}
