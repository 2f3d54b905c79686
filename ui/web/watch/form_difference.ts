// The line that says how the form differs from the run shown, or that a new run is on its way.

import { listInWords } from "../core/numbers.ts";
import type { Run } from "../core/run.ts";
import { make, setText } from "../dom/elements.ts";
import { form, OTHER_PROMPT, onForm } from "../form/form.ts";

export const WAITING = "Yours is on its way. Until it comes, the one before it stays here.";

/** The line, hidden while the form agrees with the run and no new run is on its way. */
export class FormDifference {
  /** Whether a requested decode has not begun. */
  isWaiting = false;
  words = make("span", "", { role: "status" });
  root = make("p", "sbd-stale", { hidden: "" }, this.words);

  constructor(
    readonly getRun: () => Run | null,
    signal: AbortSignal,
  ) {
    onForm(() => this.update(), signal);
    document.addEventListener("sbd-run", () => this.update(), { signal });
  }

  update() {
    const run = this.getRun();
    const words = run ? form.differences(run) : [];
    this.root.hidden = !this.isWaiting && words.length === 0;
    if (!run || this.root.hidden) return;
    const isSamePrompt = run.isRecorded && words[0] !== OTHER_PROMPT;
    const start = isSamePrompt
      ? "A recording. Decode runs its prompt with"
      : "Not this run: the form asks for";
    setText(this.words, this.isWaiting ? WAITING : `${start} ${listInWords(words)}.`);
  }
}
