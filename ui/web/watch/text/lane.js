// One lane: its name, how far it is, and its text.

import { LANE_TITLES } from "../../core/names.js";
import { make, setAttribute, setStyle, setText } from "../../dom/elements.js";
import { makeRamp } from "../../dom/legend.js";
import { Chip } from "../chip.js";
import { LaneText } from "./text.js";

/** @import { Lane } from "../../core/run/lane.js" */
/** @import { Run } from "../../core/run/run.js" */
/** @import { Actions } from "../actions.js" */
/** @import { View } from "../view.js" */

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
    this.place = make("span", "sbd-lane-place");
    this.fill = make("span", "sbd-lane-fill");
    this.cut = make("span", "sbd-lane-cut");
    this.chip = new Chip();
    this.ramp = makeRamp();
    this.text = new LaneText(label, actions);
    this.root = make(
      "section",
      "sbd-lane",
      {},
      make("span", "sbd-lane-meter", { "aria-hidden": "true" }, this.fill),
      make("div", "sbd-lane-head", {}, this.name, this.chip.root, this.cut, this.ramp, this.place),
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
    const isMain = lane === view.run.main;
    setText(this.name, laneTitle(view.run, lane));
    setAttribute(this.root, "data-lane", lane.name);
    // Until its end is seen a lane may hold more tokens than its answer will have.
    const whole = isWhole && tokens <= lane.numCommitted ? ` of ${lane.numCommitted}` : "";
    setText(this.place, `${tokens}${whole} tokens`);
    const isColoured = isMain && view.run.strategy !== "ntp";
    this.ramp.hidden = !isColoured;
    const share = isWhole ? Math.min(tokens / Math.max(lane.numCommitted, 1), 1) : 0;
    setStyle(this.fill, "width", `${share * 100}%`);
    this.cut.hidden = lane.finish !== "length" || view.pass < lane.lastPass;
    setText(this.cut, `cut off: the limit is ${view.run.config.max_new_tokens} tokens`);
    this.chip.update(view, lane);
    this.text.update(view, lane);
  }
}
