// How a checker judged a complete answer, and how the answer compares with next-token prediction's.

import { againstPlain } from "../core/differences.js";
import { capital } from "../core/letters.js";
import { make, setAttribute, setText } from "../dom/elements.js";
import { explain } from "../dom/terms.js";

/** @import { Lane, Verdict as Checked } from "../core/run.js" */
/** @import { Against } from "../core/differences.js" */
/** @import { View } from "./playhead.js" */

// Short enough for one line of the narrowest lane, so that nothing below moves when a run ends.
const NOT_JUDGED = "Not judged: no check fits this prompt.";
const ROUNDING =
  "In this dtype here a check of many tokens rounds otherwise than a forward pass of one.";
const JUDGED = "Checks know the form’s examples as they stand, sudokus, bare sums and JSON.";

/**
 * Return the checker's verdict (judged), null without one, and the words to show without one (open).
 * @param {Checked | null} verdict
 */
export function verdictParts(verdict) {
  const isJudged = verdict !== null && verdict.right !== null;
  return { judged: isJudged ? verdict : null, open: verdict?.words ?? NOT_JUDGED };
}

/** Return a verdict without its reason: "Right" for "Right: the answer is 12." @param {string} words */
export function briefly(words) {
  return words.split(":")[0]?.replace(/\.$/, "") ?? words;
}

/** The line with one lane's verdict; it keeps its height while the answer is incomplete. */
export class Verdict {
  constructor() {
    this.root = make("p", "sbd-verdict");
  }

  /**
   * @param {Checked | null} verdict null if nothing could check the answer
   * @param {boolean} isWhole whether the answer is complete, and shown to its end
   * @param {string} without words for a complete answer that nothing could check
   */
  show(verdict, isWhole, without) {
    const isRight = Boolean(verdict?.right);
    const words = verdict ? `${isRight ? "✓" : "✗"} ${verdict.words}` : without;
    this.root.hidden = words === "";
    this.root.classList.toggle("is-open", verdict === null);
    this.root.classList.toggle("is-right", isWhole && isRight);
    this.root.classList.toggle("is-wrong", isWhole && verdict !== null && !isRight);
    setText(this.root, isWhole ? words : "\u200a");
    setAttribute(this.root, "title", isWhole ? (verdict?.words ?? "") : "");
  }
}

/** @typedef {{ kind: "right" | "wrong" | "same" | "differs" | "open", words: string, reason: string }} Said */

/**
 * Say how an answer differs from next-token prediction's, and why it may.
 * @param {Against} against
 * @param {string} exactness of verify, as the run states it
 */
export function besidePlain({ words }, exactness) {
  if (!words) return { words: "identical", reason: "Token for token next-token prediction’s." };
  const reason =
    `Tokens: ${words} from the answer that next-token prediction wrote by itself; a wavy line marks those here. ` +
    "Hindsight counts otherwise: it goes on from the words written here.";
  const isRounding = exactness === "equal up to rounding";
  return { words, reason: isRounding ? `${reason} ${ROUNDING}` : reason };
}

/**
 * Return the text of the chip about a complete answer; null if there is nothing to say.
 * @param {View["run"]} run
 * @param {Lane} lane
 * @returns {Said | null}
 */
function saidOf(run, lane) {
  const { judged, open } = verdictParts(lane.verdict);
  const against = lane === run.main ? againstPlain(run) : null;
  const beside = against && besidePlain(against, run.exactness);
  if (judged) {
    const [kind, sign] = judged.right
      ? /** @type {const} */ (["right", `✓ ${briefly(judged.words).split(";")[0]}`])
      : /** @type {const} */ (["wrong", "✗ Wrong"]);
    const words = beside ? `${sign}, ${beside.words}` : sign;
    return { kind, words, reason: [judged.words, beside?.reason].filter(Boolean).join(" ") };
  }
  if (lane !== run.main || lane.finish === "stopped") return null;
  if (!beside) return { kind: "open", words: "Not judged", reason: `${open} ${JUDGED}` };
  const kind = against?.words ? "differs" : "same";
  return { kind, words: capital(beside.words), reason: `${beside.reason} ${open} ${JUDGED}` };
}

export class Chip {
  constructor() {
    this.root = make("button", "sbd-verdict-chip");
    /** @type {unknown[]} the inputs of the last update */
    this.shown = [];
  }

  /** @param {View} view @param {Lane} lane */
  update({ run, pass, isLecture }, lane) {
    const isDue = lane.finish !== null && pass >= Math.min(lane.lastPass, run.main.lastPass);
    const shown = [run, lane, isDue, run.isComplete, isLecture];
    if (shown.every((each, index) => each === this.shown[index])) return;
    this.shown = shown;
    const said = isDue ? saidOf(run, lane) : null;
    // A lane with more passes than the run is judged at the run's end, before all its text is shown.
    const isLate = lane.lastPass > run.main.lastPass;
    this.root.classList.toggle("is-due", said !== null);
    setAttribute(this.root, "data-kind", said?.kind ?? "");
    this.root.disabled = said === null;
    const when = isLate ? ` After its ${lane.steps.length} forward passes.` : "";
    explain(
      this.root,
      said ? said.words + (isLate ? " at its end" : "") : "\u200a",
      said ? said.reason + when : "",
    );
  }
}
