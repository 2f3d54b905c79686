// Under the hood: a panel below the staircase, opened by one button and moved by the player's own
// scrubber: the mask, the KV cache, the lines of the algorithm, and the cost of the forward pass beside
// the least time that a device's roofline allows. Closed it draws nothing.

import {
  costOf,
  DEVICES,
  formatLarge,
  formatShort,
  leftOutWords,
  operationWords,
  rateWords,
  rooflineOf,
} from "../core/cost.js";
import { cacheAt, cacheSentences, maskOf } from "../core/mask.js";
import { countOf } from "../core/numbers.js";
import { programsAt } from "../core/program.js";
import { make, makeToggle, setAttribute, setText } from "../dom/elements.js";
import { scrollBehavior } from "../dom/screen.js";
import { unfold, withTerms } from "../dom/terms.js";
import { contextOf, inksOf, MaskGrid, makeKey } from "./grid.js";

/** @import { CacheStep } from "../core/mask.js" */
/** @import { Device } from "../core/cost.js" */
/** @import { Line } from "../core/program.js" */
/** @import { View } from "../watch/view.js" */

/** @param {Line} line */
function makeLine({ depth, words }) {
  const values = make("span", "sbd-hood-values");
  const root = make(
    "li",
    "sbd-hood-line",
    { "data-depth": depth },
    make("span", "", words),
    values,
  );
  return { root, values };
}

class Programs {
  constructor() {
    this.shape = "";
    /** @type {{ root: HTMLElement, values: HTMLElement }[]} */
    this.lines = [];
    this.body = make("div", "sbd-hood-program");
    const summary = make("summary", "", "Lines of the algorithm");
    this.root = make("details", "sbd-hood-programs", summary, this.body);
  }

  /** @param {View} view */
  update({ run, pass }) {
    const programs = programsAt(run, pass);
    const lines = programs.flatMap((each) => each.lines);
    const shape = lines.map(({ words }) => words).join("\n");
    if (shape !== this.shape) {
      this.shape = shape;
      this.lines = lines.map(makeLine);
      let next = 0;
      const parts = programs.map(({ title, lines: own }) => {
        const nodes = this.lines.slice(next, next + own.length).map(({ root }) => root);
        next += own.length;
        return make("div", "", make("h3", "", title), make("ol", "sbd-hood-code", ...nodes));
      });
      this.body.replaceChildren(...parts);
    }
    lines.forEach(({ isLit, values }, index) => {
      const line = this.lines[index];
      if (!line) return;
      line.root.classList.toggle("is-lit", isLit);
      setAttribute(line.root, "aria-current", isLit ? "step" : "false");
      setText(line.values, values);
    });
  }
}

const HEIGHT = 26;

class CacheStrip {
  constructor() {
    this.drawn = "";
    this.title = make("h3", "");
    this.canvas = make("canvas", "sbd-hood-canvas", { role: "img" });
    this.words = make("p", "sbd-hood-words");
    const key = makeKey(
      ["cached", "before"],
      ["causal", "written now"],
      ["rejected", "taken back"],
      ["dropped", "dropped"],
    );
    this.root = make(
      "section",
      "sbd-hood-cache",
      { "aria-label": "KV cache" },
      make("div", "sbd-hood-title", this.title, unfold("the KV cache", this.words)),
      this.canvas,
      key,
      this.words,
    );
  }

  /** @param {View} view */
  update({ run, pass, isDark }) {
    const lane = run.main;
    const cache = cacheAt(run, pass);
    const width = this.root.clientWidth;
    if (!cache || !width) return;
    const key = [run.id, pass, width, isDark, lane.steps.length].join();
    if (key === this.drawn) return;
    this.drawn = key;
    const { after, rejected, dropped, numPrompt } = cache;
    const whole = Math.max(numPrompt + lane.numCommitted, after + rejected + dropped);
    const sentences = cacheSentences(lane, pass, cache);
    setText(this.title, `KV cache: ${countOf(after, "token")}`);
    setText(this.words, sentences.join(" "));
    setAttribute(this.canvas, "aria-label", `KV cache. ${sentences[0] ?? ""}`);
    this.draw(width, whole, cache, isDark);
  }

