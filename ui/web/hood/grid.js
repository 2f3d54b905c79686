// The attention mask of a forward pass as a grid: a row for what the model reads, a column for what
// it may look at. Point at a row, or move along the rows by the slider, to read what it sees. The KV cache's
// strip is drawn with the same inks.

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
import { clamp, countOf } from "../core/numbers.js";
import { tokenMarks } from "../core/text/letters.js";
import { make, setAttribute, setStyle, setText } from "../dom/elements.js";
import { unfold, withTerms } from "../dom/terms.js";

/** @import { Mask, Row, VisibleRow } from "../core/forward/mask.js" */
/** @import { Run } from "../core/run/run.js" */
/** @import { View } from "../watch/view.js" */

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

/**
 * Give the canvas its size on the page and hand out its context, cleared.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
export function contextOf(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  setStyle(canvas, "width", `${width}px`);
  setStyle(canvas, "height", `${height}px`);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser draws on no canvas");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** @type {Map<boolean, Inks>} by whether the page is dark: to ask for a style costs a layout */
const known = new Map();

/** The page's colours. @param {HTMLElement} node @param {boolean} isDark @returns {Inks} */
export function inksOf(node, isDark) {
  const inks = known.get(isDark) ?? readInks(node);
  known.set(isDark, inks);
  return inks;
}

/** @param {HTMLElement} node @returns {Inks} */
function readInks(node) {
  const style = getComputedStyle(node);
  /** @param {string} name */
  const read = (name) => style.getPropertyValue(name).trim();
  return {
    cached: read("--sbd-hood-cached"),
    causal: read("--sbd-sbd"),
    block: read("--sbd-accent"),
    none: read("--sbd-well"),
    line: read("--sbd-card"),
    text: read("--sbd-text"),
    muted: read("--sbd-muted"),
    font: read("--sbd-mono"),
  };
}

/**
 * Colours and letters of the page.
 * @typedef {{ cached: string, causal: string, block: string, none: string, line: string, text: string, muted: string, font: string }} Inks
 */
/**
 * Where things lie, in pixels of the page.
 * @typedef {object} GridPlan
 * @property {number} width
 * @property {number} height
 * @property {number} left of the first key
 * @property {number} top of the first row
 * @property {number} cachedWidth of a cached token
 * @property {number} ownWidth of a key of this forward pass
 * @property {number} rowHeight
 */

const TYPE = 11;
const LETTER = 6.7; // pixels, of the axes' letters
const LONGEST_DOWN = 12; // letters of a token beside its row
const LONGEST_UP = 9; // and over its column
const LARGEST_CELL = 18;
const READABLE = 11; // pixels of a cell that a label fits
const LARGEST_HEIGHT = 372;

/** @typedef {{ cached: string[], own: string[] }} AxisNames tokens in the cache, and those read now */

/** @param {number} width @param {AxisNames} names @returns {GridPlan} */
export function planGrid(width, { cached, own }) {
  const left = LETTER * Math.min(longest(own), LONGEST_DOWN) + 12;
  const room = Math.max(width - left - 4, 60);
  const [numCached, numRows] = [cached.length, Math.max(own.length, 1)];
  const least = numCached ? Math.min(0.35 * room, numCached * LARGEST_CELL) : 0;
  const ownWidth = clamp((room - least) / numRows, 0.2, LARGEST_CELL);
  const cachedWidth = numCached
    ? clamp((room - ownWidth * numRows) / numCached, 0.05, LARGEST_CELL)
    : 0;
  const rowHeight = clamp(LARGEST_HEIGHT / numRows, 0.3, LARGEST_CELL);
  const named = [...(cachedWidth < READABLE ? [] : cached), ...(ownWidth < READABLE ? [] : own)];
  const top = Math.max(LETTER * Math.min(longest(named), LONGEST_UP) + 10, 20);
  const height = top + rowHeight * numRows + 2;
  return { width, height, left, top, cachedWidth, ownWidth, rowHeight };
}

