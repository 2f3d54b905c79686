// Whether the run on the stage is the one that the form would decode now, and if not, what differs.

import constants from "../constants.json" with { type: "json" };
import { make, setText } from "../dom/elements.js";
import { numberBox, promptBox, watchForm } from "../dom/page.js";

/** @import { Run } from "../core/run/run.js" */

/**
 * What the form says otherwise than a run, each in a word or two.
 * @param {Run} run
 */
function differences(run) {
  const words = [];
  const prompt = promptBox("sbd-prompt-box");
  if (prompt && prompt.value.trim() !== run.prompt.trim()) words.push("another prompt");
  const { gamma } = run.solver;
  const dial = numberBox(constants.formIds.gamma);
  if (gamma !== undefined && dial?.value && Number(dial.value) !== gamma) {
    words.push(`γ ${dial.value} instead of ${gamma}`);
  }
  const block = numberBox(constants.formIds.block);
  if (run.strategy !== "ntp" && block?.value && Number(block.value) !== run.blockSize) {
    words.push(`blocks of ${block.value} instead of ${run.blockSize}`);
  }
  return words;
}

/** A line over the stage that is there while the form says otherwise. */
export class Stale {
  /**
   * @param {() => Run | null} shown
   * @param {AbortSignal} signal
   */
  constructor(shown, signal) {
    this.shown = shown;
    this.root = make("p", "sbd-stale", { role: "status", hidden: "" });
    watchForm(() => this.look(), signal);
  }

  look() {
    const run = this.shown();
    const words = run ? differences(run) : [];
    this.root.hidden = words.length === 0;
    if (words.length) setText(this.root, `Not this run: the form asks for ${words.join(", ")}.`);
  }
}
