// Right or wrong, as a checker said it of a whole answer: a sign and a sentence.

import { make, setAttribute, setText } from "../dom/elements.js";

/** @import { Verdict as Said } from "../core/run/wire.js" */

const SIGNS = { right: "✓", wrong: "✗" };

/** Letters of a reason that a hall has room for in a column beside a lane. */
export const ROOM = { column: 50 };

// In one line of the narrowest lane, so that nothing below moves when a run ends.
const NOT_JUDGED = "Not judged: no check fits this prompt.";
export const JUDGED = "Checks know the form’s examples as they stand, sudokus, bare sums and JSON.";

/**
 * What a checker said, null if none did; and what stands for it then, the reason if one is known.
 * @param {Said | null} verdict
 */
export function verdictParts(verdict) {
  const isJudged = verdict !== null && verdict.right !== null;
  return { judged: isJudged ? verdict : null, open: verdict?.words ?? NOT_JUDGED };
}

/**
 * A verdict without its reason: "Right" of "Right: the answer is 12."
 * @param {string} words
 */
export function briefly(words) {
  return words.split(":")[0]?.replace(/\.$/, "") ?? words;
}

/**
 * A verdict as it stands in a lecture: without a reason that has no room there.
 * @param {Said | null} verdict
 * @param {number} room letters
 */
export function inHall(verdict, room) {
  const isLong = verdict !== null && verdict.words.length > room;
  return isLong ? { ...verdict, words: briefly(verdict.words) } : verdict;
}

/** The line of one lane; it keeps its room while the answer is still on its way. */
export class Verdict {
  constructor() {
    this.root = make("p", "sbd-verdict");
  }

  /**
   * @param {Said | null} verdict null: nothing could check the answer
   * @param {boolean} isWhole whether the whole answer is known and due
   * @param {string} [when] said too if the answer is whole only later
   * @param {string} [without] said of a whole answer that nothing could check
   */
  show(verdict, isWhole, when = "", without = "") {
    this.root.hidden = verdict === null && !without;
    this.root.classList.toggle("is-open", verdict === null);
    if (verdict === null) {
      this.root.classList.remove("is-right", "is-wrong");
      setText(this.root, isWhole ? without : "\u200a");
      setAttribute(this.root, "title", isWhole && without === NOT_JUDGED ? JUDGED : "");
      return;
    }
    const kind = verdict.right ? "right" : "wrong";
    this.root.classList.toggle("is-right", isWhole && kind === "right");
    this.root.classList.toggle("is-wrong", isWhole && kind === "wrong");
    const words = `${SIGNS[kind]} ${verdict.words}${when && ` (${when})`}`;
    setText(this.root, isWhole ? words : "\u200a");
    setAttribute(this.root, "title", isWhole ? verdict.words : "");
  }
}
