// The staircase: x = position, y = forward pass, colour = entropy of a masked position, a dot
// where it was revealed, a box round the current pass, and next-token prediction as a diagonal.
// Point at a cell to read it; click or drag to go to its pass and position.

import { tokenName } from "../../core/letters.js";
import { clamp, formatNats, formatPercent } from "../../core/numbers.js";
import { GLOSSARY } from "../../core/words.js";
import { make, setAttribute, setStyle } from "../../dom/elements.js";
import { question } from "../../dom/terms.js";
import {
  drawAxes,
  drawBlocks,
  drawCells,
  drawCurrent,
  drawDiagonal,
  drawPasses,
  MAX_CELL_HEIGHT,
  staircaseExtent,
} from "./drawing.js";

/** @import { Run } from "../../core/run.js" */
/** @import { Geometry, StairsStyle } from "./drawing.js" */
/** @import { View } from "../view.js" */
/** @import { Actions } from "../actions.js" */

/** @typedef {{ width: number, height: number, scale: number }} Frame in pixels of the screen */
/** @typedef {(context: CanvasRenderingContext2D, from: number, to: number) => void} DrawRows */

/** A picture that is kept until its key changes. */
export class CachedPicture {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.key = "";
    this.numPasses = 0;
  }

  /**
   * Its context, cleared if the key is a new one; null where the browser has none to give.
   * @param {string} key
   * @param {Frame} frame
   */
  prepare(key, { width, height, scale }) {
    const context = this.canvas.getContext("2d");
    if (this.key !== key) {
      [this.canvas.width, this.canvas.height, this.numPasses, this.key] = [width, height, 0, key];
    }
    context?.setTransform(scale, 0, 0, scale, 0, 0);
    return context;
  }

  /**
   * Add the passes of the run that it lacks.
   * @param {Run} run
   * @param {string} key
   * @param {Frame} frame
   * @param {DrawRows} drawRows
   */
  addPasses(run, key, frame, drawRows) {
    const context = this.prepare(key, frame);
    if (context) drawRows(context, this.numPasses, run.main.steps.length);
    this.numPasses = run.main.steps.length;
  }

  /**
   * Copy the rows from `from` up to `to` to another canvas of the same scale.
   * @param {CanvasRenderingContext2D} context
   * @param {Geometry} geometry
   * @param {number} scale
   * @param {number} from
   * @param {number} to
   */
  copy(context, geometry, scale, from, to) {
    const top = Math.round(from * geometry.cellHeight * scale);
    const bottom = Math.round(to * geometry.cellHeight * scale);
    const { width } = this.canvas;
    if (bottom <= top) return;
    context.drawImage(
      this.canvas,
      0,
      top,
      width,
      bottom - top,
      0,
      top / scale,
      width / scale,
      (bottom - top) / scale,
    );
  }
}

/** Parts of a frame of the staircase that other frames share: drawn once, then copied. */
class StaircasePictures {
  constructor() {
    this.cells = new CachedPicture();
    /** The numbers of both axes and the diagonal: letters are slow to draw. */
    this.scale = new CachedPicture();
  }

  /**
   * Bring them up to date with the run and the size.
   * @param {View} view
   * @param {Geometry} geometry
   * @param {StairsStyle} style
   * @param {Frame} frame
   * @param {{ left: number, top: number }} margins where the numbers stand
   */
  update(view, geometry, style, frame, margins) {
    const { run } = view;
    const size = [...Object.values(frame), geometry.cellWidth, geometry.cellHeight, view.isDark];
    const key = [run.id, run.main.finish, ...size].join();
    const still = { ...view, pass: -1 };
    this.cells.addPasses(run, key, frame, (context, from, to) =>
      drawPasses(context, still, geometry, from, to),
    );
    const extent = staircaseExtent(run);
    const scaleKey = [...size, style.size, extent.positions, extent.passes].join();
    if (this.scale.key === scaleKey) return;
    const context = this.scale.prepare(scaleKey, frame);
    if (!context) return;
    context.translate(margins.left, margins.top);
    drawAxes(context, geometry, style, extent);
    drawDiagonal(context, geometry, style);
  }
}

const STAGE_PADDING = 6;
const SMALL_TYPE = 13; // pixels

const MAX_ANIMATED_PASSES = 160;

/**
 * Text of a cell, in two short lines; null where nothing was predicted.
 * @param {Run} run
 * @param {number} pass
 * @param {number} position
 */