/** @param {string[]} names */
function longest(names) {
  return names.reduce((most, name) => Math.max(most, name.length), 3);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {GridPlan} plan
 * @param {{ numCached: number, numCausal: number, visible: VisibleRow[] }} mask
 * @param {Inks} inks
 * @param {number | null} chosen row that is pointed at
 */
export function drawGrid(context, plan, mask, inks, chosen) {
  const { numCached, numCausal, visible } = mask;
  const { left, top, cachedWidth, ownWidth, rowHeight } = plan;
  const ownLeft = left + numCached * cachedWidth;
  const gap = rowHeight >= 6 ? 1 : 0;
  context.fillStyle = inks.none;
  context.fillRect(
    left,
    top,
    numCached * cachedWidth + visible.length * ownWidth,
    visible.length * rowHeight,
  );
  visible.forEach(({ seen, first, stop, isCausal }, index) => {
    const y = top + index * rowHeight;
    const height = rowHeight - gap;
    context.globalAlpha = chosen === null || chosen === index ? 1 : 0.3;
    context.fillStyle = inks.cached;
    context.fillRect(left, y, numCached * cachedWidth, height);
    context.fillStyle = inks.causal;
    context.fillRect(ownLeft, y, seen * ownWidth, height);
    context.fillStyle = isCausal ? inks.causal : inks.block;
    context.fillRect(ownLeft + first * ownWidth, y, (stop - first) * ownWidth, height);
  });
  context.globalAlpha = 1;
  drawLines(context, plan, mask, inks);
  if (chosen !== null && chosen < visible.length) {
    context.strokeStyle = inks.text;
    context.lineWidth = 1.5;
    const width = numCached * cachedWidth + visible.length * ownWidth;
    context.strokeRect(
      left - 1,
      top + chosen * rowHeight - 1,
      width + 2,
      Math.max(rowHeight, 3) + 1,
    );
  }
  if (numCausal && numCausal < visible.length) {
    context.fillStyle = inks.text;
    context.fillRect(left, top + numCausal * rowHeight - 1, plan.width - left, 1);
    context.fillRect(ownLeft + numCausal * ownWidth - 1, top, 1, visible.length * rowHeight);
  }
}

/**
 * Lines between the columns, where there is room for them.
 * @param {CanvasRenderingContext2D} context
 * @param {GridPlan} plan
 * @param {{ numCached: number, visible: VisibleRow[] }} mask
 * @param {Inks} inks
 */
function drawLines(context, plan, { numCached, visible }, inks) {
  const { left, top, cachedWidth, ownWidth, rowHeight } = plan;
  const height = visible.length * rowHeight;
  context.fillStyle = inks.line;
  if (cachedWidth >= 6) {
    for (let key = 1; key < numCached; key += 1)
      context.fillRect(left + key * cachedWidth, top, 1, height);
  }
  if (ownWidth >= 6) {
    for (let key = 0; key < visible.length; key += 1) {
      context.fillRect(left + numCached * cachedWidth + key * ownWidth, top, 1, height);
    }
  }
}

/**
 * The tokens on both axes, as many as can be read.
 * @param {CanvasRenderingContext2D} context
 * @param {GridPlan} plan
 * @param {AxisNames} names
 * @param {Inks} inks
 * @param {number | null} chosen
 */
export function drawNames(context, plan, { cached, own }, inks, chosen) {
  const { left, top, cachedWidth, ownWidth, rowHeight } = plan;
  context.font = `${TYPE}px ${inks.font}`;
  context.textBaseline = "middle";
  context.textAlign = "right";
  own.forEach((name, index) => {
    if (rowHeight < READABLE && chosen !== index) return;
    context.fillStyle = chosen === index ? inks.text : inks.muted;
    context.fillText(shorten(name, LONGEST_DOWN), left - 6, top + (index + 0.5) * rowHeight);
  });
  context.textAlign = "left";
  context.fillStyle = inks.muted;
  drawAcross(context, cached, left, cachedWidth, top);
  drawAcross(context, own, left + cached.length * cachedWidth, ownWidth, top);
  if (cached.length && cachedWidth < READABLE) {
    const words = `${cached.length} cached`;
    context.fillText(words, left + 2, top - 10);
  }
}

/**
 * Names over the columns, upright.
 * @param {CanvasRenderingContext2D} context
 * @param {string[]} names
 * @param {number} left
 * @param {number} width
 * @param {number} bottom
 */
function drawAcross(context, names, left, width, bottom) {
  if (width < READABLE) return;
  names.forEach((name, index) => {
    context.save();
    context.translate(left + (index + 0.5) * width, bottom - 4);
    context.rotate(-Math.PI / 2);
    context.fillText(shorten(name, LONGEST_UP), 0, 0);
    context.restore();
  });
}

/** @param {string} text @param {number} most */
function shorten(text, most) {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}

/**
 * The row at a height, null outside.
 * @param {GridPlan} plan
 * @param {number} y
 * @param {number} numRows
 */
export function rowAt({ top, rowHeight }, y, numRows) {
  const row = Math.floor((y - top) / rowHeight);
  return row >= 0 && row < numRows ? row : null;
}

/** @typedef {{ from: number, to: number, ink: string, isStruck?: boolean }} Stretch of tokens */

/**
 * A strip of tokens, each a cell; where they are too many, they melt into one another.
 * @param {CanvasRenderingContext2D} context
 * @param {{ width: number, height: number }} size
 * @param {number} count
 * @param {Stretch[]} stretches
 * @param {Inks} inks
 */
export function drawStrip(context, { width, height }, count, stretches, inks) {
  const cell = width / Math.max(count, 1);
  context.fillStyle = inks.none;
  context.fillRect(0, 0, width, height);
  for (const { from, to, ink, isStruck } of stretches) {
    context.fillStyle = ink;
    context.fillRect(from * cell, 0, (to - from) * cell, height);
    if (isStruck && to > from) drawHatch(context, from * cell, (to - from) * cell, height, inks);
  }
  if (cell < 4) return;
  context.fillStyle = inks.line;
  for (let index = 1; index < count; index += 1) context.fillRect(index * cell, 0, 1, height);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} left
 * @param {number} width
 * @param {number} height
 * @param {Inks} inks
 */
function drawHatch(context, left, width, height, inks) {
  context.save();
  context.beginPath();
  context.rect(left, 0, width, height);
  context.clip();
  context.strokeStyle = inks.text;
  context.lineWidth = 1;
  context.beginPath();
  for (let x = left - height; x < left + width; x += 6) {
    context.moveTo(x, height);
    context.lineTo(x + height, 0);
  }
  context.stroke();
  context.restore();
}
