// A run as pictures to take home: the staircase for a paper, and one frame of the decode for a
// slide. Draws on a canvas of its own with the staircase's own strokes; knows no page.

const PICTURE = { width: 1280, stairsHeight: 560, slideHeight: 720, pad: 40 };
const INKS = {
  light: { page: "#f8f7f4", card: "#ffffff", well: "#f3f2ee", line: "#e3e1db", text: "#1b1d22",
    muted: "#5f636d", ghost: "#6a6e78", accent: "#1f5fc0", soft: "#e4edfb", ntp: "#b3471b" },
  dark: { page: "#0f1115", card: "#171a21", well: "#20242d", line: "#2d323d", text: "#eceae4",
    muted: "#a3a8b3", ghost: "#9aa0ad", accent: "#82b1ff", soft: "#22304a", ntp: "#f0906a" },
};
const PICTURE_SANS = 'ui-sans-serif, system-ui, "Segoe UI", Roboto, Arial, sans-serif';
const PICTURE_MONO = 'ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';
const SETTLED = { progress: () => 1 };

/** A canvas of `height` units at `scale` with its context, filled with the page's colour. */
function blankPicture(height, scale, inks) {
  const canvas = document.createElement("canvas");
  canvas.width = PICTURE.width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.scale(scale, scale);
  context.fillStyle = inks.page;
  context.fillRect(0, 0, PICTURE.width, height);
  return { canvas, context };
}

/** What a frame is drawn from: the run as the player shows it at `pass`, nothing pointed at. */
function pictureView(run, pass, isDark) {
  return { run, pass, isDark, reveals: SETTLED, focus: null, showsFocus: false };
}

/** The longest beginning of `text` that fits `width`, with an ellipsis where it is cut. */
function fitText(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}

function write(context, text, x, y, { size, colour, weight = 400, mono = false, align = "left", width = 1e4 }) {
  context.font = `${weight} ${size}px ${mono ? PICTURE_MONO : PICTURE_SANS}`;
  context.fillStyle = colour;
  context.textAlign = align;
  context.textBaseline = "alphabetic";
  context.fillText(fitText(context, text, width), x, y);
}

/** The staircase in a box of the picture; rows beyond `pass` are pale, as on the page. */
function drawStairs(context, view, inks, { x, y, width, height }) {
  const { positions, passes } = staircaseExtent(view.run);
  const cellWidth = width / positions;
  const geometry = { width, height, cellWidth, gap: Math.min(1, cellWidth * 0.12),
    cellHeight: Math.min(height / passes, Math.max(MAX_CELL_HEIGHT, cellWidth)) };
  const style = { accent: inks.accent, ntp: inks.ntp, line: inks.line, font: PICTURE_SANS, size: 13 };
  context.save();
  context.beginPath();
  context.roundRect(x - 8, y - 8, width + 16, height + 16, 10);
  context.fillStyle = inks.well;
  context.fill();
  context.clip();
  context.translate(x, y);
  drawBlocks(context, view.run, geometry, style);
  drawGapRows(context, view, geometry, style, 0, view.pass + 1);
  drawLead(context, view, geometry, style);
  drawPasses(context, view, geometry, 0, view.pass + 1);
  drawDiagonal(context, geometry, style);
  drawCurrent(context, view, geometry, style);
  context.restore();
}

/** "24 passes · 76 tokens · 3.17 tokens per pass" at a pass of the run. */
function countsText(run, pass) {
  const { numPasses, numTokens, tokensPerPass } = run.numbersAt(pass);
  return `${numPasses} forward passes · ${numTokens} tokens · ${tokensPerPass.toFixed(2)} per pass`;
}

function drawScale(context, inks, isDark, right, y) {
  const [width, height] = [180, 8];
  for (let i = 0; i < width; i += 1) {
    context.fillStyle = entropyColour((i / width) ** 2 * MAX_ENTROPY, isDark);
    context.fillRect(right - width + i, y, 1.5, height);
  }
  write(context, "sure", right - width - 8, y + 9, { size: 13, colour: inks.muted, align: "right" });
  write(context, "entropy while masked", right, y + 26, { size: 13, colour: inks.muted, align: "right" });
  write(context, "dot: revealed", right - width - 8, y + 26, { size: 13, colour: inks.muted, align: "right" });
}

/** The whole staircase of a run as a canvas. */
function staircasePicture(run, isDark, scale) {
  const inks = INKS[isDark ? "dark" : "light"];
  const { pad, width } = PICTURE;
  const height = PICTURE.stairsHeight;
  const { canvas, context } = blankPicture(height, scale, inks);
  const { lastPass } = run.main;
  write(context, countsText(run, lastPass), pad, 44,
    { size: 20, weight: 650, colour: inks.text, width: 760 });
  write(context, run.prompt.replace(/\s+/g, " "), pad, 68, { size: 14, colour: inks.muted, width: 760 });
  drawScale(context, inks, isDark, width - pad, 34);
  drawStairs(context, pictureView(run, lastPass, isDark), inks,
    { x: pad, y: 100, width: width - 2 * pad, height: height - 150 });
  write(context, "Position → by forward pass ↓", pad, height - 16, { size: 13, colour: inks.muted });
  write(context, [run.model, solverLabel(run)].filter(Boolean).join(" · "), width - pad, height - 16,
    { size: 13, colour: inks.muted, align: "right", width: 700 });
  return canvas;
}

/** The rule and its sizes in words: "entropy-bound, gamma 0.35, block 16". */
function solverLabel(run) {
  const { name, ...parameters } = run.solver;
  const values = Object.entries(parameters).map(([key, value]) => `${key} ${value}`);
  return [run.strategy === "sbd" ? name : run.strategy, ...(run.strategy === "sbd" ? values : []),
    `block ${run.blockSize}`].join(", ");
}
