// The cost of this forward pass: rows, operations and bytes as counted, the time measured, and the
// least time that a device's roofline allows.

import {
  costOf,
  DEVICES,
  formatLarge,
  formatShort,
  leftOutWords,
  operationWords,
  rateWords,
  rooflineOf,
} from "../core/forward/cost.js";
import { maskOf, numPromptOf } from "../core/forward/mask.js";
import { make, setText } from "../dom/elements.js";
import { unfold, withTerms } from "../dom/terms.js";

/** @import { Device } from "../core/forward/cost.js" */
/** @import { View } from "../watch/view.js" */

const UNKNOWN =
  "This run does not say which model made it: rows and measured time are here, operations and bytes are not.";
const ROWS = [
  "Rows",
  "Operations",
  "Weights read",
  "Cache read",
  "Operations a byte",
  "Measured",
  "Roofline",
];

/**
 * Says that a device's numbers differ in size from those of the trace, from which its time is computed.
 * @param {Device} device
 * @param {number} valueBytes of the trace
 */
function sizeWords({ valueBytes: own }, valueBytes) {
  return own === valueBytes ? "" : `, at ${own} bytes a weight instead of ${valueBytes}`;
}

export class CostTable {
  /** @param {() => void} redraw */
  constructor(redraw) {
    this.choice = make("select", "sbd-hood-device", { "aria-label": "Device of the roofline" });
    this.choice.addEventListener("change", redraw);
    this.cells = ROWS.map(() => ({ value: make("td"), note: make("td", "sbd-hood-note") }));
    const body = ROWS.map((name, index) => {
      const { value, note } = this.cells[index] ?? { value: "", note: "" };
      return make("tr", "", make("th", "", { scope: "row" }, name), value, note);
    });
    this.missing = make("p", "sbd-hood-words", UNKNOWN);
    this.words = make("p", "sbd-hood-words");
    const about = make("div", "", this.words);
    this.root = make(
      "section",
      "sbd-hood-cost",
      { "aria-label": "Cost" },
      make(
        "div",
        "sbd-hood-head",
        make("h3", "", ...withTerms("Cost of this [forward pass]")),
        unfold("what bounds it", about),
        this.choice,
      ),
      make("table", "sbd-hood-table", make("tbody", "", ...body)),
      about,
      this.missing,
    );
  }

  /** A device may come after the panel is built. */
  offer() {
    for (const [key, { name }] of [...DEVICES].slice(this.choice.length)) {
      this.choice.append(make("option", "", { value: key }, name));
    }
  }

  /** @param {View} view */
  update({ run, pass }) {
    this.offer();
    const step = run.main.steps[pass];
    if (!step) return;
    const cost = run.shape && costOf(run.shape, step, run.main.name, numPromptOf(run));
    this.missing.hidden = cost !== null;
    this.words.hidden = cost === null;
    this.choice.hidden = cost === null;
    const device = DEVICES.get(this.choice.value);
    if (!cost || !device) {
      const rows = maskOf(run, run.main, pass)?.visible.length ?? 0;
      this.show([
        [`${rows}`, ""],
        ["–", ""],
        ["–", ""],
        ["–", ""],
        ["–", ""],
        this.measured(step.seconds),
        ["–", ""],
      ]);
      return;
    }
    const { seconds, isMemoryBound, moving, computing } = rooflineOf(cost, device);
    const bytes = cost.weightBytes + cost.cacheBytes;
    const bound = isMemoryBound ? "moving the bytes takes longest" : "computing takes longest";
    this.show([
      [`${cost.rows}`, "tokens read, each by every layer’s weights"],
      [formatLarge(cost.flops, "FLOP"), operationWords(cost)],
      [formatLarge(cost.weightBytes, "B"), "once, however many rows"],
      [formatLarge(cost.cacheBytes, "B"), `keys and values of ${step.cached} tokens`],
      [
        (cost.flops / bytes).toFixed(1),
        "the larger this is, the less the machine waits for memory",
      ],
      this.measured(step.seconds),
      [
        formatShort(seconds),
        `the least on ${device.name}${sizeWords(device, cost.valueBytes)}${rateWords(device)}: ${bound}`,
      ],
    ]);
    const gain = computing / moving;
    const words = isMemoryBound
      ? `On ${device.name} the operations fill ${(100 * gain).toFixed(gain < 0.1 ? 1 : 0)} % of the time that the bytes need: more rows would cost almost nothing.`
      : `On ${device.name} the operations need ${gain.toFixed(1)} times as long as the bytes: every further row costs time.`;
    setText(this.words, `${words} ${leftOutWords(cost)}`);
  }

  /** @param {number} seconds @returns {[string, string]} */
  measured(seconds) {
    return [formatShort(seconds), "on the machine that decoded this run, without drawing"];
  }

  /** @param {[string, string][]} rows */
  show(rows) {
    rows.forEach(([value, note], index) => {
      const cell = this.cells[index];
      if (!cell) return;
      setText(cell.value, value);
      setText(cell.note, note);
    });
  }
}
