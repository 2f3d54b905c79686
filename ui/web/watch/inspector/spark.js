// The entropy of one position over the passes, as a line.

import { formatChange, formatNats } from "../../core/numbers.js";
import { make, makeSvg, setAttribute, setText } from "../../dom/elements.js";

/** @import { View } from "../view.js" */

const SPARK = { width: 240, height: 56, pad: 4 };

/** The line, empty until the position was predicted. */
export function makeSpark() {
  const line = makeSvg("polyline", { class: "sbd-spark-line" });
  const dots = makeSvg("g", {});
  const now = makeSvg("path", { class: "sbd-spark-now" });
  const svg = makeSvg(
    "svg",
    {
      viewBox: `0 0 ${SPARK.width} ${SPARK.height}`,
      class: "sbd-spark",
      role: "img",
      preserveAspectRatio: "none",
    },
    makeSvg("line", {
      x1: 0,
      x2: SPARK.width,
      y1: SPARK.height - SPARK.pad,
      y2: SPARK.height - SPARK.pad,
      class: "sbd-spark-base",
    }),
    line,
    dots,
    now,
  );
  const note = make("div", "sbd-spark-note");
  const root = make("div", "", {}, svg, note);

  /** @param {View} view */
  function update(view) {
    const history = view.run.main.entropyHistory(view.focus ?? -1);
    const known = history.filter((item) => item.pass <= view.pass);
    root.classList.toggle("is-empty", known.length === 0);
    const most = Math.max(...history.map((item) => item.entropy), 0.01);
    const step = (SPARK.width - 2 * SPARK.pad) / Math.max(history.length - 1, 1);
    const points = known.map((item, index) => ({
      x: SPARK.pad + index * step,
      y: SPARK.height - SPARK.pad - (item.entropy / most) * (SPARK.height - 2 * SPARK.pad),
    }));
    setAttribute(
      line,
      "points",
      points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" "),
    );
    const { x, y } = points.at(-1) ?? { x: -10, y: -10 };
    setAttribute(now, "d", `M${x.toFixed(1)} ${y.toFixed(1)}h0`);
    const [first, last] = [known[0], known.at(-1)];
    const text =
      !first || !last
        ? "not predicted yet"
        : first === last
          ? `${formatNats(first.entropy)} nats in forward pass ${first.pass + 1}`
          : `${formatChange(first.entropy, last.entropy)} nats over ${known.length} forward passes`;
    setText(note, text);
    setAttribute(svg, "aria-label", `Entropy: ${text}`);
  }

  return { root, update };
}
