// The algorithms with the lines that this forward pass executes lit, and their variables.

import { programsAt } from "../core/forward/program.js";
import { make, setAttribute, setText } from "../dom/elements.js";

/** @import { Line } from "../core/forward/program.js" */
/** @import { View } from "../watch/view.js" */

/**
 * @param {Line} line
 */
function makeLine({ depth, words }) {
  const values = make("span", "sbd-hood-values");
  const root = make(
    "li",
    "sbd-hood-line",
    { "data-depth": depth },
    make("span", "", {}, words),
    values,
  );
  return { root, values };
}

export class Programs {
  constructor() {
    this.shape = "";
    /** @type {{ root: HTMLElement, values: HTMLElement }[]} */
    this.lines = [];
    this.root = make("section", "sbd-hood-programs", { "aria-label": "Algorithm" });
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
        return make(
          "div",
          "",
          {},
          make("h3", "", {}, title),
          make("ol", "sbd-hood-code", {}, ...nodes),
        );
      });
      this.root.replaceChildren(...parts);
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
