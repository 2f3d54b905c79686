// Keeps this tab's runs in the browser's database over a reload, which Gradio also does after the server was away.
// Session storage holds the key of the tab's record and the address that its runs belong to.

import { createStore, del, entries, get, set } from "idb-keyval";
import { History, type Run } from "./core/run.ts";
import type { Player } from "./watch/player.ts";
import type { RunTree, TreeNode } from "./watch/tree.ts";

const STORE = createStore("sbd", "tabs");

/** parent: index of the parent run, -1 for none */
type SavedRun = { lines: string; parent: number; words: string; depth: number };
type SavedTab = { version: number; savedAt: number; shown: number; pass: number; runs: SavedRun[] };

const VERSION = 2;
const MAX_RUNS = 64;
const MAX_CHARACTERS = 20_000_000;

/** Return a record of all runs, the one shown and its pass; null if the runs are too large or not worth keeping. */
export function recordOf({ nodes }: RunTree, shown: Run | null, pass: number): SavedTab | null {
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

/** Return the tree of runs in a record; null if there is none, or if this page cannot read it. */
export function treeOf(
  record: SavedTab | undefined,
): { nodes: TreeNode[]; shown: Run; pass: number } | null {
  if (record?.version !== VERSION) return null;
  const nodes: TreeNode[] = [];
  for (const { lines, parent, words, depth } of record.runs) {
    const history = new History();
    history.accept(lines);
    if (!history.run) return null;
    // No more lines will come for a run that the reload cut off.
    history.run.isStopped = !history.run.isComplete;
    nodes.push({ run: history.run, parent: nodes[parent] ?? null, words, depth });
  }
  const shown = (nodes[record.shown] ?? nodes[0])?.run;
  return shown ? { nodes, shown, pass: record.pass } : null;
}

const TAB_KEY = "sbd-tab";
// Key of the address whose runs are kept; saved_runs_flag.ts reads it too.
const ADDRESS_KEY = "sbd-kept";
const SAVE_MS = 400;
const DAY_MS = 86_400_000;

/** Return the key of this tab's record; null if the browser refuses storage. */
function tabKey() {
  try {
    const key = sessionStorage.getItem(TAB_KEY) ?? crypto.randomUUID();
    sessionStorage.setItem(TAB_KEY, key);
    return key;
  } catch {
    return null;
  }
}

/** Delete records that are more than a day old. */
async function tidy() {
  for (const [key, record] of await entries(STORE)) {
    if (!(Date.now() - record?.savedAt < DAY_MS)) await del(key, STORE);
  }
}

/** Return a message for a visitor whose runs were restored. */
function restoredWords(nodes: TreeNode[]) {
  const isOne = nodes.length === 1;
  const runs = isOne ? "The run of this tab was" : `The ${nodes.length} runs of this tab were`;
  const isCut = nodes.some(({ run }) => run.isStopped);
  const cut = isCut ? " What was cut off can be decoded again." : "";
  return `The page was loaded anew. ${runs} kept in your browser.${cut}`;
}

export class TabKeeper {
  key: string | null;
  timer = 0;

  /** @param signal ends the saving */
  constructor(
    readonly player: Player,
    signal: AbortSignal,
  ) {
    this.key = tabKey();
    if (this.key === null) return;
    const soon = () => this.saveSoon();
    player.root.addEventListener("sbd-change", soon, { signal });
    // The page may be closing, and runs that are not saved now would be lost.
    const now = () => void this.save();
    addEventListener("pagehide", now, { signal });
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  /** Show the runs that this tab had before a reload, if there was one. */
  async restore() {
    if (this.key === null || sessionStorage.getItem(ADDRESS_KEY) !== location.search) return;
    const before = this.player.run;
    try {
      const tree = treeOf(await get(this.key, STORE));
      if (tree && this.player.run === before) {
        this.player.restore(tree);
        this.player.showMessage(restoredWords(tree.nodes));
      }
      if (!tree) this.dropRecord();
      await tidy();
    } catch {
      this.dropRecord();
    }
  }

  /** Drop a record that cannot be read. A linked page reloads, as its decode was left out because of the record. */
  dropRecord() {
    sessionStorage.removeItem(ADDRESS_KEY);
    if (location.search) location.reload();
  }

  saveSoon() {
    if (this.timer) return;
    this.timer = window.setTimeout(() => this.save(), SAVE_MS);
  }

  async save() {
    clearTimeout(this.timer);
    this.timer = 0;
    const { runTree, run, state } = this.player;
    const record = recordOf(runTree, run, state.pass);
    if (!record || this.key === null) return;
    const address = location.search;
    try {
      await set(this.key, record, STORE);
      sessionStorage.setItem(ADDRESS_KEY, address);
    } catch {
      // Storage is refused or full: nothing is kept.
    }
  }
}
