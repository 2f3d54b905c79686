// Whether the race on show is the one that the form would run now, and if not, what differs.

import { listInWords } from "../core/numbers.js";
import { make, setText } from "../dom/elements.js";
import { promptBox, watchForm } from "../dom/page.js";
import { numberOf } from "../form/fields.js";

/** @import { Board } from "./board.js" */
/** @import { Asked } from "./form.js" */

/**
 * Lanes that are ticked and not on the stage, or the other way round, and other gammas.
 * @param {Board} board
 * @param {Asked} asked
 */
export function laneDifferences(board, { lanes, low, high, labels }) {
  const shown = board.lanes.map(({ name }) => name);
  const added = lanes.filter((name) => !shown.includes(name));
  const left = board.lanes.filter(({ name }) => !lanes.includes(name));
  /** @type {Record<string, number | null>} */
  const gammas = { "sbd-low": low, "sbd-high": high };
  /** @param {string} name */
  const titleOf = (name) =>
    name in gammas ? `SBD, γ ${gammas[name] ?? "unset"}` : (labels[name] ?? name);
  const bounds = board.lanes.flatMap(({ name, label }) => {
    const [own, gamma] = [Number(label.split(" ").at(-1)), gammas[name]];
    if (gamma === undefined || gamma === null || !lanes.includes(name) || own === gamma) return [];
    return [`γ ${gamma} instead of ${own}`];
  });
  return [
    ...added.map((name) => `the lane “${titleOf(name)}” too`),
    ...left.map(({ name, label }) => `no lane “${name in gammas ? label : titleOf(name)}”`),
    ...bounds,
  ];
}

/**
 * What the form asks for otherwise than a decode that is shown.
 * @param {Pick<Board, "prompt" | "block_size" | "max_new_tokens">} board
 * @param {string} promptId of the form's element
 */
export function formDifferences(board, promptId) {
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

/**
 * Why Race refuses what its form asks for, "" as far as the page can tell.
 * @param {Asked} asked
 * @param {string} promptId
 */
export function refusalOf({ lanes, low, high }, promptId) {
  /** @type {Record<string, number | null>} */
  const gammas = { "sbd-low": low, "sbd-high": high };
  const chosen = Object.keys(gammas).filter((name) => lanes.includes(name));
  if (lanes.length === 0) return "no lane is checked";
  if (chosen.some((name) => (gammas[name] ?? -1) < 0)) return "a γ must be a number from 0 on";
  if (chosen.length > 1 && low === high) return "both γ are the same";
  return isPromptEmpty(promptId) ? "the prompt is empty" : "";
}

/** @param {string} promptId of the form's element */
export function isPromptEmpty(promptId) {
  return promptBox(promptId)?.value.trim() === "";
}

/**
 * What the form asks for, and whether its button runs that.
 * @param {string[]} words what is asked for otherwise
 * @param {string} button
 * @param {string} refusal why the button refuses it, "" if it does not
 * @param {boolean} hasFailed whether it was pressed, and what went wrong is said elsewhere
 */
export function wishWords(words, button, refusal, hasFailed) {
  const wish = `the form asks for ${listInWords(words)}`;
  if (refusal) return `${wish}, which ${button} refuses: ${refusal}`;
  return hasFailed ? wish : `${wish}; press ${button} to run that`;
}

/** A line over the lanes that is there while the form says otherwise, or a race is on its way. */
export class StaleRace {
  /**
   * @param {() => Board | null} shown
   * @param {string} promptId
   * @param {() => void} grewOld the race on show is another one than the form asks for
   * @param {AbortSignal} signal
   */
  constructor(shown, promptId, grewOld, signal) {
    this.shown = shown;
    this.promptId = promptId;
    this.grewOld = grewOld;
    this.isRunning = false;
    this.hasFailed = false;
    /** @type {() => Asked | null} what the form over the lanes asks for */
    this.asked = () => null;
    this.root = make("p", "sbd-stale", { role: "status", hidden: "" });
    watchForm(() => this.look(), signal);
  }

  /**
   * @param {boolean} isRunning
   * @param {boolean} [hasFailed] whether an error stands in the form
   */
  showRunning(isRunning, hasFailed = false) {
    this.isRunning = isRunning;
    this.hasFailed = hasFailed;
    this.look();
  }

  /** Another race is on show. */
  begin() {
    this.root.hidden = true;
    this.look();
  }

  look() {
    const wasHidden = this.root.hidden;
    const board = this.shown();
    const asked = this.asked();
    const words = board ? formDifferences(board, this.promptId) : [];
    if (board && asked) words.push(...laneDifferences(board, asked));
    this.root.hidden = !board || (!this.isRunning && words.length === 0);
    if (this.root.hidden) return;
    if (wasHidden) this.grewOld();
    const refusal = asked ? refusalOf(asked, this.promptId) : "";
    const wish = wishWords(words, "Race", refusal, this.hasFailed);
    const next = this.isRunning ? "yours takes its place when all lanes are home" : wish;
    setText(this.root, `Not this race: ${next}.`);
  }
}
