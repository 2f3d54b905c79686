// Draws what a forward pass attends to: its attention mask as a grid (a row for each token read, a column for each
// token that it may attend to), and the KV cache as a strip of tokens.

import { html, render } from "lit-html";
import { tokenMarks } from "../core/letters.ts";
import {
  type CacheStep,
  cacheAt,
  cachedText,
  cacheSentences,
  fewMasksWords,
  type Mask,
  maskOf,
  maskSentences,
  rowSentence,
  rowsOf,
  rowText,
} from "../core/mask.ts";
import { clamp, countOf } from "../core/numbers.ts";
import { make, setAttribute, setStyle } from "../dom/elements.ts";
import { unfoldTemplate } from "../dom/terms.ts";
import type { View } from "./playhead.ts";

const markedTexts: Map<string, string> = new Map();

/** Return tokenMarks(text), remembered. */
function markedText(text: string) {
  const marked = markedTexts.get(text) ?? tokenMarks(text);
  markedTexts.set(text, marked);
  return marked;
}

function keyTemplate(rows: Record<string, string>) {
  const items = Object.entries(rows).map(
    ([name, words]) =>
      html`<span class="sbd-hood-key-item"
        ><i class="sbd-hood-swatch is-${name}"></i>${words}</span
      >`,
  );
  return html`<p class="sbd-hood-key">${items}</p>`;
}

const MASK_KEY = keyTemplate({
  cached: "in the KV cache",
  causal: "read causally",
  block: "both ways",
  none: "unseen",
});
const CACHE_KEY = keyTemplate({
  cached: "before",
  causal: "written now",
  rejected: "taken back",
  dropped: "dropped",
});

export class MaskGrid {
  hovered: number | null = null;
  drawing: GridDrawing | null = null;
  drawnKey = "";
  canvas = make("canvas", "sbd-hood-canvas", { role: "img" });
  range = make("input", "sbd-hood-row", {
    ...{ type: "range", min: 1, max: 1, value: 1 },
    "aria-label": "Row of the mask",
  });
  root = make("section", "sbd-hood-mask", { "aria-label": "Attention mask" });

  constructor(readonly redraw: () => void) {
    this.listen();
  }

  listen() {
    this.canvas.addEventListener("pointermove", (event) => this.point(event.offsetY));
    this.canvas.addEventListener("pointerdown", (event) => this.point(event.offsetY));
    // Back to the slider's row: its keys can move the page, so that even a resting pointer leaves.
    this.canvas.addEventListener("pointerleave", () => this.hover(this.rowOfSlider));
    this.range.addEventListener("input", () => this.hover(Number(this.range.value) - 1));
    this.range.addEventListener("focus", () => this.hover(this.rowOfSlider));
    this.range.addEventListener("blur", () => this.hover(null));
  }

  /** The slider's row; null while the slider does not have the focus. */
  get rowOfSlider() {
    return document.activeElement === this.range ? Number(this.range.value) - 1 : null;
  }

  point(y: number) {
    if (this.drawing) this.hover(this.drawing.rowAt(y));
  }

  hover(row: number | null) {
    if (row === this.hovered) return;
    this.hovered = row;
    this.redraw();
  }

  update({ run, pass, isDark }: View) {
    const mask = maskOf(run, pass);
    if (!mask) return;
    const width = this.root.clientWidth;
    const row = this.hovered !== null && this.hovered < mask.visible.length ? this.hovered : null;
    const key = [run.id, pass, width, row, isDark, run.main.steps.length].join();
    if (key === this.drawnKey || !width) return;
    this.drawnKey = key;
    const rows = rowsOf(run, pass);
    const sentences = maskSentences(mask, rows);
    const fewer = fewMasksWords(run, run.main.steps[pass]?.block.size ?? 0);
    const size = `${countOf(rows.length, "row")}, ${countOf(mask.numCached + mask.visible.length, "key")}`;
    setAttribute(this.canvas, "aria-label", `Attention mask. ${sentences.join(" ")}`);
    setAttribute(this.range, "max", Math.max(rows.length, 1));
    if (row !== null) this.range.value = String(row + 1);
    const spoken = rowSentence(run, mask, rows, Number(this.range.value) - 1);
    setAttribute(this.range, "aria-valuetext", spoken || "no row");
    const content = html`<div class="sbd-hood-own">
        <div class="sbd-hood-title">
          <h3>Attention in forward pass ${pass + 1}: ${size}</h3>
          ${unfoldTemplate("the mask", "sbd-hood-mask-words")}
        </div>
        ${this.canvas}
      </div>
      ${MASK_KEY}
      <label class="sbd-hood-slider">Row${this.range}</label>
      <p class="sbd-hood-readout"
        >${row === null ? "Point at a row." : rowSentence(run, mask, rows, row)}</p
      >
      <div class="sbd-hood-words" id="sbd-hood-mask-words" hidden
        >${[...sentences, fewer].join(" ").trim()}</div
      >`;
    render(content, this.root);
    const cached = Array.from({ length: mask.numCached }, (_, i) => markedText(cachedText(run, i)));
    const read = rows.map((each) => markedText(rowText(run, each)));
    const inks = inksOf(this.root, isDark);
    this.drawing = new GridDrawing(this.canvas, width, mask, { cached, read }, inks, row);
  }
}

