// How a checker judged a complete answer, and how the answer compares with next-token prediction's.

import { html } from "lit-html";
import { compareMain, type NtpComparison } from "../core/differences.ts";
import { capital } from "../core/letters.ts";
import type { Lane, Verdict } from "../core/run.ts";
import type { View } from "./playhead.ts";

// Short enough for one line of the narrowest lane, so that nothing below moves when a run ends.
const NOT_JUDGED = "Not judged: no check fits this prompt.";
const ROUNDING =
  "In this dtype here a check of many tokens rounds otherwise than a forward pass of one.";
const JUDGED = "Checks know the form’s examples as they stand, sudokus, bare sums and JSON.";

/** Return the checker's verdict (judged), null without one, and the words to show without one (open). */
export function verdictParts(verdict: Verdict | null) {
  const isJudged = verdict !== null && verdict.right !== null;
  return { judged: isJudged ? verdict : null, unjudgedWords: verdict?.words ?? NOT_JUDGED };
}

/** Return a verdict without its reason: "Right" for "Right: the answer is 12." */
export function verdictWithoutReason(words: string) {
  return words.split(":")[0]?.replace(/\.$/, "") ?? words;
}

type ChipText = {
  kind: "right" | "wrong" | "same" | "differs" | "open";
  words: string;
  reason: string;
};

/** Say how an answer differs from next-token prediction's, and why it may. */
export function compareWords({ words }: Pick<NtpComparison, "words">, exactness: string) {
  if (!words) return { words: "identical", reason: "Token for token next-token prediction’s." };
  const reason =
    `Tokens: ${words} from the answer that next-token prediction wrote by itself; a wavy line marks those here. ` +
    "Hindsight counts otherwise: it goes on from the words written here.";
  const isRounding = exactness === "equal up to rounding";
  return { words, reason: isRounding ? `${reason} ${ROUNDING}` : reason };
}

/** Return the text of the chip about a complete answer; null if there is nothing to say. */
function chipTextOf(run: View["run"], lane: Lane): ChipText | null {
  const { judged, unjudgedWords } = verdictParts(lane.verdict);
  if (!judged && (lane !== run.main || lane.finish === "stopped")) return null;
  const against = lane === run.main ? compareMain(run) : null;
  const comparison = against && compareWords(against, run.exactness);
  const right = judged?.right && `✓ ${verdictWithoutReason(judged.words).split(";")[0]}`;
  const words = [judged && (right || "✗ Wrong"), comparison?.words].filter(Boolean).join(", ");
  const reasons = [judged?.words ?? `${unjudgedWords} ${JUDGED}`, comparison?.reason];
  const unjudgedKind = against ? (against.words ? "differs" : "same") : "open";
  return {
    kind: judged ? (right ? "right" : "wrong") : unjudgedKind,
    words: capital(words) || "Not judged",
    reason: reasons.filter(Boolean).join(" "),
  };
}

/** Return the chip about a lane's answer, which is due once the lane is at its end. */
export function chipTemplate({ run, pass, isOver }: View, lane: Lane) {
  const isDue = lane.finish !== null && (isOver || pass >= lane.lastPass);
  // A lane with more passes than the run is judged at the run's end, before all its text is shown.
  const isLate = pass < lane.lastPass;
  const text = isDue ? chipTextOf(run, lane) : null;
  const when = isLate ? ` After its ${lane.steps.length} forward passes.` : "";
  const words = text ? text.reason + when : "";
  return html`<button
    type="button"
    class="sbd-verdict-chip ${text ? "is-due" : ""}"
    data-kind=${text?.kind ?? ""}
    data-words=${words}
    aria-description=${words}
    ?disabled=${!text}
    >${text ? text.words + (isLate ? " at its end" : "") : "\u200a"}</button>`;
}
