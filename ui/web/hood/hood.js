// Under the hood: a panel below the staircase, opened by one button and moved by the player's own
// scrubber. Closed it draws nothing.

import { cacheAt, cacheSentences } from "../core/forward/cache.js";
import { programsAt } from "../core/forward/program.js";
import { countOf } from "../core/numbers.js";
import { makeToggle } from "../dom/buttons.js";
import { make, setAttribute, setText } from "../dom/elements.js";
import { scrollBehavior } from "../dom/page.js";
import { unfold } from "../dom/terms.js";
import { CostTable } from "./cost.js";
import { contextOf, drawStrip, inksOf } from "./drawing.js";
import { MaskGrid, makeKey } from "./grid.js";

/** @import { Line } from "../core/forward/program.js" */
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
    const cache = cacheAt(run, lane, pass);
    const width = this.root.clientWidth;
    if (!cache || !width) return;
    const key = [run.id, pass, width, isDark, lane.steps.length].join();
    if (key === this.drawn) return;
    this.drawn = key;
    const { before, after, rejected, dropped, numPrompt } = cache;
    const whole = Math.max(numPrompt + lane.numCommitted, after + rejected + dropped);
    const sentences = cacheSentences(lane, pass, cache);
    setText(this.title, `KV cache: ${countOf(after, "token")}`);
    setText(this.words, sentences.join(" "));
    setAttribute(this.canvas, "aria-label", `KV cache. ${sentences[0] ?? ""}`);
    const inks = inksOf(this.root, isDark);
    const context = contextOf(this.canvas, width, HEIGHT);
    const written = after + rejected;
    drawStrip(
      context,
      { width, height: HEIGHT },
      whole,
      [
        { from: 0, to: before, ink: inks.cached },
        { from: before, to: after, ink: inks.causal },
        { from: after, to: written, ink: inks.line, isStruck: true },
        { from: written, to: written + dropped, ink: inks.block, isStruck: true },
      ],
      inks,
    );
  }
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
