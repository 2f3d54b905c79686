// The staircase, a picture of a run: columns are positions, rows forward passes, colours the entropy of masked
// positions, dots reveals, the box the current pass, and the diagonal next-token prediction. The visitor points at a
// cell to read it, and clicks or drags to go to its pass and position.

import { html, render } from "lit-html";
import constants from "../constants.json" with { type: "json" };
import { entropyColour, inkOn } from "../core/colours.ts";
import { tokenName } from "../core/letters.ts";
import { clamp, formatNats, formatPercent, tickStep } from "../core/numbers.ts";
import type { Run } from "../core/run.ts";
import { GLOSSARY } from "../core/words.ts";
import { make, setAttribute } from "../dom/elements.ts";
import { questionTemplate } from "../dom/templates.ts";
import type { Actions } from "./actions.ts";
import type { View } from "./playhead.ts";

const STAGE_PADDING = 6;
const SMALL_TYPE = 13; // pixels, size of the axes' letters

const STAGE_LABEL =
  "Staircase; left and right keys move by forward passes, up and down by positions";

/** Describe a cell in short lines, some of them empty; null if the pass neither predicted nor revealed the position. */
function cellWords(run: Run, pass: number, position: number) {
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

/** Read what the style sheet gives the canvas; width, height: of the stage, in pixels of the page. */
function styleOf(stage: HTMLElement, isDark: boolean) {
  const style = getComputedStyle(stage);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    accent: read("--sbd-accent"),
    ntp: read("--sbd-ntp"),
    line: read("--sbd-line"),
    muted: read("--sbd-muted"),
    font: read("--sbd-sans"),
    size: parseFloat(read("--sbd-stairs-type")) || SMALL_TYPE,
    width: stage.clientWidth,
    height: stage.clientHeight,
    isDark,
  };
}

function makeAxisTitle(axis: string, words: string) {
  return make("span", `sbd-stairs-axis is-${axis}`, { "aria-hidden": "true" }, words);
}

export class Staircase {
  geometry: Geometry | null = null;
  /** null after the stage was resized */
  style: ReturnType<typeof styleOf> | null = null;
  view: View | null = null;
  hoveredPosition: number | null = null;
  canvas = make("canvas", "sbd-stairs-canvas", { role: "img" });
  readout = make("div", "sbd-readout", { "aria-hidden": "true", hidden: "" });
  stage = make(
    "div",
    "sbd-stairs-stage",
    { role: "group", tabindex: "0", "data-cursor": "", "aria-label": STAGE_LABEL },
    this.canvas,
    makeAxisTitle("across", "tokens of the answer →"),
    makeAxisTitle("down", "← forward passes"),
    this.readout,
  );
  root = make("section", "sbd-stairs", { "aria-label": "Staircase" });

