// Draws what a forward pass attends to: its attention mask as a grid (a row for each token read, a column for each
// token that it may attend to), and the KV cache as a strip of tokens.

import { html, nothing, render, svg } from "lit-html";
import { tokenMarks } from "../core/letters.ts";
import {
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
import { make, setAttribute } from "../dom/elements.ts";
import { unfoldTemplate } from "../dom/terms.ts";
import type { View } from "./playhead.ts";

function keyTemplate(rows: Record<string, string>) {
  const items = Object.entries(rows).map(
    ([name, words]) =>
      html`<span class="sbd-hood-key-item"
        ><i class="sbd-hood-swatch is-${name}"></i>${words}</span>`,
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
  drawnKey = "";
  range = make("input", "sbd-hood-row", {
    ...{ type: "range", min: 1, max: 1, value: 1 },
    "aria-label": "Row of the mask",
  });
  root = make("section", "sbd-hood-mask", { "aria-label": "Attention mask" });

  constructor(readonly redraw: () => void) {
    this.range.addEventListener("input", () => this.hover(Number(this.range.value) - 1));
    this.range.addEventListener("focus", () => this.hover(this.rowOfSlider));
    this.range.addEventListener("blur", () => this.hover(null));
  }

  /** The slider's row; null while the slider does not have the focus. */
  get rowOfSlider() {
    return document.activeElement === this.range ? Number(this.range.value) - 1 : null;
  }

  hover(row: number | null) {
    if (row === this.hovered) return;
    this.hovered = row;
    this.redraw();
  }

  update({ run, pass }: View) {
    const mask = maskOf(run, pass);
    if (!mask) return;
    const width = this.root.clientWidth;
    const row = this.hovered !== null && this.hovered < mask.visible.length ? this.hovered : null;
    const key = [run.id, pass, width, row, run.main.steps.length].join();
    if (key === this.drawnKey || !width) return;
    this.drawnKey = key;
    const rows = rowsOf(run, pass);
    const sentences = maskSentences(mask, rows);
    const fewer = fewMasksWords(run, run.main.steps[pass]?.block.size ?? 0);
    const size = `${countOf(rows.length, "row")}, ${countOf(mask.numCached + rows.length, "key")}`;
    setAttribute(this.range, "max", Math.max(rows.length, 1));
    if (row !== null) this.range.value = String(row + 1);
    const spoken = rowSentence(run, mask, rows, Number(this.range.value) - 1);
    setAttribute(this.range, "aria-valuetext", spoken || "no row");
    const names = {
      cached: Array.from({ length: mask.numCached }, (_, i) => tokenMarks(cachedText(run, i))),
      read: rows.map((each) => tokenMarks(rowText(run, each))),
    };
    const content = html`<div class="sbd-hood-own">
        <div class="sbd-hood-title">
          <h3>Attention in forward pass ${pass + 1}: ${size}</h3>
          ${unfoldTemplate("the mask", "sbd-hood-mask-words")}
        </div>
        ${this.grid(mask, names, width, row, `Attention mask. ${sentences.join(" ")}`)}
      </div>
      ${MASK_KEY}
      <label class="sbd-hood-slider">Row${this.range}</label>
      <p class="sbd-hood-readout"
        >${row === null ? "Point at a row." : rowSentence(run, mask, rows, row)}</p>
      <div class="sbd-hood-words" id="sbd-hood-mask-words" hidden
        >${[...sentences, fewer].join(" ").trim()}</div>`;
    render(content, this.root);
  }

  /** Return the mask as a drawing, with the tokens' names on both axes where cells are large enough. */
  grid(
    mask: Mask,
    { cached, read }: AxisNames,
    width: number,
    chosen: number | null,
    label: string,
  ) {
    const { numCausal, visible } = mask;
    const left = LETTER * Math.min(longest(read), LONGEST_DOWN) + 12; // of the first column
    const room = Math.max(width - left - 4, 60);
    const [numCached, numRows] = [cached.length, Math.max(read.length, 1)];
    const least = Math.min(0.35 * room, numCached * LARGEST_CELL);
    // The width of a column is `cell` for a token read now, `cachedCell` for a cached one.
    const cell = clamp((room - least) / numRows, 0.2, LARGEST_CELL);
    const cachedCell = clamp((room - cell * numRows) / Math.max(numCached, 1), 0.05, LARGEST_CELL);
    const start = left + numCached * cachedCell; // of the columns of tokens read now
    const columns = [
      ...cached.map((name, i) => ({ name, x: left + i * cachedCell, size: cachedCell })),
      ...read.map((name, i) => ({ name, x: start + i * cell, size: cell })),
    ];
    const named = columns.filter(({ size }) => size >= READABLE);
    const longestUp = Math.min(longest(named.map(({ name }) => name)), LONGEST_UP);
    const top = Math.max(LETTER * longestUp + 10, 20);
    const high = clamp(LARGEST_HEIGHT / numRows, 0.3, LARGEST_CELL); // height of a row
    const [end, foot] = [start + visible.length * cell, top + visible.length * high];
    const bar = (row: number, from: number, to: number) =>
      `M${from} ${top + row * high}H${to}v${high - (high >= 6 ? 1 : 0)}H${from}z`;
    /** Return what some rows see: the cache, causal tokens, and their block. */
    const seenBy = (rows: number[]) => {
      const paths = { cached: "", causal: "", block: "" };
      for (const row of rows) {
        const { seen, first, stop, isCausal } = visible[row] as Mask["visible"][number];
        paths.cached += bar(row, left, start);
        paths.causal += bar(row, start, start + seen * cell);
        paths[isCausal ? "causal" : "block"] += bar(row, start + first * cell, start + stop * cell);
      }
      return Object.entries(paths).map(([kind, d]) => svg`<path class="is-${kind}" d=${d}></path>`);
    };
    const lines = columns.filter(({ size, x }) => size >= 6 && x > left);
    const hasBoth = numCausal > 0 && numCausal < visible.length;
    const edge = hasBoth
      ? `M${left} ${top + numCausal * high}H${end}M${start + numCausal * cell} ${top}V${foot}`
      : "";
    const down = read.map((name, row) =>
      high >= READABLE || row === chosen
        ? svg`<text class="is-down ${row === chosen ? "is-chosen" : ""}" x=${left - 6} y=${top + (row + 0.5) * high}>${shorten(name, LONGEST_DOWN)}</text>`
        : nothing,
    );
    const up = named.map(({ name, x, size }) => {
      const place = `translate(${x + size / 2} ${top - 4}) rotate(-90)`;
      return svg`<text transform=${place}>${shorten(name, LONGEST_UP)}</text>`;
    });
    const isCrowded = numCached > 0 && cachedCell < READABLE;
    const point = ({ clientY, currentTarget }: PointerEvent) => {
      const y = clientY - (currentTarget as Element).getBoundingClientRect().top;
      const row = Math.floor((y - top) / high);
      this.hover(row >= 0 && row < visible.length ? row : null);
    };
    // When the pointer leaves, back to the slider's row: its keys can move the page, so that even a resting one leaves.
    return html`<svg
      class="sbd-hood-grid"
      width=${width}
      height=${foot + 2}
      role="img"
      aria-label=${label}
      @pointermove=${point}
      @pointerdown=${point}
      @pointerleave=${() => this.hover(this.rowOfSlider)}
    >
      <rect class="is-none" x=${left} y=${top} width=${end - left} height=${foot - top}></rect>
      <g class=${chosen === null ? "" : "is-pale"}>${seenBy([...visible.keys()])}</g>
      ${chosen === null ? nothing : seenBy([chosen])}
      <path class="is-line" d=${lines.map(({ x }) => `M${x} ${top}V${foot}`).join("")}></path>
      <path class="is-edge" d=${edge}></path>
      <path class="is-box" d=${chosen === null ? "" : bar(chosen, left - 1, end + 1)}></path>
      ${down}${up}
      ${isCrowded ? svg`<text x=${left + 2} y=${top - 10}>${numCached} cached</text>` : nothing}
    </svg>`;
  }
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

const LEAST_CELL = 4; // pixels of a token in the strip between which lines are drawn

export class CacheStrip {
  root = make("section", "sbd-hood-cache", { "aria-label": "KV cache" });

  update({ run, pass }: View) {
    const lane = run.main;
    const cache = cacheAt(run, pass);
    if (!cache) return;
    const { numPrompt, before, after, rejected, dropped } = cache;
    const whole = Math.max(numPrompt + lane.numCommitted, after + rejected + dropped);
    const parts = {
      cached: before,
      causal: after - before,
      rejected,
      dropped,
      none: whole - after - rejected - dropped,
    };
    const look = whole * LEAST_CELL <= this.root.clientWidth ? "has-cells" : "";
    const sentences = cacheSentences(lane, pass, cache);
    const content = html`<div class="sbd-hood-title">
        <h3>KV cache: ${countOf(after, "token")}</h3>
        ${unfoldTemplate("the KV cache", "sbd-hood-cache-words")}
      </div>
      <div
        class="sbd-hood-strip ${look}"
        style="--count: ${whole}"
        role="img"
        aria-label="KV cache. ${sentences[0]}"
        >${Object.entries(parts).map(
          ([kind, size]) => html`<i class="is-${kind}" style="flex: ${size}"></i>`,
        )}</div>
      ${CACHE_KEY}
      <p class="sbd-hood-words" id="sbd-hood-cache-words" hidden>${sentences.join(" ")}</p>`;
    render(content, this.root);
  }
}
