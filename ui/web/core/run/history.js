// The history of the wire: folds its lines into the latest run; drops what was seen and what
// belongs to old runs. Knows no DOM.

import { Run } from "./run.js";
import { readStep } from "./wire.js";

/** @import { WireLine } from "./wire.js" */

export class History {
  constructor() {
    /** @type {Run | null} the run on the page: the latest, or one of its family */
    this.run = null;
    /** @type {Run | null} */
    this.latest = null;
    this.lastSequence = -1;
  }

  /**
   * Read wire text. Returns "run" when a new run began, "more" for news, else null.
   * @param {string} text
   */
  accept(text) {
    /** @type {"run" | "more" | null} */
    let news = null;
    for (const row of text.split("\n")) {
      if (!row) continue;
      /** @type {WireLine} */
      const line = JSON.parse(row);
      if (line.type === "run" && line.run !== this.latest?.id) {
        this.latest = new Run(line);
        this.run = this.latest;
        news = "run";
      } else {
        if (line.run !== this.latest?.id || line.seq <= this.lastSequence) continue;
        applyLine(this.latest, line);
        news ??= "more";
      }
      this.latest?.remember(row);
      this.lastSequence = line.seq;
    }
    return news;
  }
}

/** @param {Run} run @param {WireLine} line */
function applyLine(run, line) {
  run.addTokens(line.tokens ?? {});
  if (line.type === "timing") run.timing = line;
  if (line.type !== "step" && line.type !== "end") return;
  const lane = run.lanes.get(line.lane);
  if (line.type === "step") lane?.append(readStep(line));
  else lane?.complete(line);
}
