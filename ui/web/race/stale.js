// Whether the race on show is the one that the form would run now, and if not, what differs.

import { make, setText } from "../dom/elements.js";
import { promptBox, watchForm } from "../dom/page.js";
import { numberOf } from "../form/fields.js";

/** @import { Board } from "./board.js" */

/**
 * @param {Board} board
 * @param {string} promptId of the form's element
 */
function differences(board, promptId) {
  const words = [];
  const prompt = promptBox(promptId)?.value.trim();
  if (prompt !== undefined && prompt !== board.prompt.trim()) words.push("another prompt");
  const block = numberOf("block_size");
  if (block !== null && block !== board.block_size)
    words.push(`blocks of ${block} instead of ${board.block_size}`);
  const longest = numberOf("max_new_tokens");
  if (longest !== null && longest !== board.max_new_tokens)
    words.push(`at most ${longest} tokens instead of ${board.max_new_tokens}`);
  return words;
}

/** A line over the lanes that is there while the form says otherwise, or a race is on its way. */
export class StaleRace {
  /**
   * @param {() => Board | null} shown
   * @param {string} promptId
   * @param {AbortSignal} signal
   */
  constructor(shown, promptId, signal) {
    this.shown = shown;
    this.promptId = promptId;
    this.isRunning = false;
    this.root = make("p", "sbd-stale", { role: "status", hidden: "" });
    watchForm(() => this.look(), signal);
  }

  /** @param {boolean} isRunning */
  showRunning(isRunning) {
    this.isRunning = isRunning;
    this.look();
  }

  look() {
    const board = this.shown();
    const words = board ? differences(board, this.promptId) : [];
    this.root.hidden = !board || (!this.isRunning && words.length === 0);
    if (this.root.hidden) return;
    const asked = `the form asks for ${words.join(", ")}`;
    const next = this.isRunning ? "yours takes its place when all lanes are home" : asked;
    setText(this.root, `Not this race: ${next}.`);
  }
}