function cellWords(run, pass, position) {
  const { main } = run;
  const masked = main.steps[pass]?.masked.get(position);
  const reveal = main.steps[pass]?.reveals.find((each) => each.position === position);
  if (!masked && !reveal) return null;
  const guess = reveal ?? masked?.top[0];
  const came = run.strategy === "ntp" ? "written" : "revealed";
  const state = reveal ? came : "still masked, best guess";
  const share = guess
    ? ` ${tokenName(run.shownText(guess.token))} ${formatPercent(guess.probability)}`
    : "";
  const entropy = masked ? `entropy ${formatNats(masked.entropy)} nats` : "";
  return [`Position ${position}, forward pass ${pass + 1}`, `${state}${share}`, entropy];
}

/** The page's own colours and letters. @param {HTMLElement} stage @returns {StairsStyle} */
function styleOf(stage) {
  const style = getComputedStyle(stage);
  /** @param {string} name */
  const read = (name) => style.getPropertyValue(name).trim();
  return {
    accent: read("--sbd-accent"),
    ntp: read("--sbd-ntp"),
    line: read("--sbd-line"),
    muted: read("--sbd-muted"),
    font: read("--sbd-sans"),
    size: parseFloat(read("--sbd-stairs-type")) || SMALL_TYPE,
  };
}

/** @param {string} axis @param {string} words */
function makeAxisTitle(axis, words) {
  return make("span", `sbd-stairs-axis is-${axis}`, { "aria-hidden": "true" }, words);
}

/** The staircase on its stage, with what the pointer reads out. */
export class Staircase {
  /** @param {Actions} actions */
  constructor(actions) {
    this.actions = actions;
    /** @type {Geometry | null} */
    this.geometry = null;
    this.size = { width: 0, height: 0, scale: 1 };
    /** @type {(StairsStyle & { isDark: boolean }) | null} */
    this.style = null;
    /** @type {View | null} */
    this.shown = null;
    this.frame = 0;
    /** @type {number | null} */
    this.pointed = null;
    this.pictures = new StaircasePictures();
    this.canvas = make("canvas", "sbd-stairs-canvas", { role: "img" });
    this.readout = make("div", "sbd-readout", { "aria-hidden": "true" });
    this.readout.hidden = true;
    this.stage = make(
      "div",
      "sbd-stairs-stage",
      {
        role: "group",
        tabindex: "0",
        "data-cursor": "",
        "aria-label":
          "Staircase; left and right keys move by forward passes, up and down by positions",
      },
      this.canvas,
      makeAxisTitle("across", "tokens of the answer →"),
      makeAxisTitle("down", "← forward passes"),
      this.readout,
    );
    const words = question("the staircase", GLOSSARY.staircase?.words ?? "");
    this.root = make("section", "sbd-stairs", { "aria-label": "Staircase" }, this.stage, words);
    this.listen();
  }

  listen() {
    const { stage } = this;
    stage.addEventListener("pointerdown", (event) => {
      if (!this.geometry) return;
      event.preventDefault();
      stage.setPointerCapture(event.pointerId);
      stage.focus({ preventScroll: true });
      this.seek(event);
    });
    stage.addEventListener("pointermove", (event) => {
      if (stage.hasPointerCapture(event.pointerId)) this.seek(event);
      else this.read(this.cellAt(event));
    });
    stage.addEventListener("pointerleave", () => this.read(null));
    stage.addEventListener("blur", () => this.actions.hover(null));
    new ResizeObserver(() => this.resize()).observe(stage);
  }

  /** Room for the numbers and titles of both axes. */
  get margins() {
    const type = this.style?.size ?? SMALL_TYPE;
    return { left: Math.round(type * 3.7), top: Math.round(type * 2.9) };
  }

  /** Where the cells of a run lie now. @param {Run} run @returns {Geometry} */
  measure(run) {
    const { positions, passes } = staircaseExtent(run);
    const { left, top } = this.margins;
    const width = this.size.width - left - STAGE_PADDING;
    const height = this.size.height - top - STAGE_PADDING;
    const cellWidth = width / positions;
    const cellHeight = Math.min(height / passes, Math.max(MAX_CELL_HEIGHT, cellWidth));
    return { width, height, cellWidth, cellHeight, gap: Math.min(1, cellWidth * 0.12) };
  }

