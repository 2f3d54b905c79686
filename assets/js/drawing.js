// How the staircase is drawn on its canvas; geometry and style are handed in, nothing is kept.

/** Room for a growing number: in steps of an eighth to a quarter, so that it changes seldom. */
function roomFor(count) {
  const step = Math.max(8, 2 ** Math.floor(Math.log2(Math.max(count, 1) / 4)));
  return Math.ceil(count / step) * step;
}

/** The grid's extent: the whole run so far, some room more while it grows. */
function staircaseExtent(run) {
  const { main } = run;
  let positions = MIN_POSITIONS;
  for (const step of main.steps) positions = Math.max(positions, step.block.start + step.block.size);
  positions = Math.max(positions, main.numCommitted);
  const passes = main.steps.length;
  const [width, height] = main.finish === null
    ? [roomFor(positions), roomFor(passes)] : [positions, passes];
  return { positions: width, passes: Math.max(MIN_PASSES, height) };
}

function staircaseStyle(stage) {
  const style = getComputedStyle(stage);
  const read = (name) => style.getPropertyValue(name).trim();
  return { accent: read("--sbd-accent"), ntp: read("--sbd-ntp"), line: read("--sbd-line"),
    font: read("--sbd-sans"), size: parseFloat(read("--sbd-stairs-type")) || 11 };
}

function drawBlocks(context, run, geometry, style) {
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

/** The gap between the diagonal and the tokens decoded so far: what the speed-up is. */
function drawGap(context, view, geometry, style) {
  const { cellWidth, cellHeight } = geometry;
  const counts = view.run.main.tokensByPass;
  const rows = counts.map((count, pass) => [pass + 1, count])
    .filter(([plain, count], pass) => pass <= view.pass && count > plain);
  context.fillStyle = style.accent;
  context.globalAlpha = view.isDark ? 0.16 : 0.1;
  for (const [plain, count] of rows) {
    context.beginPath();
    context.moveTo((plain - 1) * cellWidth, (plain - 1) * cellHeight);
    context.lineTo(count * cellWidth, (plain - 1) * cellHeight);
    context.lineTo(count * cellWidth, plain * cellHeight);
    context.lineTo(plain * cellWidth, plain * cellHeight);
    context.fill();
  }
  context.globalAlpha = 1;
  const [plain, count] = rows.at(-1) ?? [0, 0];
  if (plain !== view.pass + 1) return;
  drawLead(context, { from: plain, to: count, y: (plain - 0.5) * cellHeight }, view, geometry, style);
}

/** In the current row: an arrow from next-token prediction to here, and the lead in words. */
function drawLead(context, { from, to, y }, view, { cellWidth }, style) {
  const block = view.run.windowAt(view.pass).start;
  const left = from * cellWidth + 3;
  const right = Math.min(to, Math.max(block, from)) * cellWidth - 5;
  const words = `${to - from} tokens ahead`;
  context.font = `600 ${style.size}px ${style.font}`;
  const width = context.measureText(words).width + 14;
  if (right - left < width) return;
  const middle = (left + right) / 2;
  context.strokeStyle = style.accent;
  context.fillStyle = style.accent;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(left, y);
  context.lineTo(middle - width / 2, y);
  context.moveTo(middle + width / 2, y);
  context.lineTo(right, y);
  context.moveTo(right - 5, y - 4);
  context.lineTo(right, y);
  context.lineTo(right - 5, y + 4);
  if (right - left > width + 24) context.stroke();
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(words, middle, y);
  context.textBaseline = "alphabetic";
}

/** The cells and dots of some passes, as they are once those passes have been. */
function drawPasses(context, view, geometry, from, to) {
  const { main } = view.run;
  for (let pass = from; pass < Math.min(to, main.steps.length); pass += 1) {
    for (const item of main.steps[pass].masked.values()) {
      context.globalAlpha = item.position >= main.end ? 0.5 : 1;
      drawCell(context, item.position, pass, item.entropy, view, geometry);
    }
    context.globalAlpha = 1;
    drawDots(context, main.steps[pass], pass, view, geometry);
  }
}

/** A picture of all passes, kept and only added to while nothing but their number changes. */
class PassPicture {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.key = "";
    this.numPasses = 0;
  }

  /** Bring it up to date with the run and the size, leaving out what is there already. */
  update(view, geometry, width, height, scale) {
    const { run } = view;
    const key = [run.id, run.main.finish, width, height, scale, geometry.cellWidth,
      geometry.cellHeight, view.isDark].join();
    const context = this.canvas.getContext("2d");
    if (this.key !== key) {
      [this.canvas.width, this.canvas.height, this.numPasses, this.key] = [width, height, 0, key];
    }
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const still = { ...view, pass: -1 };
    drawPasses(context, still, geometry, this.numPasses, run.main.steps.length);
    this.numPasses = run.main.steps.length;
  }

  /** Copy the rows [from, to) to another canvas of the same scale. */
  copy(context, geometry, scale, from, to) {
    const [top, bottom] = [from, to].map((pass) => Math.round(pass * geometry.cellHeight * scale));
    const { width } = this.canvas;
    if (bottom <= top) return;
    context.drawImage(this.canvas, 0, top, width, bottom - top,
      0, top / scale, width / scale, (bottom - top) / scale);
  }
}

/** Every pass: those up to now as they are, the current one landing, those to come pale. */
function drawCells(context, view, geometry, picture, scale) {
  const { pass, run } = view;
  picture.copy(context, geometry, scale, 0, pass);
  drawPasses(context, view, geometry, pass, pass + 1);
  context.globalAlpha = 0.28;
  picture.copy(context, geometry, scale, pass + 1, run.main.steps.length);
  context.globalAlpha = 1;
}

function drawCell(context, position, pass, entropy, view, { cellWidth, cellHeight, gap }) {
  context.fillStyle = entropyColour(entropy, view.isDark);
  context.fillRect(position * cellWidth, pass * cellHeight, cellWidth - gap, cellHeight - gap);
}

function drawDots(context, step, pass, view, geometry) {
  const { cellWidth, cellHeight, gap } = geometry;
  const radius = clamp(Math.min(cellWidth, cellHeight) * 0.22, 1, 5);
  const isNow = pass === view.pass;
  for (const { position, rank } of step.reveals) {
    const entropy = step.masked.get(position)?.entropy ?? 0;
    if (!step.masked.has(position)) drawCell(context, position, pass, entropy, view, geometry);
    const grown = isNow ? view.reveals.progress(rank, step.reveals.length) : 1;
    context.fillStyle = inkOn(entropy, view.isDark);
    context.beginPath();
    context.arc((position + 0.5) * cellWidth - gap / 2, (pass + 0.5) * cellHeight - gap / 2,
      radius * grown, 0, 2 * Math.PI);
    context.fill();
  }
}

function drawDiagonal(context, geometry, style) {
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
  // The label runs under the line, where next-token prediction leaves the grid empty.
  const angle = Math.atan2(cellHeight, cellWidth);
  const length = Math.hypot(reach * cellWidth, reach * cellHeight);
  context.save();
  context.rotate(angle);
  context.fillStyle = style.ntp;
  context.font = `500 ${style.size}px ${style.font}`;
  context.textAlign = "right";
  const end = Math.min(length - style.size,
    (height - (style.size + 8) * Math.cos(angle)) / Math.sin(angle));
  const words = ["next-token prediction", "next-token"]
    .find((each) => context.measureText(each).width < end - style.size);
  if (words) context.fillText(words, end, style.size + 3);
  context.restore();
}

function drawCurrent(context, view, geometry, style) {
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
