// Under the hood: a panel below the staircase, opened by one button and moved by the player's own
// scrubber. Closed it draws nothing.

import { make } from "../dom/elements.js";
import { STILL } from "../dom/reveal.js";
import { CostTable } from "./cost.js";
import { MaskGrid } from "./grid.js";
import { Programs } from "./programs.js";
import { CacheStrip } from "./strip.js";

/** @import { View } from "../watch/view.js" */

export class Hood {
  /** @param {() => void} redraw */
  constructor(redraw) {
    this.redraw = redraw;
    this.isOpen = false;
    this.grid = new MaskGrid(redraw);
    this.strip = new CacheStrip();
    this.programs = new Programs();
    this.cost = new CostTable(redraw);
    this.button = make(
      "button",
      "sbd-charts-toggle",
      { type: "button", "aria-expanded": "false", title: "Under the hood (U)" },
      make("span", "sbd-charts-arrow", { "aria-hidden": "true" }),
      make("span", "", {}, "Under the hood"),
    );
    this.button.addEventListener("click", () => this.toggle());
    this.body = make(
      "div",
      "sbd-hood-body",
      { hidden: "" },
      this.grid.root,
      this.strip.root,
      make("div", "sbd-hood-pair", {}, this.programs.root, this.cost.root),
    );
    this.root = make(
      "section",
      "sbd-card sbd-hood",
      { "aria-label": "Under the hood" },
      make("div", "sbd-hood-bar", {}, this.button),
      this.body,
    );
  }

  toggle() {
    this.isOpen = !this.isOpen;
    this.body.hidden = !this.isOpen;
    this.button.setAttribute("aria-expanded", String(this.isOpen));
    this.redraw();
    if (!this.isOpen) return;
    const behavior = STILL.matches ? "auto" : "smooth";
    const show = () => this.root.scrollIntoView({ behavior, block: "start" });
    // Once it is drawn and has its height.
    requestAnimationFrame(() => requestAnimationFrame(show));
  }

  /** @param {View} view */
  update(view) {
    this.root.hidden = view.isLecture;
    if (!this.isOpen || view.isLecture) return;
    this.grid.update(view);
    this.strip.update(view);
    this.programs.update(view);
    this.cost.update(view);
  }
}
