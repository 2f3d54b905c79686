// What a run by verify has under its tiles: the drafts made ahead, and what the tiles mean.

import { make } from "../../dom/elements.js";
import { Branches } from "./branches.js";
import { makeVerifyLegend } from "./legend.js";

/** @import { View } from "../view.js" */

/** Hidden while another strategy is on the stage. */
export class VerifyView {
  constructor() {
    this.branches = new Branches();
    this.legend = makeVerifyLegend();
    this.root = make("div", "sbd-verify-view", {}, this.branches.root, this.legend.root);
  }

  /** @param {View} view */
  update(view) {
    this.root.hidden = view.run.strategy !== "verify";
    if (this.root.hidden) return;
    this.branches.update(view);
    this.legend.update(view);
  }
}
