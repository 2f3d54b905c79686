// Everything known about one position: what the model thinks of it in this pass, its entropy
// over the passes, when and how it was revealed, and what the causal pass later gave it.

const SPARK = { width: 240, height: 56, pad: 4 };

/** The pass whose distribution is shown: this one if still masked, else that of the reveal. */
function inspectedPass(view) {
  const { run, pass, focus } = view;
  if (run.main.steps[pass]?.masked.has(focus)) return pass;
  const history = run.main.entropyHistory(focus).filter((item) => item.pass <= pass);
  return history.length ? history.at(-1).pass : null;
}

function makeSpark() {
  const line = makeSvg("polyline", { class: "sbd-spark-line" });
  const dots = makeSvg("g", {});
  const now = makeSvg("path", { class: "sbd-spark-now" });
  const svg = makeSvg("svg", {
    viewBox: `0 0 ${SPARK.width} ${SPARK.height}`, class: "sbd-spark", role: "img",
    preserveAspectRatio: "none",
  }, makeSvg("line", { x1: 0, x2: SPARK.width, y1: SPARK.height - SPARK.pad,
    y2: SPARK.height - SPARK.pad, class: "sbd-spark-base" }), line, dots, now);
  const note = make("div", "sbd-spark-note");
  const root = make("div", "", {}, svg, note);

  function update(view) {
    const history = view.run.main.entropyHistory(view.focus);
    const known = history.filter((item) => item.pass <= view.pass);
    root.classList.toggle("is-empty", known.length === 0);
    const most = Math.max(...history.map((item) => item.entropy), 0.01);
    const step = (SPARK.width - 2 * SPARK.pad) / Math.max(history.length - 1, 1);
    const points = known.map((item, index) => [SPARK.pad + index * step,
      SPARK.height - SPARK.pad - (item.entropy / most) * (SPARK.height - 2 * SPARK.pad)]);
    setAttribute(line, "points", points.map((point) => point.map((v) => v.toFixed(1)).join()).join(" "));
    const [x, y] = points.at(-1) ?? [-10, -10];
    setAttribute(now, "d", `M${x.toFixed(1)} ${y.toFixed(1)}h0`);
    const values = known.map((item) => formatNats(item.entropy));
    const text = values.length > 1
      ? `${values[0]} → ${values.at(-1)} nats over ${values.length} passes`
      : values.length ? `${values[0]} nats in its first pass` : "not predicted yet";
    setText(note, text);
    setAttribute(svg, "aria-label", `Entropy: ${text}`);
  }

  return { root, update };
}

function revealText(view) {
  const { run, focus, pass } = view;
  const item = run.main.fixedAt(focus, pass);
  if (item) {
    const order = item.rank === 0 ? "first" : `number ${item.rank + 1}`;
    return `Revealed in pass ${item.pass + 1}, ${order} in the solver’s order.`;
  }
  const masked = run.main.steps[pass]?.masked.get(focus);
  if (masked) return `Still masked, entropy ${formatNats(masked.entropy)} nats.`;
  return "Not predicted yet.";
}

/** [text, verdict] of the causal check, once its pass has been reached. */
function hindsightText(view) {
  const { run, focus, pass } = view;
  const item = run.main.hindsight.get(focus);
  const isLastPass = run.main.finish !== null && pass >= run.main.lastPass;
  if (!item && isLastPass) return ["The answer ended before a causal pass read this block.", "open"];
  if (!item || item.pass > pass) {
    return ["The next causal pass over this block will tell, for free.", "open"];
  }
  const chosen = run.main.fixed.get(focus);
  const share = formatPercent(item.probability);
  if (chosen && item.argmax === chosen.token) {
    return [`The causal pass gives this token ${share}. It agrees.`, "agrees"];
  }
  return [`The causal pass gives this token ${share}; it would have said ` +
    `${tokenName(run.tokenText(item.argmax))} (${formatPercent(item.argmaxProbability)}).`, "differs"];
}

class Inspector {
  constructor(actions) {
    this.kicker = make("span", "sbd-inspector-kicker");
    this.release = make("button", "sbd-button sbd-release",
      { type: "button", "aria-label": "Release this position", title: "Release" }, icon("close"));
    this.release.addEventListener("click", actions.release);
    this.token = make("div", "sbd-inspector-token");
    this.reveal = make("p", "sbd-inspector-reveal");
    this.topTitle = make("h3", "");
    this.top = new Alternatives(actions);
    this.spark = makeSpark();
    this.hindsight = make("p", "sbd-hindsight");
    const section = (title, ...nodes) => make("section", "", {}, make("h3", "", {}, title), ...nodes);
    const legend = section("Colour and bar height", makeLegend());
    legend.classList.add("sbd-legend-section");
    const keys = section("Keys", makeKeyList(SHORT_KEY_WORDS, actions.canRedo));
    keys.classList.add("sbd-keys-section");
    this.root = make("aside", "sbd-inspector sbd-card", { "aria-label": "Inspector" },
      make("div", "sbd-inspector-head", {}, this.kicker, this.release), this.token, this.reveal,
      make("section", "", {}, this.topTitle, this.top.root),
      section("Entropy over passes", this.spark.root), section("Hindsight", this.hindsight), legend, keys);
  }

  update(view) {
    const { run, focus } = view;
    const pass = focus === null ? null : inspectedPass(view);
    const masked = pass === null ? null : run.main.steps[pass].masked.get(focus);
    const item = focus === null ? null : run.main.fixedAt(focus, view.pass);
    const chosen = item ? item.token : masked?.top[0]?.token;
    this.root.classList.toggle("is-guess", !item);
    this.release.hidden = view.held === null;
    setText(this.kicker, inspectorKicker(view));
    showToken(this.token, chosen === undefined ? "–" : run.tokenText(chosen));
    setText(this.reveal, focus === null ? "Point at a tile, a token or a cell." : revealText(view));
    setText(this.topTitle, pass === null || pass === view.pass
      ? "What the model thinks, this pass" : `What the model thought, pass ${pass + 1}`);
    this.top.update(view, masked?.top ?? []);
    this.spark.update(view);
    const [text, verdict] = focus === null ? ["–", "open"] : hindsightText(view);
    setText(this.hindsight, text);
    this.hindsight.className = `sbd-hindsight is-${verdict}`;
  }
}

function inspectorKicker({ focus, held, showsFocus }) {
  if (focus === null) return "Inspector";
  return `Position ${focus}` + (held === focus ? " · held" : showsFocus ? "" : " · hardest now");
}