  constructor(readonly actions: Actions) {
    const words = `${GLOSSARY.staircase?.words} Press or drag to go to a forward pass.`;
    render(html`${this.stage}${questionTemplate("the staircase", words)}`, this.root);
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
      else this.showReadout(this.cellAt(event));
    });
    stage.addEventListener("pointerleave", () => this.showReadout(null));
    stage.addEventListener("blur", () => this.actions.hover(null));
    const resize = () => {
      this.style = null;
      this.draw();
    };
    new ResizeObserver(resize).observe(stage);
  }

  /** The space for the numbers and titles of both axes, in pixels of the page. */
  get margins() {
    const type = this.style?.size ?? SMALL_TYPE;
    return { left: Math.round(type * 3.7), top: Math.round(type * 2.9) };
  }

  draw() {
    const { view, canvas } = this;
    if (!view) return;
    // Read the style only when it may have changed, as reading it is slow.
    if (this.style?.isDark !== view.isDark) this.style = styleOf(this.stage, view.isDark);
    const { style } = this;
    const { left, top } = this.margins;
    const width = style.width - left - STAGE_PADDING;
    const height = style.height - top - STAGE_PADDING;
    const hasRoom = width > 0 && height > 0;
    const scale = window.devicePixelRatio || 1;
    // A new size, even the same, also clears the canvas.
    canvas.width = hasRoom ? Math.round(style.width * scale) : 0;
    canvas.height = Math.round(style.height * scale);
    const context = canvas.getContext("2d");
    if (!context || !hasRoom) return;
    context.setTransform(scale, 0, 0, scale, left * scale, top * scale);
    this.geometry = drawStaircase(context, view, width, height, style);
    drawAxes(context, this.geometry, style, staircaseExtent(view.run));
  }

  /** Return the pass and position under the pointer, maybe outside the run; null before the first frame. */
  cellAt(event: PointerEvent) {
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

  /** Go to the pass under the pointer, and hold the position if it has a cell or a token. */
  seek(event: PointerEvent) {
    const cell = this.cellAt(event);
    if (!cell || !this.view) return;
    const { main } = this.view.run;
    const pass = clamp(cell.pass, 0, Math.max(main.lastPass, 0));
    this.showReadout(null);
    this.actions.seek(pass);
    if (main.fixed.has(cell.position) || main.steps[pass]?.masked.has(cell.position)) {
      this.actions.setHeld(cell.position);
    }
  }

  /** Show beside the pointer what a cell holds. @param cell null hides it */
  showReadout(cell: ReturnType<Staircase["cellAt"]>) {
    const words = cell && this.view && cellWords(this.view.run, cell.pass, cell.position);
    const position = words ? cell.position : null;
    if (this.hoveredPosition !== position) this.actions.hover(position);
    this.hoveredPosition = position;
    this.readout.hidden = !words;
    if (!words) return;
    const { isRight, isLow } = cell;
    render(
      words.filter(Boolean).map((line) => html`<div>${line}</div>`),
      this.readout,
    );
    Object.assign(this.readout.style, {
      left: `${cell.x + this.margins.left + (isRight ? -12 : 12)}px`,
      top: `${cell.y + this.margins.top + (isLow ? -12 : 12)}px`,
      transform: `translate(${isRight ? -100 : 0}%, ${isLow ? -100 : 0}%)`,
    });
  }

  update(view: View) {
    this.view = view;
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

/** Round a growing number up, in steps of an eighth to a quarter of it, so that the result changes seldom. */
function roundUp(count: number) {
  const step = Math.max(8, 2 ** Math.floor(Math.log2(Math.max(count, 1) / 4)));
  return Math.ceil(count / step) * step;
}

/** Return the size of the grid in cells: the run so far, and some more while it grows. */
function staircaseExtent(run: Run) {
  const { main } = run;
  let positions = MIN_POSITIONS;
  for (const step of main.steps)
    positions = Math.max(positions, step.block.start + step.block.size);
  positions = Math.max(positions, main.numCommitted);
  const passes = main.steps.length;
  const [width, height] =
    main.finish === null ? [roundUp(positions), roundUp(passes)] : [positions, passes];
  return { positions: width, passes: Math.max(MIN_PASSES, height) };
}

const MIN_POSITIONS = 32;

const MIN_PASSES = 12;

const MAX_CELL_HEIGHT = 22;

const LATER_OPACITY = 0.28; // opacity of the forward passes after the current one
const AFTER_END_OPACITY = 0.3; // opacity of a cell after the end of the answer, as known at its forward pass

type StairsView = Pick<View, "run" | "pass" | "isDark" | "focus" | "showsFocus">;

/** of the grid, in pixels of the page; gap: between two cells */
type Geometry = Record<"width" | "height" | "cellWidth" | "cellHeight" | "gap", number>;
/** colours and font; size: of the letters, in pixels */
type StairsStyle = Record<"accent" | "ntp" | "line" | "muted" | "font", string> & { size: number };

/**
 * Draw a run where the context's origin is: its cells and dots up to before the pass `stop`, the diagonal of next-token
 * prediction, and a box round the current pass. Return the geometry of the grid.
 */
export function drawStaircase(
  context: CanvasRenderingContext2D,
  view: StairsView,
  width: number,
  height: number,
  style: StairsStyle,
  stop = view.run.main.steps.length,
): Geometry {
  const { positions, passes } = staircaseExtent(view.run);
  const cellWidth = width / positions;
  const cellHeight = Math.min(height / passes, Math.max(MAX_CELL_HEIGHT, cellWidth));
  const geometry = { width, height, cellWidth, cellHeight, gap: Math.min(1, cellWidth * 0.12) };
  drawBlocks(context, view.run, geometry, style);
  drawPasses(context, view, geometry, stop);
  drawDiagonal(context, geometry, style);
  drawCurrent(context, view, geometry, style);
  return geometry;
}

function drawBlocks(
  context: CanvasRenderingContext2D,
  run: Run,
  geometry: Geometry,
  style: StairsStyle,
) {
  context.strokeStyle = style.line;
  context.lineWidth = 1;
  for (const pass of run.blockPasses) {
    const x = Math.round(run.main.steps[pass].block.start * geometry.cellWidth) - 0.5;
    if (x <= 0) continue;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, geometry.height);
    context.stroke();
  }
}

/** Number both axes: positions from 0 above the grid, forward passes from 1 on its left, down to its foot. */
export function drawAxes(
  context: CanvasRenderingContext2D,
  geometry: Geometry,
  style: StairsStyle,
  { positions, passes }: { positions: number; passes: number },
) {
  const { cellWidth, cellHeight } = geometry;
  const rows = Math.max(passes, Math.floor(geometry.height / cellHeight));
  context.fillStyle = style.muted;
  context.font = `400 ${style.size}px ${style.font}`;
  context.textBaseline = "alphabetic";
  context.textAlign = "center";
  const across = tickStep(style.size * 2.4, cellWidth);
  for (let position = 0; position < positions; position += across) {
    const half = context.measureText(String(position)).width / 2;
    const middle = Math.min((position + 0.5) * cellWidth, geometry.width - half);
    context.fillText(String(position), middle, -style.size * 0.35);
  }
  context.textAlign = "right";
  context.textBaseline = "middle";
  const down = tickStep(style.size * 1.3, cellHeight);
  for (let pass = 1; pass <= rows; pass += pass === 1 && down > 1 ? down - 1 : down) {
    context.fillText(String(pass), -style.size * 0.5, (pass - 0.5) * cellHeight);
  }
  context.textBaseline = "alphabetic";
}

/** Draw the cells and dots of the passes before `stop`, those after the current one pale. */
export function drawPasses(
  context: CanvasRenderingContext2D,
  view: StairsView,
  geometry: Geometry,
  stop: number,
) {
  const { main } = view.run;
  const { cellWidth, cellHeight, gap } = geometry;
  const inks = view.isDark ? constants.inks.dark : constants.inks.light;
  const [width, height] = [cellWidth - gap, cellHeight - gap];
  const radius = clamp(Math.min(cellWidth, cellHeight) * 0.22, 1, 5);
  for (const [pass, { masked, reveals }] of main.steps.slice(0, stop).entries()) {
    const y = pass * cellHeight;
    const fade = (position: number) => {
      const later = pass > view.pass ? LATER_OPACITY : 1;
      context.globalAlpha = later * (main.isAfterEnd(position, pass) ? AFTER_END_OPACITY : 1);
    };
    for (const { position, entropy } of masked.values()) {
      fade(position);
      context.fillStyle = entropyColour(entropy, view.isDark);
      context.fillRect(position * cellWidth, y, width, height);
    }
    for (const { position } of reveals) {
      const cell = masked.get(position); // none under the dot of a position that was not masked then
      fade(position);
      context.fillStyle = cell ? inkOn(cell.entropy, view.isDark) : inks.text;
      context.beginPath();
      context.arc(position * cellWidth + width / 2, y + height / 2, radius, 0, 2 * Math.PI);
      context.fill();
    }
  }
  context.globalAlpha = 1;
}

/**
 * Return the legend of colours and dots. Under verify a dot can lack a cell, where a drafted token was read instead of
 * a mask; next-token prediction reads no masks at all.
 */
export function stairsKey({ strategy }: Run) {
  if (strategy === "ntp") return { colour: "entropy", dots: "dot: written" };
  const dots = ["dot: revealed", ...(strategy === "verify" ? ["dot alone: was no mask then"] : [])];
  return { colour: "entropy while masked", dots: dots.join(" · ") };
}

function drawDiagonal(context: CanvasRenderingContext2D, geometry: Geometry, style: StairsStyle) {
  const { width, height, cellWidth, cellHeight } = geometry;
  context.strokeStyle = style.ntp;
  context.lineWidth = 1.5;
  context.setLineDash([5, 4]);
  context.beginPath();
  context.moveTo(0, 0);
  const reach = Math.min(width / cellWidth, height / cellHeight);
  context.lineTo(reach * cellWidth, reach * cellHeight);
  context.stroke();
  context.setLineDash([]);
  // The label goes under the line, where the grid has few cells.
  const angle = Math.atan2(cellHeight, cellWidth);
  const length = Math.hypot(reach * cellWidth, reach * cellHeight);
  context.save();
  context.rotate(angle);
  context.fillStyle = style.ntp;
  context.font = `500 ${style.size}px ${style.font}`;
  context.textAlign = "right";
  const end = Math.min(
    length - style.size,
    (height - (style.size + 8) * Math.cos(angle)) / Math.sin(angle),
  );
  const words = ["next-token prediction", "next-token"].find(
    (each) => context.measureText(each).width < end - style.size,
  );
  if (words) context.fillText(words, end, style.size + 3);
  context.restore();
}

function drawCurrent(
  context: CanvasRenderingContext2D,
  view: StairsView,
  geometry: Geometry,
  style: StairsStyle,
) {
  const { cellWidth, cellHeight, width } = geometry;
  const window = view.run.windowAt(view.pass);
  const y = view.pass * cellHeight;
  context.strokeStyle = style.accent;
  context.lineWidth = 2;
  const left = window.start * cellWidth;
  const boxWidth = Math.min(window.size * cellWidth, width - left);
  context.beginPath();
  context.roundRect(left - 1, y - 2, boxWidth + 1, cellHeight + 3, 3);
  context.stroke();
  if (view.focus === null || !view.showsFocus) return;
  context.lineWidth = 1;
  context.strokeRect(view.focus * cellWidth - 0.5, 0.5, cellWidth, geometry.height - 1);
}
