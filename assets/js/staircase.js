// The staircase: x = position, y = forward pass, colour = entropy of a masked position, a dot
// where it was revealed, a box round the current pass, and next-token prediction as a diagonal.
// Click or drag to go to a pass and position.

const MIN_POSITIONS = 32;
const MIN_PASSES = 12;
const MAX_CELL_HEIGHT = 22;
const STAGE_PADDING = 6;

/** The grid's extent: the whole run so far, a little more while it grows. */
function staircaseExtent(run) {
  const { main } = run;
  let positions = MIN_POSITIONS;
  for (const step of main.steps) positions = Math.max(positions, step.block.start + step.block.size);
  positions = Math.max(positions, main.numCommitted);
  return { positions, passes: Math.max(MIN_PASSES, main.steps.length) };
}

function staircaseStyle(root) {
  const style = getComputedStyle(root);
  const read = (name) => style.getPropertyValue(name).trim();
  return { accent: read("--sbd-accent"), ntp: read("--sbd-ntp"), line: read("--sbd-line"),
    text: read("--sbd-muted"), font: read("--sbd-sans") };
}

function drawCells(context, view, geometry) {
  const { run, pass: currentPass, isDark } = view;
  const { cellWidth, cellHeight } = geometry;
  const gap = Math.min(1, cellWidth * 0.12);
  run.main.steps.forEach((step, pass) => {
    context.globalAlpha = pass > currentPass ? 0.28 : 1;
    const y = pass * cellHeight;
    for (const item of step.masked.values()) {
      if (item.position >= run.main.end) context.globalAlpha *= 0.5;
      context.fillStyle = entropyColour(item.entropy, isDark);
      context.fillRect(item.position * cellWidth, y, cellWidth - gap, cellHeight - gap);
    }
    const radius = clamp(Math.min(cellWidth, cellHeight) * 0.22, 1, 3);
    for (const reveal of step.reveals) {
      const entropy = step.masked.get(reveal.position)?.entropy ?? 0;
      if (!step.masked.has(reveal.position)) {
        context.fillStyle = entropyColour(entropy, isDark);
        context.fillRect(reveal.position * cellWidth, y, cellWidth - gap, cellHeight - gap);
      }
      context.fillStyle = inkOn(entropy, isDark);
      context.beginPath();
      context.arc((reveal.position + 0.5) * cellWidth - gap / 2, y + cellHeight / 2 - gap / 2,
        radius, 0, 2 * Math.PI);
      context.fill();
    }
  });
  context.globalAlpha = 1;
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
  context.font = `500 11px ${style.font}`;
  context.textAlign = "right";
  context.fillText("next-token prediction", length - 10, 14);
  context.restore();
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

class Staircase {
  constructor(actions) {
    this.actions = actions;
    this.geometry = null;
    this.shown = null;
    this.canvas = make("canvas", "sbd-stairs-canvas", { role: "img" });
    this.stage = make("div", "sbd-stairs-stage", {}, this.canvas);
    this.root = make("section", "sbd-stairs", { "aria-label": "Staircase" },
      make("div", "sbd-stairs-head", {},
        make("h3", "", {}, "Position → by forward pass ↓"),
        make("span", "sbd-stairs-key", {},
          "colour: entropy while masked · dot: revealed · dashed: one token a pass")),
      this.stage);
    this.listen();
  }

  listen() {
    const { stage } = this;
    stage.addEventListener("pointerdown", (event) => {
      if (!this.geometry) return;
      event.preventDefault();
      stage.setPointerCapture(event.pointerId);
      this.seek(event);
    });
    stage.addEventListener("pointermove", (event) => {
      if (stage.hasPointerCapture(event.pointerId)) this.seek(event);
    });
    new ResizeObserver(() => this.draw()).observe(stage);
  }

  measure() {
    const { positions, passes } = staircaseExtent(this.shown.run);
    const width = this.stage.clientWidth - 2 * STAGE_PADDING;
    const height = this.stage.clientHeight - 2 * STAGE_PADDING;
    const cellHeight = Math.min(height / passes, MAX_CELL_HEIGHT);
    return { width, height, cellWidth: width / positions, cellHeight };
  }

  /** The canvas at the screen's own resolution, cleared, its origin inside the padding. */
  prepare() {
    const { canvas, stage } = this;
    const scale = window.devicePixelRatio || 1;
    const width = Math.round(stage.clientWidth * scale);
    const height = Math.round(stage.clientHeight * scale);
    if (!width || !height) return null;
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, stage.clientWidth, stage.clientHeight);
    context.translate(STAGE_PADDING, STAGE_PADDING);
    return context;
  }

  draw() {
    const { shown } = this;
    const context = shown && this.prepare();
    if (!context) return;
    const geometry = this.measure();
    const style = staircaseStyle(this.root);
    this.geometry = geometry;
    drawBlocks(context, shown.run, geometry, style);
    drawCells(context, shown, geometry);
    drawDiagonal(context, geometry, style);
    drawCurrent(context, shown, geometry, style);
  }

  /** Go to the pass under the pointer and hold the position under it. */
  seek(event) {
    const box = this.stage.getBoundingClientRect();
    const x = event.clientX - box.left - STAGE_PADDING;
    const y = event.clientY - box.top - STAGE_PADDING;
    const { main } = this.shown.run;
    const pass = clamp(Math.floor(y / this.geometry.cellHeight), 0, Math.max(main.lastPass, 0));
    const position = Math.floor(x / this.geometry.cellWidth);
    this.actions.seek(pass);
    if (main.fixed.has(position) || main.steps[pass]?.masked.has(position)) {
      this.actions.holdAt(position);
    }
  }

  update(view) {
    this.shown = view;
    const tokens = view.run.main.numTokensAt(view.pass);
    setAttribute(this.canvas, "aria-label", `Staircase: ${tokens} tokens after ${view.pass + 1} ` +
      `forward passes; next-token prediction would have ${view.pass + 1}.`);
    this.draw();
  }
}