/** Give the canvas its size and return its context, cleared. */
function contextOf(canvas: HTMLCanvasElement, width: number, height: number) {
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

const INKS = {
  cached: "--sbd-hood-cached",
  causal: "--sbd-sbd",
  block: "--sbd-accent",
  none: "--sbd-well",
  line: "--sbd-card",
  text: "--sbd-text",
  muted: "--sbd-muted",
  font: "--sbd-mono",
};

/** colours and font of the page */
type Inks = typeof INKS;

/** by whether the page is dark; remembered, as reading a style costs a layout */
const inksByScheme: Map<boolean, Inks> = new Map();

function inksOf(node: HTMLElement, isDark: boolean) {
  const inks = inksByScheme.get(isDark) ?? { ...INKS };
  if (inksByScheme.has(isDark)) return inks;
  const style = getComputedStyle(node);
  for (const name of Object.keys(INKS) as (keyof Inks)[])
    inks[name] = style.getPropertyValue(INKS[name]).trim();
  inksByScheme.set(isDark, inks);
  return inks;
}

const LETTER = 6.7; // pixels, the width of a letter on the axes
const LONGEST_DOWN = 12; // letters shown of a token beside its row
const LONGEST_UP = 9; // letters shown of a token over its column
const LARGEST_CELL = 18;
const READABLE = 11; // pixels that a cell needs for a label
const LARGEST_HEIGHT = 372;

/** cached: tokens in the cache; read: tokens read now */
type AxisNames = { cached: string[]; read: string[] };

function longest(names: string[]) {
  return names.reduce((most, name) => Math.max(most, name.length), 3);
}

function shorten(text: string, most: number) {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}

/** A mask on a canvas, with the tokens' names on both axes where cells are large enough. */
class GridDrawing {
  width: number;
  gridLeft: number;
  cell: number;
  cachedCell: number;
  readLeft: number;
  rowHeight: number;
  gridTop: number;
  context: CanvasRenderingContext2D;

  constructor(
    canvas: HTMLCanvasElement,
    width: number,
    readonly mask: Mask,
    names: AxisNames,
    readonly inks: Inks,
    readonly hoveredRow: number | null,
  ) {
    this.width = width;
    const { cached, read } = names;
    this.gridLeft = LETTER * Math.min(longest(read), LONGEST_DOWN) + 12; // of the first column
    const room = Math.max(width - this.gridLeft - 4, 60);
    const [numCached, numRows] = [cached.length, Math.max(read.length, 1)];
    const least = numCached ? Math.min(0.35 * room, numCached * LARGEST_CELL) : 0;
    // The width of a column is `cell` for a token read now, `cachedCell` for a cached one.
    this.cell = clamp((room - least) / numRows, 0.2, LARGEST_CELL);
    const rest = (room - this.cell * numRows) / Math.max(numCached, 1);
    this.cachedCell = numCached ? clamp(rest, 0.05, LARGEST_CELL) : 0;
    this.readLeft = this.gridLeft + numCached * this.cachedCell;
    this.rowHeight = clamp(LARGEST_HEIGHT / numRows, 0.3, LARGEST_CELL); // height of a row
    const isNamed = (size: number) => size >= READABLE;
    const named = [
      ...(isNamed(this.cachedCell) ? cached : []),
      ...(isNamed(this.cell) ? read : []),
    ];
    this.gridTop = Math.max(LETTER * Math.min(longest(named), LONGEST_UP) + 10, 20);
    this.context = contextOf(canvas, width, this.gridTop + this.rowHeight * numRows + 2);
    this.drawRows();
    this.drawLines();
    this.drawNames(names);
  }

  fill(ink: string, x: number, y: number, width: number, height: number) {
    this.context.fillStyle = ink;
    this.context.fillRect(x, y, width, height);
  }

  drawRows() {
    const { context, inks, gridLeft, readLeft, gridTop, cell, rowHeight, hoveredRow } = this;
    const { visible } = this.mask;
    const width = readLeft - gridLeft + visible.length * cell;
    const height = rowHeight - (rowHeight >= 6 ? 1 : 0);
    this.fill(inks.none, gridLeft, gridTop, width, visible.length * rowHeight);
    visible.forEach(({ seen, first, stop, isCausal }, index) => {
      const y = gridTop + index * rowHeight;
      context.globalAlpha = hoveredRow === null || hoveredRow === index ? 1 : 0.3;
      this.fill(inks.cached, gridLeft, y, readLeft - gridLeft, height);
      this.fill(inks.causal, readLeft, y, seen * cell, height);
      const ink = isCausal ? inks.causal : inks.block;
      this.fill(ink, readLeft + first * cell, y, (stop - first) * cell, height);
    });
    context.globalAlpha = 1;
  }

  /** Draw lines between wide columns, a box round the chosen row, and lines after the causal rows and columns. */
  drawLines() {
    const { context, inks, gridLeft, readLeft, gridTop, cell, cachedCell, rowHeight, hoveredRow } =
      this;
    const { numCached, numCausal, visible } = this.mask;
    const height = visible.length * rowHeight;
    for (let key = 1; cachedCell >= 6 && key < numCached; key += 1)
      this.fill(inks.line, gridLeft + key * cachedCell, gridTop, 1, height);
    for (let key = 0; cell >= 6 && key < visible.length; key += 1)
      this.fill(inks.line, readLeft + key * cell, gridTop, 1, height);
    if (hoveredRow !== null && hoveredRow < visible.length) {
      context.strokeStyle = inks.text;
      context.lineWidth = 1.5;
      const width = readLeft - gridLeft + visible.length * cell;
      context.strokeRect(
        gridLeft - 1,
        gridTop + hoveredRow * rowHeight - 1,
        width + 2,
        Math.max(rowHeight, 3) + 1,
      );
    }
    if (!numCausal || numCausal === visible.length) return;
    this.fill(inks.text, gridLeft, gridTop + numCausal * rowHeight - 1, this.width - gridLeft, 1);
    this.fill(inks.text, readLeft + numCausal * cell - 1, gridTop, 1, height);
  }

  drawNames({ cached, read }: AxisNames) {
    const { context, inks, gridLeft, gridTop, rowHeight, hoveredRow } = this;
    context.font = `11px ${inks.font}`;
    context.textBaseline = "middle";
    context.textAlign = "right";
    read.forEach((name, index) => {
      if (rowHeight < READABLE && hoveredRow !== index) return;
      context.fillStyle = hoveredRow === index ? inks.text : inks.muted;
      context.fillText(
        shorten(name, LONGEST_DOWN),
        gridLeft - 6,
        gridTop + (index + 0.5) * rowHeight,
      );
    });
    context.textAlign = "left";
    context.fillStyle = inks.muted;
    this.drawAcross(cached, gridLeft, this.cachedCell);
    this.drawAcross(read, this.readLeft, this.cell);
    if (cached.length && this.cachedCell < READABLE)
      context.fillText(`${cached.length} cached`, gridLeft + 2, gridTop - 10);
  }

  /** Draw names upwards over the columns. */
  drawAcross(names: string[], left: number, width: number) {
    if (width < READABLE) return;
    const { context } = this;
    names.forEach((name, index) => {
      context.save();
      context.translate(left + (index + 0.5) * width, this.gridTop - 4);
      context.rotate(-Math.PI / 2);
      context.fillText(shorten(name, LONGEST_UP), 0, 0);
      context.restore();
    });
  }

  /** Return the row at a height; null outside the grid. */
  rowAt(y: number) {
    const row = Math.floor((y - this.gridTop) / this.rowHeight);
    return row >= 0 && row < this.mask.visible.length ? row : null;
  }
}

const HEIGHT = 26; // pixels, height of the strip

export class CacheStrip {
  drawnKey = "";
  canvas = make("canvas", "sbd-hood-canvas", { role: "img" });
  root = make("section", "sbd-hood-cache", { "aria-label": "KV cache" });

  update({ run, pass, isDark }: View) {
    const lane = run.main;
    const cache = cacheAt(run, pass);
    const width = this.root.clientWidth;
    if (!cache || !width) return;
    const key = [run.id, pass, width, isDark, lane.steps.length].join();
    if (key === this.drawnKey) return;
    this.drawnKey = key;
    const { after, rejected, dropped, numPrompt } = cache;
    const whole = Math.max(numPrompt + lane.numCommitted, after + rejected + dropped);
    const sentences = cacheSentences(lane, pass, cache);
    setAttribute(this.canvas, "aria-label", `KV cache. ${sentences[0] ?? ""}`);
    const content = html`<div class="sbd-hood-title">
        <h3>KV cache: ${countOf(after, "token")}</h3>
        ${unfoldTemplate("the KV cache", "sbd-hood-cache-words")}
      </div>
      ${this.canvas}${CACHE_KEY}
      <p class="sbd-hood-words" id="sbd-hood-cache-words" hidden>${sentences.join(" ")}</p>`;
    render(content, this.root);
    this.draw(width, whole, cache, isDark);
  }

  /** Draw the strip, a cell for each token, with lines between the cells where they are wide enough. */
  draw(
    width: number,
    count: number,
    { before, after, rejected, dropped }: CacheStep,
    isDark: boolean,
  ) {
    const inks = inksOf(this.root, isDark);
    const context = contextOf(this.canvas, width, HEIGHT);
    const cell = width / Math.max(count, 1);
    const fill = (ink: string, from: number, to: number) => {
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

/** Hatch the part of the strip whose tokens are taken back or dropped. */
function strike(context: CanvasRenderingContext2D, left: number, right: number, ink: string) {
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