  /**
   * A strip of tokens, each a cell; where they are too many, they melt into one another.
   * @param {number} width
   * @param {number} count of tokens
   * @param {CacheStep} cache
   * @param {boolean} isDark
   */
  draw(width, count, { before, after, rejected, dropped }, isDark) {
    const inks = inksOf(this.root, isDark);
    const context = contextOf(this.canvas, width, HEIGHT);
    const cell = width / Math.max(count, 1);
    /** @param {string} ink @param {number} from @param {number} to */
    const fill = (ink, from, to) => {
      context.fillStyle = ink;
      context.fillRect(from * cell, 0, (to - from) * cell, HEIGHT);
    };
    const [taken, end] = [after + rejected, after + rejected + dropped];
    fill(inks.none, 0, count);
    fill(inks.cached, 0, before);
    fill(inks.causal, before, after);
    fill(inks.line, after, taken);
    fill(inks.block, taken, end);
    strike(context, after * cell, end * cell, inks.text);
    if (cell < 4) return;
    context.fillStyle = inks.line;
    for (let index = 1; index < count; index += 1) context.fillRect(index * cell, 0, 1, HEIGHT);
  }
}

/**
 * Hatch what is taken back or dropped.
 * @param {CanvasRenderingContext2D} context
 * @param {number} left
 * @param {number} right
 * @param {string} ink
 */
function strike(context, left, right, ink) {
  context.save();
  context.beginPath();
  context.rect(left, 0, right - left, HEIGHT);
  context.clip();
  context.strokeStyle = ink;
  context.lineWidth = 1;
  context.beginPath();
  for (let x = left - HEIGHT; x < right; x += 6) {
    context.moveTo(x, HEIGHT);
    context.lineTo(x + HEIGHT, 0);
  }
  context.stroke();
  context.restore();
}

export class Hood {
  /** @param {() => void} redraw */
  constructor(redraw) {
    this.redraw = redraw;
    this.isOpen = false;
    this.grid = new MaskGrid(redraw);
    this.strip = new CacheStrip();
    this.programs = new Programs();
    this.cost = new CostTable(redraw);
    this.button = makeToggle("Under the hood", () => this.toggle());
    this.button.title = "Under the hood (U)";
    this.body = make(
      "div",
      "sbd-hood-body",
      { hidden: "" },
      this.grid.root,
      this.strip.root,
      make("div", "sbd-hood-pair", this.programs.root, this.cost.root),
    );
    this.root = make(
      "section",
      "sbd-card sbd-hood",
      { "aria-label": "Under the hood" },
      make("div", "sbd-hood-bar", this.button),
      this.body,
    );
  }

  toggle() {
    this.isOpen = !this.isOpen;
    this.body.hidden = !this.isOpen;
    this.button.setAttribute("aria-expanded", String(this.isOpen));
    this.redraw();
    if (!this.isOpen) return;
    const show = () => this.root.scrollIntoView({ behavior: scrollBehavior(), block: "start" });
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

/**
 * Says that a device's numbers differ in size from those of the trace, from which its time is computed.
 * @param {Device} device
 * @param {number} valueBytes of the trace
 */
function sizeWords({ valueBytes: own }, valueBytes) {
  return own === valueBytes ? "" : `, at ${own} bytes a weight instead of ${valueBytes}`;
}

class CostTable {
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
    const measured = [formatShort(step.seconds), MEASURED];
    const cost = run.shape && costOf(run.shape, step, run.main.name, run.numPrompt);
    this.missing.hidden = cost !== null;
    this.words.hidden = cost === null;
    this.choice.hidden = cost === null;
    const device = DEVICES.get(this.choice.value);
    if (!cost || !device) {
      const rows = maskOf(run, pass)?.visible.length ?? 0;
      this.show([[`${rows}`], [], [], [], [], measured]);
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
      measured,
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

  /** A value of each row, with its note; none is known of a row that is not there. @param {string[][]} rows */
  show(rows) {
    for (const [index, { value, note }] of this.cells.entries()) {
      setText(value, rows[index]?.[0] ?? "–");
      setText(note, rows[index]?.[1] ?? "");
    }
  }
}
