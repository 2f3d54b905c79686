// The entropy budget of the pass: masked positions in the solver's order, each as wide as its
// entropy, up to gamma. Gamma can be dragged: what it would reveal lights up, no forward pass.

const MIN_SHARE = 0.018;

/** Segments in order with their place (0..1), and the way from gamma to a place and back. */
function layOut(view) {
  const { solver } = view.run;
  const step = view.run.main.steps[view.pass];
  const order = step ? solverOrder(solver, step.masked) : [];
  const total = order.reduce((sum, item) => sum + item.entropy, 0);
  const rest = 1 - MIN_SHARE * order.length;
  let left = 0;
  const segments = order.map((item) => {
    const share = total > 0 ? item.entropy / total : 1 / order.length;
    const segment = { item, left, width: MIN_SHARE + rest * share };
    left += segment.width;
    return segment;
  });
  const costs = view.run.strategy === "sbd" ? revealCosts(solver, order) : null;
  return { segments, total, costs };
}

/** Breakpoints (gamma, place): a segment starts at the least gamma that reveals it. */
function breakpoints({ segments, costs }) {
  const points = segments.map((segment, rank) => [costs[rank], segment.left]);
  const last = segments.at(-1);
  points.push([costs.at(-1) + Math.max(last.item.entropy, 1e-4), 1]);
  return points;
}

function interpolate(points, from, to, value) {
  let [low, high] = [points[0], points[0]];
  for (const point of points) {
    high = point;
    if (point[from] > value) break;
    low = point;
  }
  const span = high[from] - low[from];
  return span > 0 ? low[to] + (high[to] - low[to]) * ((value - low[from]) / span) : low[to];
}

const GAMMA_KEYS = {
  ArrowRight: 0.01, ArrowUp: 0.01, ArrowLeft: -0.01, ArrowDown: -0.01, PageUp: 0.1, PageDown: -0.1,
};

/** The words beside the bar: what was, or at the dragged gamma would be, revealed. */
function budgetNote(view, layout, count) {
  const { solver } = view.run;
  if (!layout.segments.length) {
    return view.pass === 0 ? "the first pass reads the prompt" : "nothing masked";
  }
  if (!layout.costs) return `${RULE_NAMES[solver.name] ?? solver.name} · ${count} revealed`;
  const gamma = view.gammaPreview ?? solver.gamma;
  const verb = view.gammaPreview === null ? "revealed" : "would be revealed";
  if (solver.name === "entropy-threshold") return `each H < γ ${formatNats(gamma)} · ${count} ${verb}`;
  const cost = layout.costs[clamp(count - 1, 0, layout.costs.length - 1)];
  const sign = cost <= gamma ? "≤" : ">";
  return `Σ ${formatNats(cost)} ${sign} γ ${formatNats(gamma)} nats · ${count} ${verb}`;
}

class Budget {
  constructor(actions) {
    this.actions = actions;
    this.layout = null;
    this.nodes = [];
    this.note = make("span", "sbd-budget-note");
    this.again = make("button", "sbd-action sbd-again", { type: "button" }, "Decode again at this γ");
    this.again.addEventListener("click", () =>
      actions.redo({ gamma: Number(actions.gamma().toFixed(2)) }, { kind: "gamma" }));
    this.bar = make("div", "sbd-budget-bar");
    this.handle = make("div", "sbd-gamma", {
      role: "slider", tabindex: "0", "aria-label": "Gamma, the entropy budget of a pass in nats",
      "aria-valuemin": "0",
    }, make("span", "sbd-gamma-grip", { "aria-hidden": "true" }, "γ"));
    this.track = make("div", "sbd-budget-track", {}, this.bar, this.handle);
    this.root = make("section", "sbd-budget", { "aria-label": "Entropy budget" },
      make("div", "sbd-budget-head", {}, make("h3", "", {}, "Entropy budget of this pass"), this.again,
        this.note),
      this.track);
    this.listen();
  }

  listen() {
    const { track, handle, actions } = this;
    track.addEventListener("pointerdown", (event) => {
      if (!this.hasLine) return;
      event.preventDefault();
      track.setPointerCapture(event.pointerId);
      handle.focus({ preventScroll: true });
      this.drag(event);
    });
    track.addEventListener("pointermove", (event) => {
      if (track.hasPointerCapture(event.pointerId)) this.drag(event);
    });
    handle.addEventListener("keydown", (event) => {
      if (event.key === "Escape") actions.previewGamma(null);
      if (!(event.key in GAMMA_KEYS)) return;
      event.preventDefault();
      event.stopPropagation();
      actions.previewGamma(Math.max(0, actions.gamma() + GAMMA_KEYS[event.key]));
    });
  }

  get hasLine() {
    return Boolean(this.layout?.costs && this.layout.segments.length);
  }

  drag(event) {
    const box = this.track.getBoundingClientRect();
    const place = clamp((event.clientX - box.left) / box.width, 0, 1);
    this.actions.previewGamma(interpolate(breakpoints(this.layout), 1, 0, place));
  }

  segmentNode(rank) {
    if (!this.nodes[rank]) {
      const node = make("span", "sbd-segment");
      node.addEventListener("pointerenter", () => this.actions.hover(node.position));
      node.addEventListener("pointerleave", () => this.actions.hover(null));
      this.nodes[rank] = node;
    }
    return this.nodes[rank];
  }

  showSegment(view, { item, left, width }, rank, isIn) {
    const node = this.segmentNode(rank);
    const isThin = width < 0.07;
    const isFocused = view.focus === item.position && view.showsFocus;
    node.position = item.position;
    node.className = "sbd-segment" + (isIn ? " is-in" : "") + (isThin ? " is-thin" : "") +
      (isFocused ? " is-focused" : "");
    setStyle(node, "left", `${(left * 100).toFixed(3)}%`);
    setStyle(node, "width", `${(width * 100).toFixed(3)}%`);
    setStyle(node, "--ink", entropyColour(item.entropy, view.isDark));
    setStyle(node, "--on-ink", inkOn(item.entropy, view.isDark));
    showToken(node, isThin ? "\u200a" : view.run.tokenText(item.top[0]?.token));
    setAttribute(node, "title", `Position ${item.position}: ${formatNats(item.entropy)} nats`);
  }

  update(view) {
    this.layout = layOut(view);
    const { segments } = this.layout;
    const step = view.run.main.steps[view.pass];
    const revealed = view.wouldReveal ?? new Set((step?.reveals ?? []).map((r) => r.position));
    segments.forEach((segment, rank) =>
      this.showSegment(view, segment, rank, revealed.has(segment.item.position)));
    if (this.bar.childNodes.length !== segments.length) {
      this.bar.replaceChildren(...this.nodes.slice(0, segments.length));
    }
    setText(this.note, budgetNote(view, this.layout, revealed.size));
    this.root.classList.toggle("has-gamma", this.hasLine);
    this.root.classList.toggle("is-preview", view.gammaPreview !== null);
    this.again.hidden = view.gammaPreview === null || !this.actions.canRedo;
    if (this.hasLine) this.showGamma(view.gammaPreview ?? view.run.solver.gamma);
  }

  showGamma(gamma) {
    const place = interpolate(breakpoints(this.layout), 0, 1, gamma);
    setStyle(this.handle, "left", `${(place * 100).toFixed(2)}%`);
    setAttribute(this.handle, "aria-valuenow", gamma.toFixed(2));
    setAttribute(this.handle, "aria-valuemax", Math.max(gamma, this.layout.total).toFixed(2));
    setAttribute(this.handle, "aria-valuetext", this.note.textContent);
  }
}
