// One lane: its name, how far it is, and its text.

import constants from "../../constants.json" with { type: "json" };
import { make, setAttribute, setStyle, setText } from "../../dom/elements.js";
import { inHall, ROOM, Verdict, verdictParts } from "../verdict.js";
import { LaneText } from "./text.js";

/** @import { Lane } from "../../core/run/lane.js" */
/** @import { Run } from "../../core/run/run.js" */
/** @import { Actions } from "../actions.js" */
/** @import { View } from "../view.js" */

/** @type {Readonly<Record<string, string>>} */
const LANE_TITLES = constants.laneNames;

/**
 * Next-token prediction reads no text to its right: tokens given to the run are not for it.
 * @param {Run} run
 * @param {Lane} lane
 */
function laneTitle(run, lane) {
  const title = LANE_TITLES[lane.name] ?? lane.name;
  return run.pins.size > lane.pins.size ? `${title}, from the prompt alone` : title;
}

/** A lane's head over its text. */
export class LaneView {
  /**
   * @param {string} label
   * @param {Actions} actions
   */
  constructor(label, actions) {
    this.name = make("h2", "sbd-lane-name");
    this.tokens = make("span");
    this.pass = make("span", "sbd-lane-pass");
    this.place = make("span", "sbd-lane-place", {}, this.tokens, this.pass);
    this.fill = make("span", "sbd-lane-fill");
    this.cut = make("span", "sbd-lane-cut");
    this.doubts = make("button", "sbd-lane-doubts", { type: "button" });
    this.doubts.addEventListener("click", actions.toggleHindsight);
    this.text = new LaneText(label, actions);
    this.verdict = new Verdict();
    this.root = make(
      "section",
      "sbd-lane",
      {},
      make(
        "div",
        "sbd-lane-head",
        {},
        this.name,
        make("span", "sbd-lane-meter", { "aria-hidden": "true" }, this.fill),
        this.cut,
        this.doubts,
        this.place,
      ),
      this.verdict.root,
      this.text.root,
    );
  }

  /**
   * @param {View} view
   * @param {Lane} lane
   */
  update(view, lane) {
    const pass = Math.min(view.pass, lane.lastPass);
    const tokens = lane.numTokensAt(pass);
    const isWhole = lane.finish !== null;
    setText(this.name, laneTitle(view.run, lane));
    setAttribute(this.root, "data-lane", lane.name);
    // Until its end is seen a lane may hold more tokens than its answer will have.
    const whole = isWhole && tokens <= lane.numCommitted ? ` of ${lane.numCommitted}` : "";
    setText(this.tokens, `${tokens}${whole} tokens`);
    setText(this.pass, ` · forward pass ${pass + 1}${isWhole ? ` of ${lane.steps.length}` : ""}`);
    const share = isWhole ? Math.min(tokens / Math.max(lane.numCommitted, 1), 1) : 0;
    setStyle(this.fill, "width", `${share * 100}%`);
    this.cut.hidden = lane.finish !== "length" || view.pass < lane.lastPass;
    setText(this.cut, `cut off: the limit is ${view.run.maxNewTokens ?? tokens} tokens`);
    this.showDoubts(view, lane);
    this.showVerdict(view, lane, isWhole);
    this.text.update(view, lane);
  }

  /**
   * A lane that is slower than the main one is judged when that ends: at which pass is said too.
   * @param {View} view
   * @param {Lane} lane
   * @param {boolean} isWhole
   */
  showVerdict({ pass, run, isLecture }, lane, isWhole) {
    const isLate = lane.lastPass > run.main.lastPass;
    const isDue = isWhole && pass >= Math.min(lane.lastPass, run.main.lastPass);
    const when = isLate ? `after its ${lane.steps.length} forward passes` : "";
    // Said once, of the main lane; a run that was stopped has no answer.
    const isOpen = lane === run.main && isWhole && lane.finish !== "stopped";
    const { judged, open } = verdictParts(lane.verdict);
    // A hall is told why of the main lane alone: the staircase needs the room.
    const said = isLecture ? inHall(judged, lane === run.main ? ROOM.line : 0) : judged;
    this.verdict.show(said, isDue, when, isOpen ? open : "");
  }

  /**
   * How many tokens hindsight disagrees with; pressed, the text marks them.
   * @param {View} view
   * @param {Lane} lane
   */
  showDoubts(view, lane) {
    const count = lane.disagreementsAt(view.pass).length;
    this.doubts.hidden = lane !== view.run.main || view.run.strategy !== "sbd";
    this.doubts.disabled = count === 0;
    const numRead = lane.numReadAgainAt(view.pass);
    const isNever = lane.finish !== null && lane.numReadAgainAt(lane.lastPass) === 0;
    const none = `hindsight: nothing ${isNever ? "is read again" : "read again yet"}`;
    setText(this.doubts, numRead ? `hindsight disagrees with ${count} of ${numRead}` : none);
    setAttribute(this.doubts, "aria-pressed", view.showsHindsight && count > 0);
    setAttribute(
      this.doubts,
      "title",
      "Tokens for which the causal forward pass over the finished block, next-token prediction, " +
        "would have said another, of those read again so far; the last block, where it had masks, never is",
    );
  }
}
