// Whether the lanes on show are those that the form would run now, and if not, what differs.

import { listInWords } from "../core/numbers.js";
import { laneTitle } from "../core/words.js";
import { make, setStyle, setText } from "../dom/elements.js";
import { promptBox, watchForm } from "../dom/gradio.js";
import { dialDifferences } from "../form/fields.js";
import { WAITING } from "../watch/stale.js";

/** @import { Run } from "../core/run.js" */

/**
 * Lanes that are chosen and not on the stage, or the other way round.
 * @param {string[]} shown
 * @param {string[]} chosen
 */
export function laneDifferences(shown, chosen) {
  const added = chosen.filter((lane) => !shown.includes(lane));
  const left = shown.filter((lane) => !chosen.includes(lane));
  return [
    ...added.map((lane) => `“${laneTitle(lane)}” too`),
    ...left.map((lane) => `no “${laneTitle(lane)}”`),
  ];
}

/**
 * The differences between the form and a decode that is shown, in what Compare takes of it.
 * @param {Pick<Run, "prompt" | "config">} run
 * @param {string} promptId of the form's element
 */
function formDifferences({ prompt: shown, config }, promptId) {
  const { block_size, max_new_tokens } = config;
  const prompt = promptBox(promptId)?.value.trim();
  return [
    ...(prompt !== undefined && prompt !== shown.trim() ? ["another prompt"] : []),
    ...dialDifferences({ block_size, max_new_tokens }),
  ];
}

/**
 * Text of the line.
 * @param {string[]} words what is asked for otherwise
 * @param {string} refusal why Compare refuses it, "" if it does not
 * @param {boolean} hasFailed whether it was pressed, and what went wrong is said elsewhere
 */
export function wishWords(words, refusal, hasFailed) {
  const wish = `the form asks for ${listInWords(words)}`;
  if (refusal) return `${wish}, which Compare refuses: ${refusal}`;
  return hasFailed ? wish : `${wish}; press Compare to run that`;
}

/** A line over the lanes that is there while the form says otherwise. */
export class StaleLine {
  /**
   * @param {() => Run | null} shown
   * @param {() => string[]} chosen lanes
   * @param {string} promptId
   * @param {() => void} grewOld the lanes on show are others than the form asks for
   * @param {AbortSignal} signal
   */
  constructor(shown, chosen, promptId, grewOld, signal) {
    this.shown = shown;
    this.chosen = chosen;
    this.promptId = promptId;
    this.grewOld = grewOld;
    this.hasFailed = false;
    /** Whether Compare was pressed and no lane of it has come yet. */
    this.isWaiting = false;
    this.root = make("p", "sbd-stale", { role: "status", hidden: "" });
    watchForm(() => this.look(), signal);
  }

  /** The reason why Compare refuses the form, "" as far as the page can tell. */
  get refusal() {
    if (this.chosen().length === 0) return "no way to decode is chosen";
    return promptBox(this.promptId)?.value.trim() === "" ? "the prompt is empty" : "";
  }

  look() {
    const run = this.shown();
    const wasQuiet = this.root.hidden || this.root.classList.contains("is-quiet");
    const words = run
      ? [
          ...formDifferences(run, this.promptId),
          ...laneDifferences([...run.lanes.keys()], this.chosen()),
        ]
      : [];
    // Its room stays once it was there: what stands below does not move when a run begins.
    this.root.classList.toggle("is-quiet", words.length === 0);
    if (words.length === 0) return;
    this.root.hidden = false;
    if (wasQuiet) this.grewOld();
    const wish = `Not this run: ${wishWords(words, this.refusal, this.hasFailed)}.`;
    // On a phone the wish may take a line more than what is said while it waits.
    setStyle(this.root, "min-height", this.isWaiting ? `${this.root.offsetHeight}px` : "");
    setText(this.root, this.isWaiting ? WAITING : wish);
  }
}