  resize() {
    this.size = {
      width: this.stage.clientWidth,
      height: this.stage.clientHeight,
      scale: window.devicePixelRatio || 1,
    };
    this.style = null;
    this.draw();
  }

  /** The canvas at the screen's own resolution, cleared, its origin inside the padding; null without room. */
  prepare() {
    const { canvas, size } = this;
    const width = Math.round(size.width * size.scale);
    const height = Math.round(size.height * size.scale);
    const { left, top } = this.margins;
    if (size.width <= left + STAGE_PADDING || size.height <= top + STAGE_PADDING) {
      canvas.width = 0;
      return null;
    }
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const context = canvas.getContext("2d");
    if (!context) return null;
    context.setTransform(size.scale, 0, 0, size.scale, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    context.translate(left, top);
    return context;
  }

  draw() {
    const { shown } = this;
    // Read from the page only when it can have changed, as reading is slow.
    if (shown && this.style?.isDark !== shown.isDark) {
      this.style = { ...styleOf(this.stage), isDark: shown.isDark };
    }
    const context = shown && this.prepare();
    if (!context || !this.style) return;
    const { style, pictures } = this;
    const { width, height } = this.canvas;
    const { scale } = this.size;
    const geometry = this.measure(shown.run);
    this.geometry = geometry;
    const { left, top } = this.margins;
    pictures.update(shown, geometry, style, { width, height, scale }, { left, top });
    drawBlocks(context, shown.run, geometry, style);
    drawCells(context, shown, geometry, pictures.cells, scale);
    context.drawImage(pictures.scale.canvas, -left, -top, width / scale, height / scale);
    drawCurrent(context, shown, geometry, style);
    this.drawAgain(shown);
  }

  /**
   * While the dots of the current pass still land; not for runs too long to draw in a frame.
   * @param {View} shown
   */
  drawAgain({ run, reveals }) {
    const isShort = run.main.steps.length <= MAX_ANIMATED_PASSES;
    if (this.frame || !isShort || reveals.isOver) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /**
   * The pass and position under the pointer, not bounded by the run; null before the first frame.
   * @param {PointerEvent} event
   */
  cellAt(event) {
    if (!this.geometry) return null;
    const { cellWidth, cellHeight, width, height } = this.geometry;
    const box = this.stage.getBoundingClientRect();
    const x = event.clientX - box.left - this.margins.left;
    const y = event.clientY - box.top - this.margins.top;
    return {
      x,
      y,
      pass: Math.floor(y / cellHeight),
      position: Math.floor(x / cellWidth),
      isRight: x > width / 2,
      isLow: y > height / 2,
    };
  }

  /**
   * Go to the pass under the pointer and hold the position under it.
   * @param {PointerEvent} event
   */
  seek(event) {
    const cell = this.cellAt(event);
    if (!cell || !this.shown) return;
    const { main } = this.shown.run;
    const pass = clamp(cell.pass, 0, Math.max(main.lastPass, 0));
    this.read(null);
    this.actions.seek(pass);
    if (main.fixed.has(cell.position) || main.steps[pass]?.masked.has(cell.position)) {
      this.actions.holdAt(cell.position);
    }
  }

  /** Say beside the pointer what the cell holds. @param {ReturnType<Staircase["cellAt"]>} cell */
  read(cell) {
    const words = cell && this.shown && cellWords(this.shown.run, cell.pass, cell.position);
    const position = words ? cell.position : null;
    if (this.pointed !== position) this.actions.hover(position);
    this.pointed = position;
    this.readout.hidden = !words;
    if (!words) return;
    this.readout.replaceChildren(...words.filter(Boolean).map((line) => make("div", "", line)));
    const { isRight, isLow } = cell;
    setStyle(this.readout, "left", `${cell.x + this.margins.left + (isRight ? -12 : 12)}px`);
    setStyle(this.readout, "top", `${cell.y + this.margins.top + (isLow ? -12 : 12)}px`);
    setStyle(this.readout, "transform", `translate(${isRight ? -100 : 0}%, ${isLow ? -100 : 0}%)`);
  }

  /** @param {View} view */
  update(view) {
    this.shown = view;
    const tokens = view.run.main.numTokensAt(view.pass);
    setAttribute(
      this.canvas,
      "aria-label",
      `Staircase: ${tokens} tokens after ${view.pass + 1} ` +
        `forward passes; next-token prediction would have ${view.pass + 1}.`,
    );
    this.draw();
  }
}
