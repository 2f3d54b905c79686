// The current block: its tiles under a heading, and under them what belongs to its strategy: the
// entropy budget, or the predraft that verify used. What the tiles mean shows on request.

import { make, setText } from "../dom/elements.js";
import { question } from "../dom/terms.js";
import { Budget } from "./budget.js";
import { Tiles } from "./tiles.js";
import { Branches, makeVerifyLegend } from "./verify_legend.js";

/** @import { Actions } from "./actions.js" */
/** @import { View } from "./view.js" */

const TILES =
  "Each tile is a place of the block. In grey italics: a mask’s best guess; the bar is how unsure " +
  "the model is. Bold: revealed; ringed: in this forward pass. Choose a tile to look inside it.";

/** "Block 3 of 7", as far as that can be told. @param {View} view */
function headingOf({ run, pass }) {
  if (run.strategy === "ntp") return "Tokens to come";
  if (run.strategy === "verify") return "Draft";
  const { start } = run.windowAt(pass);
  const number = run.blockSize ? Math.floor(start / run.blockSize) + 1 : 1;
  const total = Math.ceil(run.main.numCommitted / Math.max(run.blockSize, 1));
  return `Block ${number}${run.main.finish && total >= number ? ` of ${total}` : ""}`;
}

export class BlockView {
  /** @param {Actions} actions */
  constructor(actions) {
    this.heading = make("span");
    this.tiles = new Tiles(actions);
    this.budget = new Budget(actions);
    this.branches = new Branches();
    this.legend = makeVerifyLegend();
    this.about = question("tiles", TILES);
    this.explain = make("button", "sbd-term sbd-question", {
      "aria-expanded": "false",
      "aria-label": "What the tiles of a draft mean",
    });
    this.explain.addEventListener("click", () => this.turn(!this.hasLegend));
    this.hasLegend = false;
    this.legend.hidden = true;
    this.verify = make("div", "sbd-verify-view", this.legend, this.branches.root);
    this.root = make(
      "section",
      "sbd-block-view",
      { "aria-label": "Current block" },
      make("div", "sbd-row", make("h3", "", this.heading), this.about, this.explain),
      this.tiles.root,
      this.tiles.more,
      this.verify,
      this.budget.root,
    );
    this.root.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.turn(false);
    });
  }

  /** @param {boolean} isOpen whether the legend shows */
  turn(isOpen) {
    this.hasLegend = isOpen;
    this.legend.hidden = !isOpen;
    this.explain.setAttribute("aria-expanded", String(isOpen));
  }

  /** @param {View} view */
  update(view) {
    const { strategy } = view.run;
    this.root.dataset.strategy = strategy;
    setText(this.heading, headingOf(view));
    this.tiles.update(view);
    this.about.hidden = strategy === "verify";
    this.explain.hidden = strategy !== "verify";
    this.verify.hidden = strategy !== "verify";
    this.budget.root.hidden = strategy !== "sbd";
    if (strategy === "sbd") this.budget.update(view);
    if (strategy !== "verify") return;
    this.branches.update(view);
  }
}
