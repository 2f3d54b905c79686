// The line that says how the form differs from the run shown, or that a new run is on its way; in Watch and in Compare.

import { listInWords } from "../core/numbers.ts";
import { make, setStyle, setText } from "../dom/elements.ts";
import { onForm } from "../form/form.ts";

export const WAITING = "Yours is on its way. Until then this one stays.";

/** Say what the form asks for, other than the run shown. @param words differences */
export function otherRunWords(words: string[]) {
  return words.length ? `Not this run: the form asks for ${listInWords(words)}.` : "";
}

export class FormDifference {
  /** Whether a decode was asked for and nothing of it has come. */
  isWaiting = false;
  root = make("p", "sbd-stale", { role: "status", hidden: "" });

  /** @param getWords returns the line, "" if nothing differs @param onDiffer called when the line appears */
  constructor(
    readonly getWords: () => string,
    signal: AbortSignal,
    readonly onDiffer = () => {},
  ) {
    onForm(() => this.update(), signal);
    document.addEventListener("sbd-run", () => this.update(), { signal });
  }

  wait(isWaiting: boolean) {
    this.isWaiting = isWaiting;
    this.update();
  }

  update() {
    const words = this.getWords();
    const wasQuiet = this.root.hidden || this.root.classList.contains("is-quiet");
    // Once shown, the line may keep its space, so that nothing below moves when a run begins.
    this.root.classList.toggle("is-quiet", words === "");
    if (words === "") return;
    this.root.hidden = false;
    if (wasQuiet) this.onDiffer();
    // It keeps its height while it says WAITING: on a phone the differences may take more lines.
    setStyle(this.root, "min-height", this.isWaiting ? `${this.root.offsetHeight}px` : "");
    setText(this.root, this.isWaiting ? WAITING : words);
  }
}
