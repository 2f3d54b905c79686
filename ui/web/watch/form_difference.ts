// The line that says how the form differs from the run shown, or that a new run is on its way.

import { listInWords } from "../core/numbers.ts";
import type { Run } from "../core/run.ts";
import { make, setText } from "../dom/elements.ts";
import { pollForm, promptBox } from "../dom/gradio.ts";
import { type Channel, channel } from "../dom/views.ts";
import { settingDifferences } from "../form/fields.ts";

const OTHER_PROMPT = "another prompt";
export const WAITING = "Yours is on its way. Until it comes, the one before it stays here.";

/** List how the form differs from a run, each difference in a few words. */
export function differences(run: Run) {
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

/** Settings to put into the form. */
export const {
  say: useSettings,
  hear: onUseSettings,
}: Channel<{ strategy: string; gamma: number; solver: string }> = channel("sbd-use-settings");

/** The line, hidden while the form agrees with the run and no new run is on its way. */
export class FormDifference {
  /** Whether a requested decode has not begun. */
  isWaiting = false;
  words: HTMLSpanElement;
  root: HTMLParagraphElement;

  constructor(
    readonly getRun: () => Run | null,
    signal: AbortSignal,
  ) {
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
