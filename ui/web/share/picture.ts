// Draws a run as a picture for a paper or a slide: counts and prompt above the staircase. Draws on a canvas of its own, with the
// functions that draw the staircase on the page; does not touch the page.

import constants from "../constants.json" with { type: "json" };
import { entropyColour, MAX_ENTROPY } from "../core/colours.ts";
import { directionOf } from "../core/letters.ts";
import { countOf } from "../core/numbers.ts";
import type { Run } from "../core/run.ts";
import { decodingWords } from "../core/words.ts";
import { drawStaircase, stairsKey } from "../watch/staircase.ts";

export const WIDTH = 1280;
const PAD = 40;
const INNER = WIDTH - 2 * PAD;
const STAIRS_HEIGHT = 560;
const SANS = 'ui-sans-serif, system-ui, "Segoe UI", Roboto, Arial, sans-serif';

/** Colours of the page's style sheet, which a canvas cannot read. */
const LIGHT = { page: "#f8f7f4", well: "#f3f2ee" };
const DARK = { page: "#0f1115", well: "#20242d" };

type Box = { x: number; y: number; width: number; height: number };
/** width: where the text is cut off */
type Letters = { weight?: number; align?: CanvasTextAlign; width?: number };

/** Return the counts at a pass: "24 forward passes · 76 tokens · 3.17 a forward pass". */
export function countsText(run: Run, pass: number) {
  const { numPasses, numTokens, numPinned, tokensPerPass } = run.numbersAt(pass);
  const tokens = `${countOf(numTokens, "token")}${numPinned ? `, ${numPinned} given` : ""}`;
  const rate = `${tokensPerPass.toFixed(2)}${numPinned ? " decoded" : ""} a forward pass`;
  return `${countOf(numPasses, "forward pass")} · ${tokens} · ${rate}`;
}

/** Name the strategy, its settings and the block size: "Set Block Decoding, γ 0.35, block 16". */
export function strategyLabel(run: Run) {
  return run.strategy === "ntp"
    ? decodingWords(run)
    : `${decodingWords(run)}, block ${run.blockSize}`;
}

/** A canvas to draw a run on, in the page's colours and WIDTH units wide. */
export class Picture {
  inks = this.isDark ? { ...constants.inks.dark, ...DARK } : { ...constants.inks.light, ...LIGHT };
  canvas = document.createElement("canvas");
  context: CanvasRenderingContext2D;

  constructor(
    readonly run: Run,
    readonly isDark: boolean,
    readonly height: number,
    scale: number,
  ) {
    this.canvas.width = WIDTH * scale;
    this.canvas.height = height * scale;
    const context = this.canvas.getContext("2d", { willReadFrequently: true });
    if (!context) throw new Error("this browser gives no canvas to draw on");
    context.scale(scale, scale);
    this.context = context;
  }

  fill(colour: string, x: number, y: number, width: number, height: number) {
    this.context.fillStyle = colour;
    this.context.fillRect(x, y, width, height);
  }

  /** Write one line of text; y is its base line. */
  write(
    text: string,
    x: number,
    y: number,
    size: number,
    colour: string,
    { weight = 400, align = "left", width = 1e4 }: Letters = {},
  ) {
    const { context } = this;
    context.font = `${weight} ${size}px ${SANS}`;
    context.fillStyle = colour;
    context.textAlign = align;
    context.textBaseline = "alphabetic";
    context.direction = directionOf(text);
    context.fillText(this.fit(text, width), x, y);
  }

  /** Cut a text to a width, with an ellipsis if it is too long. */
  fit(text: string, width: number) {
    const fits = (words: string) => this.context.measureText(words).width <= width;
    if (fits(text)) return text;
    let [low, high] = [0, text.length];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (fits(`${text.slice(0, middle)}…`)) low = middle;
      else high = middle - 1;
    }
    return `${text.slice(0, low)}…`;
  }

  drawStairs(pass: number, { x, y, width, height }: Box) {
    const { context, run, isDark } = this;
    const { accent, ntp, line, muted, well } = this.inks;
    const style = { accent, ntp, line, muted, font: SANS, size: 13 };
    const view = { run, pass, isDark, focus: null, showsFocus: false };
    context.save();
    context.beginPath();
    context.roundRect(x - 8, y - 8, width + 16, height + 16, 10);
    context.fillStyle = well;
    context.fill();
    context.clip();
    context.translate(x, y);
    drawStaircase(context, view, width, height, style, pass + 1);
    context.restore();
  }

  drawKey(right: number, y: number) {
    const left = right - 180;
    for (let i = 0; i < 180; i += 1) {
      const colour = entropyColour((i / 180) ** 2 * MAX_ENTROPY, this.isDark);
      this.fill(colour, left + i, y, 1.5, 8);
    }
    const { colour, dots } = stairsKey(this.run);
    const { muted } = this.inks;
    this.write("sure", left - 8, y + 9, 13, muted, { align: "right" });
    this.write(colour, right, y + 26, 13, muted, { align: "right" });
    this.write(dots, left - 8, y + 26, 13, muted, { align: "right" });
  }

  draw(pass: number) {
    const { run, height } = this;
    const { text, muted } = this.inks;
    const foot = height - 16;
    const label = [run.model, strategyLabel(run)].filter(Boolean).join(" · ");
    const size = run.main.pins.size ? 18 : 20;
    this.fill(this.inks.page, 0, 0, WIDTH, height);
    this.write(countsText(run, pass), PAD, 44, size, text, { weight: 650, width: 760 });
    this.write(run.prompt.replace(/\s+/g, " "), PAD, 68, 14, muted, { width: 700 });
    this.drawKey(WIDTH - PAD, 34);
    this.drawStairs(pass, { x: PAD, y: 100, width: INNER, height: height - 150 });
    this.write("Position → by forward pass ↓", PAD, foot, 13, muted);
    this.write(label, WIDTH - PAD, foot, 13, muted, { align: "right", width: 700 });
  }
}

export function staircasePicture(run: Run, isDark: boolean, scale: number) {
  const picture = new Picture(run, isDark, STAIRS_HEIGHT, scale);
  picture.draw(run.main.lastPass);
  return picture.canvas;
}
