// Whether the run on the stage is the one that the form would decode now, and if not, what differs.

import { make, setText } from "../dom/elements.js";
import { promptBox, watchForm } from "../dom/page.js";
import { settingDifferences } from "../form/fields.js";

/** @import { Run } from "../core/run/run.js" */

/**
 * What the form says otherwise than a run, each in a few words.
 * @param {Run} run
 */
function differences(run) {
  const prompt = promptBox("sbd-prompt-box");
  const isOther = prompt !== null && prompt.value.trim() !== run.prompt.trim();
  return [...(isOther ? ["another prompt"] : []), ...settingDifferences(run)];
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
