// The attention mask of a forward pass as a grid: a row for what the model reads, a column for what
// it may look at. Point at a row, or move along the rows by the slider, to read what it sees.

import {
  besideWords,
  cachedText,
  fewMasksWords,
  maskOf,
  maskSentences,
  ntpMaskBeside,
  numPromptOf,
  rowSentence,
  rowsOf,
  rowText,
} from "../core/forward/mask.js";
import { countOf } from "../core/numbers.js";
import { tokenMarks } from "../core/text/letters.js";
import { make, setAttribute, setText } from "../dom/elements.js";
import { unfold, withTerms } from "../dom/terms.js";
import { contextOf, drawGrid, drawNames, inksOf, planGrid, rowAt } from "./drawing.js";

/** @import { Mask, Row } from "../core/forward/mask.js" */
/** @import { Run } from "../core/run/run.js" */
/** @import { View } from "../watch/view.js" */
/** @import { GridPlan } from "./drawing.js" */

const NTP_SHARE = 0.34; // of the width, where both stand side by side
const SIDE_BY_SIDE = 860;
const MAX_KNOWN = 5000; // tokens whose letters are kept

/** @type {Map<string, string>} */
const plainTexts = new Map();

/** @param {string} text a token as its marks and letters */
function plain(text) {
  const known = plainTexts.get(text);
  if (known !== undefined) return known;
  const marked = tokenMarks(text);
  if (plainTexts.size < MAX_KNOWN) plainTexts.set(text, marked);
  return marked;
}

/** A legend: what the colours mean. @param {[name: string, words: string][]} rows */
export function makeKey(...rows) {
  const items = rows.map(([name, words]) =>
    make("span", "sbd-hood-key-item", make("i", `sbd-hood-swatch is-${name}`), words),
  );
  return make("p", "sbd-hood-key", ...items);
}

export class MaskGrid {
  /** @param {() => void} redraw */
  constructor(redraw) {
    this.redraw = redraw;
    /** @type {number | null} */
    this.hovered = null;
    /** @type {GridPlan | null} */
    this.plan = null;
    /** @type {{ run: Run, pass: number, mask: Mask, rows: Row[] } | null} */
    this.shown = null;
    this.drawn = "";
    this.canvas = make("canvas", "sbd-hood-canvas", { role: "img" });
    this.ntp = make("canvas", "sbd-hood-canvas", { role: "img" });
    this.ntpWords = make("p", "sbd-hood-note");
    this.title = make("h3", "");
    this.range = make("input", "sbd-hood-row", {
      type: "range",
      min: "1",
      max: "1",
      value: "1",
      "aria-label": "Row of the mask",
    });
    this.readout = make("p", "sbd-hood-readout");
    this.words = make("div", "sbd-hood-words");
    const head = make("div", "sbd-hood-title", this.title, unfold("the mask", this.words));
    const own = make("div", "sbd-hood-own", head, this.canvas);
    const label = make("label", "sbd-hood-slider", "Row", this.range);
    this.ntpTitle = make("h3", "", ...withTerms("[Next-token prediction]"));
    const ntpHead = make("div", "sbd-hood-title", this.ntpTitle, unfold("its mask", this.ntpWords));
    this.beside = make("div", "sbd-hood-beside", ntpHead, this.ntp, this.ntpWords);
    this.root = make(
      "section",
      "sbd-hood-mask",
      { "aria-label": "Attention mask" },
      make("div", "sbd-hood-grids", own, this.beside),
      makeKey(
        ["cached", "in the KV cache"],
        ["causal", "read causally"],
        ["block", "both ways"],
        ["none", "unseen"],
      ),
      label,
      this.readout,
      this.words,
    );
    this.listen();
  }

  listen() {
    this.canvas.addEventListener("pointermove", (event) => this.point(event.offsetY));
    this.canvas.addEventListener("pointerdown", (event) => this.point(event.offsetY));
    // The slider's row comes back: what moves the page under a pointer that rests is no wish.
    this.canvas.addEventListener("pointerleave", () => this.hover(this.rowOfSlider));
    this.range.addEventListener("input", () => this.hover(Number(this.range.value) - 1));
    this.range.addEventListener("focus", () => this.hover(this.rowOfSlider));
    this.range.addEventListener("blur", () => this.hover(null));
  }

