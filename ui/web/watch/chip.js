// The verdict on a lane's answer: a chip of at most four words; its reasons show when it is pointed
// at, tapped or reached by Tab. Not yet due it keeps its room.

import { againstPlain } from "../core/run/against.js";
import { make, setAttribute } from "../dom/elements.js";
import { explain } from "../dom/terms.js";
import { JUDGED, verdictParts } from "./verdict.js";

/** @import { Against } from "../core/run/against.js" */
/** @import { Lane } from "../core/run/lane.js" */
/** @import { View } from "./view.js" */

/** @typedef {{ kind: "right" | "wrong" | "same" | "differs" | "open", words: string, reason: string }} Said */

/**
 * How an answer stands to next-token prediction's.
 * @param {Against} against
 */
function besidePlain({ count }) {
  if (!count) return { words: "same words", reason: "Token for token next-token prediction’s." };
  const words = `${count} ${count === 1 ? "token differs" : "tokens differ"}`;
  return { words, reason: `${words} from next-token prediction’s; a wavy line marks those here.` };
}

/**
 * What a chip says of a whole answer; null for one that it has nothing to say of.
 * @param {View["run"]} run
 * @param {Lane} lane
 * @returns {Said | null}
 */
export function saidOf(run, lane) {
  const { judged, open } = verdictParts(lane.verdict);
  const against = lane === run.main ? againstPlain(run) : null;
  const beside = against && besidePlain(against);
  if (judged) {
    const [kind, sign] = judged.right
      ? /** @type {const} */ (["right", "✓ Right"])
      : /** @type {const} */ (["wrong", "✗ Wrong"]);
    const words = beside ? `${sign}, ${beside.words}` : sign;
    return { kind, words, reason: [judged.words, beside?.reason].filter(Boolean).join(" ") };
  }
  if (lane !== run.main || lane.finish === "stopped") return null;
  if (!beside) return { kind: "open", words: "Not judged", reason: `${open} ${JUDGED}` };
  const words = beside.words.charAt(0).toUpperCase() + beside.words.slice(1);
  const kind = against?.count ? "differs" : "same";
  return { kind, words, reason: `${beside.reason} ${open} ${JUDGED}` };
}

export class Chip {
  constructor() {
    this.root = make("button", "sbd-verdict-chip", { type: "button" });
    /** @type {unknown[]} what it was made of last */
    this.shown = [];
  }

  /**
   * @param {View} view
   * @param {Lane} lane
   */
  update({ run, pass, isLecture }, lane) {
    const isDue = lane.finish !== null && pass >= Math.min(lane.lastPass, run.main.lastPass);
    const shown = [run, lane, isDue, run.isComplete, isLecture];
    if (shown.every((each, index) => each === this.shown[index])) return;
    this.shown = shown;
    const said = isDue ? saidOf(run, lane) : null;
    this.root.classList.toggle("is-due", said !== null);
    setAttribute(this.root, "data-kind", said?.kind ?? "");
    this.root.disabled = said === null;
    const isLate = lane.lastPass > run.main.lastPass;
    const when = isLate ? ` After its ${lane.steps.length} forward passes.` : "";
    explain(this.root, said?.words ?? "\u200a", said ? said.reason + when : "");
  }
}
