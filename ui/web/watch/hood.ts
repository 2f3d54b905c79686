// The panel "Under the hood" below the staircase. For the current forward pass it shows the attention mask, the KV
// cache, the lines of the algorithm that the pass executes, and its cost beside a device's roofline. While closed, the
// panel draws nothing.

import { html, render } from "lit-html";
import {
  costOf,
  countedWords,
  DEVICES,
  type Device,
  leftOutWords,
  rateWords,
  rooflineOf,
} from "../core/cost.ts";
import { maskOf } from "../core/mask.ts";
import { operationWords, sizeWords, timeWords } from "../core/numbers.ts";
import { make } from "../dom/elements.ts";
import { scrollBehavior } from "../dom/screen.ts";
import { toggleButton } from "../dom/templates.ts";
import { termTemplates, unfoldTemplate } from "../dom/terms.ts";
import { CacheStrip, MaskGrid } from "./mask_grid.ts";
import type { View } from "./playhead.ts";
import { Programs } from "./program.ts";

export class Hood {
  isOpen = false;
  grid = new MaskGrid(this.redraw);
  strip = new CacheStrip();
  programs = new Programs();
  cost = new CostTable(this.redraw);
  root = make("section", "sbd-card sbd-hood", { "aria-label": "Under the hood" });

  constructor(readonly redraw: () => void) {
    this.draw();
  }

  draw() {
    const toggle = () => this.toggle();
    const content = html`<div class="sbd-hood-bar"
        >${toggleButton("Under the hood", this.isOpen, toggle, "Under the hood (U)")}</div>
      <div class="sbd-hood-body" ?hidden=${!this.isOpen}>
        ${this.grid.root}${this.strip.root}
        <div class="sbd-hood-pair">${this.programs.root}${this.cost.root}</div>
      </div>`;
    render(content, this.root);
  }

  toggle() {
    this.isOpen = !this.isOpen;
    this.draw();
    this.redraw();
    if (!this.isOpen) return;
    const show = () => this.root.scrollIntoView({ behavior: scrollBehavior(), block: "start" });
    // Two frames later the panel is drawn and has its height.
    requestAnimationFrame(() => requestAnimationFrame(show));
  }

  update(view: View) {
    this.root.hidden = view.isLecture;
    if (!this.isOpen || view.isLecture) return;
    this.grid.update(view);
    this.strip.update(view);
    this.programs.update(view);
    this.cost.update(view);
  }
}

const UNKNOWN =
  "This run does not say which model made it: rows and measured time are here, operations and bytes are not.";
const MEASURED = "on the machine that decoded this run, without drawing";
const ROWS = [
  "Rows",
  "Operations",
  "Weights read",
  "Cache read",
  "Operations a byte",
  "Measured",
  "Roofline",
];

/** Say that a device stores a weight in another number of bytes than the run's model; "" if it does not. */
function numberWords({ valueBytes: own }: Device, valueBytes: number) {
  return own === valueBytes ? "" : `, at ${own} bytes a weight instead of ${valueBytes}`;
}

class CostTable {
  choice = make("select", "sbd-hood-device", { "aria-label": "Device of the roofline" });
  root = make("section", "sbd-hood-cost", { "aria-label": "Cost" });

  constructor(redraw: () => void) {
    this.choice.addEventListener("change", redraw);
  }

  update({ run, pass }: View) {
    // Some devices become known only after the panel is built.
    for (const [key, { name }] of [...DEVICES].slice(this.choice.length))
      this.choice.append(make("option", "", { value: key }, name));
    const step = run.main.steps[pass];
    if (!step) return;
    const measured = [timeWords(step.seconds), MEASURED];
    const cost = run.shape && costOf(run.shape, step, run.main.name, run.numPrompt);
    const device = DEVICES.get(this.choice.value);
    this.choice.hidden = cost === null;
    if (!cost || !device) {
      const rows = maskOf(run, pass)?.visible.length ?? 0;
      this.show([[`${rows}`], [], [], [], [], measured], "");
      return;
    }
    const { seconds, isMemoryBound, moving, computing } = rooflineOf(cost, device);
    const bytes = cost.weightBytes + cost.cacheBytes;
    const bound = isMemoryBound ? "moving the bytes takes longest" : "computing takes longest";
    const gain = computing / moving;
    const words = isMemoryBound
      ? `On ${device.name} the operations fill ${(100 * gain).toFixed(gain < 0.1 ? 1 : 0)} % of the time that the bytes need: more rows would cost almost nothing.`
      : `On ${device.name} the operations need ${gain.toFixed(1)} times as long as the bytes: every further row costs time.`;
    const rows = [
      [`${cost.rows}`, "tokens read, each by every layer’s weights"],
      [operationWords(cost.flops), countedWords(cost)],
      [sizeWords(cost.weightBytes), "once, however many rows"],
      [sizeWords(cost.cacheBytes), `keys and values of ${step.cached} tokens`],
      [
        (cost.flops / bytes).toFixed(1),
        "the larger this is, the less the machine waits for memory",
      ],
      measured,
      [
        timeWords(seconds),
        `the least on ${device.name}${numberWords(device, cost.valueBytes)}${rateWords(device)}: ${bound}`,
      ],
    ];
    this.show(rows, `${words} ${leftOutWords(cost)}`);
  }

  /**
   * Show the value and the note of each row; a missing value shows a dash.
   * @param words what bounds the forward pass; "" where that is unknown
   */
  show(rows: string[][], words: string) {
    const lines = ROWS.map((name, index) => {
      const [value = "–", note = ""] = rows[index] ?? [];
      return html`<tr>
        <th scope="row">${name}</th>
        <td>${value}</td>
        <td class="sbd-hood-note">${note}</td>
      </tr>`;
    });
    const content = html`<div class="sbd-hood-head">
        <h3>${termTemplates("Cost of this [forward pass]")}</h3>
        ${unfoldTemplate("what bounds it", "sbd-hood-bound")}${this.choice}
      </div>
      <table class="sbd-hood-table"><tbody>${lines}</tbody></table>
      <div id="sbd-hood-bound" hidden><p class="sbd-hood-words" ?hidden=${!words}>${words}</p></div>
      <p class="sbd-hood-words" ?hidden=${words !== ""}>${UNKNOWN}</p>`;
    render(content, this.root);
  }
}