  /** The row that the slider stands at; null while it has not the focus. */
  get rowOfSlider() {
    return document.activeElement === this.range ? Number(this.range.value) - 1 : null;
  }

  /** @param {number} y */
  point(y) {
    if (this.plan && this.shown) this.hover(rowAt(this.plan, y, this.shown.rows.length));
  }

  /** @param {number | null} row */
  hover(row) {
    if (row === this.hovered) return;
    this.hovered = row;
    this.redraw();
  }

  /** @param {View} view */
  update({ run, pass, isDark }) {
    const mask = maskOf(run, run.main, pass);
    if (!mask) return;
    const width = this.root.clientWidth;
    const row = this.hovered !== null && this.hovered < mask.visible.length ? this.hovered : null;
    const key = [run.id, pass, width, row, isDark, run.main.steps.length].join();
    if (key === this.drawn || !width) return;
    this.drawn = key;
    const rows = rowsOf(run, run.main, pass);
    this.shown = { run, pass, mask, rows };
    this.showWords(row);
    this.draw(width, row, isDark);
  }

  /** @param {number | null} row */
  showWords(row) {
    if (!this.shown) return;
    const { run, pass, mask, rows } = this.shown;
    const keys = mask.numCached + mask.visible.length;
    const size = `${countOf(rows.length, "row")}, ${countOf(keys, "key")}`;
    setText(this.title, `Attention in forward pass ${pass + 1}: ${size}`);
    const sentences = maskSentences(mask, rows);
    setAttribute(this.canvas, "aria-label", `Attention mask. ${sentences.join(" ")}`);
    const fewer = fewMasksWords(run, run.main.steps[pass]?.block.size ?? 0);
    setText(this.words, [...sentences, fewer].join(" ").trim());
    setAttribute(this.range, "max", Math.max(rows.length, 1));
    const hint = "Point at a row.";
    const sentence = row === null ? hint : rowSentence(run, mask, rows, row);
    setText(this.readout, sentence);
    if (row !== null) this.range.value = String(row + 1);
    const spoken = rowSentence(run, mask, rows, Number(this.range.value) - 1);
    setAttribute(this.range, "aria-valuetext", spoken || "no row");
    const numPrompt = numPromptOf(run);
    const beside = ntpMaskBeside(mask, rows, numPrompt);
    const words = maskSentences(beside, rows);
    setAttribute(this.ntp, "aria-label", `Its attention mask. ${words.join(" ")}`);
    setText(this.ntpWords, besideWords(run, mask, beside, numPrompt));
  }

  /** @param {number} width @param {number | null} row @param {boolean} isDark */
  draw(width, row, isDark) {
    if (!this.shown) return;
    const { run, mask, rows } = this.shown;
    const inks = inksOf(this.root, isDark);
    const isWide = width >= SIDE_BY_SIDE;
    const ntpWidth = isWide ? Math.round(width * NTP_SHARE) - 20 : width;
    const own = rows.map((each) => plain(rowText(run, each)));
    const cached = Array.from({ length: mask.numCached }, (_, i) =>
      plain(cachedText(run, run.main, i)),
    );
    const names = { cached, own };
    this.plan = planGrid(isWide ? width - ntpWidth - 20 : width, names);
    const context = contextOf(this.canvas, this.plan.width, this.plan.height);
    drawGrid(context, this.plan, mask, inks, row);
    drawNames(context, this.plan, names, inks, row);
    const beside = ntpMaskBeside(mask, rows, numPromptOf(run));
    this.ntp.hidden = !beside.visible.length;
    if (this.ntp.hidden) return;
    const next = run.ntp?.fixed.get(0)?.token;
    const text = [...cached, ...own.slice(0, mask.numCausal), plain(run.tokenText(next))];
    const { numCached: before, numCausal } = beside;
    const read = { cached: text.slice(0, before), own: text.slice(before, before + numCausal) };
    const plan = planGrid(ntpWidth, read);
    const page = contextOf(this.ntp, plan.width, plan.height);
    drawGrid(page, plan, beside, inks, null);
    drawNames(page, plan, read, inks, null);
  }
}
