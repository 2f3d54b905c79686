// The line that says how the form differs from the run shown, or that a new run is on its way.

import { listInWords } from "../core/numbers.js";
import { make, setText } from "../dom/elements.js";
import { pollForm, promptBox } from "../dom/gradio.js";
import { channel } from "../dom/views.js";
import { settingDifferences } from "../form/fields.js";

/** @import { Channel } from "../dom/views.js" */
/** @import { Run } from "../core/run.js" */

const OTHER_PROMPT = "another prompt";
export const WAITING = "Yours is on its way. Until it comes, the one before it stays here.";

/** List how the form differs from a run, each difference in a few words. @param {Run} run */
export function differences(run) {
  if (run.isConversation) return []; // the form cannot continue a conversation, so there is nothing to compare
  const prompt = promptBox("sbd-prompt-box");
  const isOther = prompt !== null && prompt.value.trim() !== run.prompt.trim();
  const system = promptBox("sbd-system-box");
  const isOtherSystem = system !== null && system.value.trim() !== run.system.trim();
  return [
    ...(isOther ? [OTHER_PROMPT] : []),
    ...(isOtherSystem ? ["another system message"] : []),
    ...settingDifferences(run),
  ];
}

/** Settings to put into the form. @type {Channel<{ strategy: string, gamma: number, solver: string }>} */
export const { say: useSettings, hear: onUseSettings } = channel("sbd-use-settings");

/** The line, hidden while the form agrees with the run and no new run is on its way. */
export class FormDifference {
  /** @param {() => Run | null} getRun @param {AbortSignal} signal */
  constructor(getRun, signal) {
    this.getRun = getRun;
    /** Whether a requested decode has not begun. */
    this.isWaiting = false;
    this.words = make("span", "", { role: "status" });
    this.root = make("p", "sbd-stale", { hidden: "" }, this.words);
    pollForm(() => this.update(), signal);
    document.addEventListener("sbd-run", () => this.update(), { signal });
  }

  update() {
    const run = this.getRun();
    const words = run ? differences(run) : [];
    this.root.hidden = !this.isWaiting && words.length === 0;
    if (!run || this.root.hidden) return;
    if (this.isWaiting) {
      setText(this.words, WAITING);
      return;
    }
    const isSamePrompt = run.isRecorded && words[0] !== OTHER_PROMPT;
    const start = isSamePrompt
      ? "A recording. Decode runs its prompt with"
      : "Not this run: the form asks for";
    setText(this.words, `${start} ${listInWords(words)}.`);
  }
}
