// The runs of this tab, kept in the browser over a reload: by the visitor, or by Gradio when the
// server was away. The tab's own storage says which record is its own, and at which address.

import { recordOf, treeOf } from "./record.js";
import { all, get, put, remove } from "./store.js";

/** @import { Node } from "../core/run/family.js" */
/** @import { Player } from "../watch/player.js" */

const TAB = "sbd-tab";
// What the page's load looks for, see flag.js: the address whose runs are kept here.
const ADDRESS = "sbd-kept";
const SAVE_MS = 400;
const DAY_MS = 86_400_000;

/** The key of this tab's record; null where the browser refuses storage. */
function tabKey() {
  try {
    const key = sessionStorage.getItem(TAB) ?? crypto.randomUUID();
    sessionStorage.setItem(TAB, key);
    return key;
  } catch {
    return null;
  }
}

/** Forget what tabs that are long gone have kept. */
async function tidy() {
  for (const { key, record } of await all()) {
    if (!(Date.now() - record?.savedAt < DAY_MS)) await remove(key);
  }
}

/**
 * What a visitor reads whose runs are there again.
 * @param {Node[]} nodes
 */
function restoredWords(nodes) {
  const isOne = nodes.length === 1;
  const runs = isOne ? "The run of this tab was" : `The ${nodes.length} runs of this tab were`;
  const isCut = nodes.some(({ run }) => run.isStopped);
  const cut = isCut ? " What was cut off can be decoded again." : "";
  return `The page was loaded anew. ${runs} kept in your browser.${cut}`;
}

/** Keeps the runs of a player. */
export class TabKeeper {
  /**
   * @param {Player} player
   * @param {AbortSignal} signal ends the keeping
   */
  constructor(player, signal) {
    this.player = player;
    this.key = tabKey();
    this.timer = 0;
    if (this.key === null) return;
    const soon = () => this.saveSoon();
    player.root.addEventListener("sbd-change", soon, { signal });
    // The page may be on its way out: what is not saved now is lost.
    const now = () => void this.save();
    addEventListener("pagehide", now, { signal });
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  /** Show the runs of this tab as they were before it was loaded anew, if it was. */
  async restore() {
    if (this.key === null || sessionStorage.getItem(ADDRESS) !== location.search) return;
    const before = this.player.run;
    try {
      const tree = treeOf(await get(this.key));
      if (tree && this.player.run === before) {
        this.player.restore(tree);
        this.player.tellVisitor(restoredWords(tree.nodes));
      }
      if (!tree) this.giveUp();
      await tidy();
    } catch {
      this.giveUp();
    }
  }

  /** The record is gone, and a linked decode was not begun for its sake: begin it. */
  giveUp() {
    sessionStorage.removeItem(ADDRESS);
    if (location.search) location.reload();
  }

  saveSoon() {
    if (this.timer) return;
    this.timer = window.setTimeout(() => this.save(), SAVE_MS);
  }

  async save() {
    clearTimeout(this.timer);
    this.timer = 0;
    const { family, run, state } = this.player;
    const record = recordOf(family, run, state.pass);
    if (!record || this.key === null) return;
    const address = location.search;
    try {
      await put(this.key, record);
      sessionStorage.setItem(ADDRESS, address);
    } catch {
      // Refused, or full: then nothing is kept.
    }
  }
}
