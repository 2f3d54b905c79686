// The KV cache as a strip that grows: what was there, what this forward pass wrote, took back and
// dropped, and why what stays is exact.

import { cacheAt, cacheSentences } from "../core/forward/cache.js";
import { countOf } from "../core/numbers.js";
import { make, setAttribute, setText } from "../dom/elements.js";
import { unfold } from "../dom/terms.js";
import { contextOf, inksOf } from "./canvas.js";
import { drawStrip } from "./drawing.js";

/** @import { View } from "../watch/view.js" */

const HEIGHT = 26;

export class CacheStrip {
  constructor() {
    this.drawn = "";
    this.title = make("h3", "");
    this.canvas = make("canvas", "sbd-hood-canvas", { role: "img" });
    this.words = make("p", "sbd-hood-words");
    const rows = [
      ["cached", "before"],
      ["causal", "written now"],
      ["rejected", "taken back"],
      ["dropped", "dropped"],
    ];
    const key = rows.map(([name, words]) =>
      make("span", "sbd-hood-key-item", {}, make("i", `sbd-hood-swatch is-${name}`), words ?? ""),
    );
    this.root = make(
      "section",
      "sbd-hood-cache",
      { "aria-label": "KV cache" },
      make("div", "sbd-hood-title", {}, this.title, unfold("the KV cache", this.words)),
      this.canvas,
      make("p", "sbd-hood-key", {}, ...key),
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
