// Pictures of the staircase that stay as they are from frame to frame: drawn once, then copied.

import { drawAxes, drawDiagonal, drawPasses } from "./drawing.js";
import { staircaseExtent } from "./extent.js";

/** @import { Run } from "../../core/run/run.js" */
/** @import { Geometry, StairsStyle } from "./drawing.js" */
/** @import { View } from "../view.js" */

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

/** What a frame of the staircase needs of other frames: drawn once, then copied. */
export class StaircasePictures {
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
