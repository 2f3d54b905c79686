// Figures of a run, of a sweep of solvers and of the roofline, as Plotly draws them: the same as those of
// sbd_core/plots. Plotly reads some HTML in a text, so every text of a model or a visitor is escaped. Knows no DOM.

import constants from "../constants.json" with { type: "json" };
import { unsureness } from "./colours.ts";
import { tokenMarks } from "./letters.ts";
import { type Setup, slowdown, sortedKeys } from "./roofline.ts";
import type { Reveal, Run } from "./run.ts";
import { LANE_TITLES, PAPER_SOLVER, SOLVER_SOURCES, SOLVER_TITLES } from "./words.ts";

export type Drawing = { data: object[]; layout: { height: number } & Record<string, unknown> };
/** how a chart looks on the page. isNarrow: whether it has the width of a phone */
type Look = { isDark: boolean; isNarrow: boolean };
/** a chart that can be drawn in any look */
export type Figure = { id: string; height: number; draw: (look: Look) => Drawing };

type Ink = Record<"card" | "line" | "text" | "muted" | "accent" | "sbd" | "verify" | "ntp", string>;
type Axis = { title: string } & Record<string, unknown>;

const { layouts, colourBar, legend, dashes } = constants.figures;
const MAX_CELLS = 250_000;
const FEW_PASSES = 12; // up to which every pass has its tick: Plotly would put some at halves
const [MAX_HOVERED, MAX_NAME] = [8, 24]; // tokens that a note lists, and letters of each

const fixed = (value: number, digits: number) => Number(value.toFixed(digits));

function escaped(text: string) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Return a token's text on one line, shortened, with marks for what cannot be seen; escaped. */
function nameOf(text: string) {
  const letters = [...tokenMarks(text)];
  const short = letters.length > MAX_NAME ? [...letters.slice(0, MAX_NAME - 1), "…"] : letters;
  return escaped(short.join(""));
}

/** What a figure draws: its data, its axes, and further fields of the layout. */
type Parts = { data: object[]; across: Axis; up: Axis } & Record<string, unknown>;

function figureOf(id: string, height: number, partsOf: (ink: Ink, look: Look) => Parts): Figure {
  function draw(look: Look) {
    const scheme = look.isDark ? "dark" : "light";
    const { data, across, up, ...more } = partsOf(constants.inks[scheme], look);
    const layout = layouts[scheme];
    const axis = ({ title, ...own }: Axis) => {
      return { ...layout.xaxis, ...own, title: { ...layout.xaxis.title, text: title } };
    };
    const axes = { xaxis: axis(across), yaxis: axis(up) };
    return { data, layout: { ...layout, ...axes, height, ...more } };
  }
  return { id, height, draw };
}

/** Return a row of points. @param note on each, as Plotly's template */
function pointsOf(x: number[], y: number[], note: string, look: object) {
  const hovertemplate = `${note}<extra></extra>`;
  return { type: "scatter", x, y, mode: "markers", hovertemplate, ...look };
}

function wholeTicks(numPasses: number) {
  return numPasses <= FEW_PASSES ? { dtick: 1 } : {};
}

/** Entropy of the masked positions by forward pass; a dot marks the pass that revealed a position. */
export function entropyHeatmap(run: Run): Figure {
  const { steps, numCommitted } = run.main;
  const ends = steps.map(({ block }) => block.start + block.size);
  const [numPasses, width] = [steps.length, Math.max(numCommitted, ...ends)];
  if (numPasses * width > MAX_CELLS) {
    const most = MAX_CELLS.toLocaleString("en-US");
    throw new Error(`the run has more than ${most} cells (forward passes × positions)`);
  }
  const percent = (share: number) => `${Number((100 * share).toPrecision(3))} %`;
  return figureOf("entropy-heatmap", 440, (ink, { isDark }) => {
    const { light, dark } = constants.entropyScale.ramps;
    const ramp = isDark ? dark : light;
    const shades: (number | null)[][] = steps.map(() => Array(width).fill(null));
    const texts: string[][] = steps.map(() => Array(width).fill(""));
    const dots: [x: number, y: number, text: string][] = [];
    steps.forEach(({ masked, reveals }, pass) => {
      for (const { position, entropy, top } of masked.values()) {
        const tops = top.map(
          ({ token, probability }) => `<br>${percent(probability)} ${nameOf(run.tokenText(token))}`,
        );
        (shades[pass] as number[])[position] = fixed(unsureness(entropy), 4);
        (texts[pass] as string[])[position] = `entropy ${entropy.toFixed(3)} nats${tops.join("")}`;
      }
      for (const { position, token } of reveals)
        dots.push([position, pass + 1, `${nameOf(run.tokenText(token))} revealed`]);
    });
    const note = "position %{x}, forward pass %{y}<br>%{text}";
    const heatmap = {
      type: "heatmap",
      z: shades,
      y: steps.map((_, pass) => pass + 1),
      text: texts,
      zmin: 0,
      zmax: 1,
      xgap: 1,
      ygap: 1,
      hoverongaps: false,
      hovertemplate: `${note}<extra></extra>`,
      colorscale: ramp.map((colour, index) => [index / (ramp.length - 1), colour]),
      colorbar: colourBar,
    };
    const [x, y] = [dots.map(([position]) => position), dots.map(([, pass]) => pass)];
    const reveals = pointsOf(x, y, note, {
      text: dots.map(([, , text]) => text),
      marker: { size: 6, color: ink.card, line: { color: ink.text, width: 1.2 } },
    });
    const up = { title: "forward pass", showgrid: false, range: [numPasses + 0.5, 0.5] };
    return {
      data: [heatmap, reveals],
      across: { title: "position", showgrid: false },
      up: { ...up, ...wholeTicks(numPasses) },
    };
  });
}

/** Tokens that each forward pass revealed, by what next-token prediction said of them later. */
export function tokensPerPass(run: Run): Figure {
  const { steps, hindsight } = run.main;
  return figureOf("tokens-per-forward-pass", 320, (ink) => {
    const own = ink[run.strategy === "ntp" || run.strategy === "verify" ? run.strategy : "sbd"];
    const kinds: [name: string, colour: string, pattern: string, opacity: number][] = [
      ["the same token", own, "", 1],
      ["another token", ink.ntp, "/", 1],
      ["not read again", ink.muted, "", 0.4],
    ];
    const nameOfKind = ({ position, token }: Reveal) => {
      const known = hindsight.get(position);
      if (!known || run.main.fixed.get(position)?.token !== token) return "not read again";
      return known.argmax === token ? "the same token" : "another token";
    };
    const bars = kinds.map(([name, colour, shape, opacity]) => {
      const groups = steps.map(({ reveals }) =>
        reveals.filter((reveal) => nameOfKind(reveal) === name),
      );
      return {
        type: "bar",
        name,
        opacity,
        x: steps.map((_, pass) => pass + 1),
        y: groups.map((group) => group.length),
        text: groups.map((group) => {
          const names = group.map(({ token }) => nameOf(run.tokenText(token)));
          const rest = names.length - MAX_HOVERED;
          return [...names.slice(0, MAX_HOVERED), ...(rest > 0 ? [`+${rest}`] : [])].join("  ");
        }),
        textposition: "none",
        marker: { color: colour, pattern: { shape, fillmode: "overlay" } },
        hovertemplate: `forward pass %{x}, ${name}: %{y}<br>%{text}<extra></extra>`,
      };
    });
    const line = { color: ink.ntp, width: 1.5, dash: "dash" };
    return {
      data: bars,
      across: { title: "forward pass", ...wholeTicks(steps.length) },
      up: { title: "tokens revealed" },
      barmode: "stack",
      showlegend: true,
      legend: { ...legend, traceorder: "normal" },
      shapes: [{ type: "line", xref: "x domain", x0: 0, x1: 1, y0: 1, y1: 1, line }],
    };
  });
}

/** Results of a sweep: [share of right answers, tokens per forward pass] by "solver parameter", "NTP" or "verify". */
export type Sweep = Record<string, [accuracy: number, speed: number]>;
/** A run of the visitor's. rate: tokens per forward pass. right: null if the answer was not checked */
export type Mark = { name: string; rate: number; right: boolean | null };

/** Our own solver, drawn bold beside the paper's. */
const OWN_SOLVER = "entropy-bound-from-left";
const LEGEND_LINE = 21; // height in pixels of a line of the legend

/** Right answers against tokens per forward pass: a line for each solver, and the visitor's runs at the foot. */
export function solverChart(sweep: Sweep, marks: Mark[]): Figure {
  const curves: Map<string, { setting: string; accuracy: number; speed: number }[]> = new Map();
  for (const [name, [accuracy, speed]] of Object.entries(sweep)) {
    const [solver = "", setting] = name.split(" ");
    if (setting !== undefined)
      curves.set(solver, [...(curves.get(solver) ?? []), { setting, accuracy, speed }]);
  }
  const heightOf = ({ accuracy }: { accuracy: number }) => fixed(100 * accuracy, 2);
  const note = "<br>%{y:.1f} % right, %{x:.2f} tokens per forward pass";

  return figureOf("solvers", 520, (ink, { isNarrow }) => {
    const lines = [...curves].map(([solver, points], index) => {
      const inOrder = [...points].sort((a, b) => a.speed - b.speed);
      const isChief = solver === PAPER_SOLVER || solver === OWN_SOLVER;
      const color = !isChief ? ink.muted : solver === OWN_SOLVER ? ink.text : ink.sbd;
      const name = SOLVER_TITLES[solver] ?? escaped(solver);
      const [x, y] = [inOrder.map(({ speed }) => speed), inOrder.map(heightOf)];
      return pointsOf(x, y, `${name} at %{text}${note}`, {
        name: [name, SOLVER_SOURCES[solver]].filter(Boolean).join(", "),
        text: inOrder.map(({ setting }) => setting),
        mode: "lines+markers",
        marker: { symbol: index, size: isChief ? 9 : 7, color },
        line: { color, width: isChief ? 3 : 1.5, dash: dashes[index % dashes.length] },
      });
    });
    const stars = (
      [
        ["NTP", LANE_TITLES.ntp, "star", ink.ntp],
        ["verify", LANE_TITLES.verify, "star-square", ink.verify],
      ] as const
    ).flatMap(([row, name = row, symbol, color]) => {
      const [accuracy, speed] = sweep[row] ?? [];
      if (accuracy === undefined || speed === undefined) return [];
      const marker = { symbol, size: 14, color };
      const star = { name, text: [""], marker };
      return pointsOf([speed], [heightOf({ accuracy })], `${name}${note}`, star);
    });
    const data = [...lines, ...stars];
    const heights = data.flatMap(({ y }) => y);
    const [low, high] = [Math.min(...heights), Math.max(...heights)];
    const checked = (right: boolean | null) =>
      right === null ? "not checked" : right ? "right" : "wrong";
    const rates = marks.map(({ rate }) => fixed(rate, 4));
    const foot = marks.map(() => low - 0.08 * Math.max(high - low, 1));
    // Short lines and no name beside them, which a phone has no room for.
    const own = pointsOf(rates, foot, "%{text}<br>%{x:.2f} tokens per forward pass", {
      name: "your runs",
      text: marks.map(
        ({ name, right }) => `Your run: ${escaped(name)}<br>answer ${checked(right)}`,
      ),
      marker: { symbol: "line-ns-open", size: 11, color: ink.accent, line: { width: 4 } },
    });
    if (marks.length) data.push(own);
    const below = LEGEND_LINE * data.length;
    const narrow = {
      legend,
      height: 420 + below,
      margin: { ...layouts.light.margin, b: 60 + below },
    };
    return {
      data,
      across: { title: "tokens per forward pass" },
      up: { title: "right answers, %" },
      showlegend: true,
      ...(isNarrow && narrow),
    };
  });
}

const CURVE_ROWS = [1, 2, 4, 8, 16, 32, 64];

/** Return the points of slowdownCurve(), in times of a forward pass over one row. */
export function slowdownPoints(block: number, setup: Setup) {
  const sizes = [...new Set([...CURVE_ROWS, block, 2 * block])].sort((a, b) => a - b);
  return sizes.map((rows) => ({
    rows,
    published: fixed(slowdown(rows, setup, "published"), 4),
    corrected: fixed(slowdown(rows, setup), 4),
  }));
}

/** Time of a forward pass over n rows, in times of one over a single row. */
export function slowdownCurve(
  block: number,
  setup: Setup,
  timed: { name: string; seconds: Record<string, number> },
): Figure {
  const points = slowdownPoints(block, setup);
  return figureOf("slowdown-curve", 380, (ink) => {
    const rows = points.map((point) => point.rows);
    const line = (mode: "published" | "corrected", name: string, color: string, dash: string) => {
      const look = { name: `roofline, ${name}`, mode: "lines", line: { color, dash, width: 2.5 } };
      const times = points.map((point) => point[mode]);
      return pointsOf(rows, times, "%{x} tokens: %{y:.3f} times one token", look);
    };
    const mark = (name: string, x: number[], y: number[], marker: object) => {
      const times = y.map((value) => fixed(value, 4));
      return pointsOf(x, times, `${name}: %{x} tokens, %{y:.3f} times one token`, { name, marker });
    };
    const data = [
      line("published", "as the paper counts", ink.muted, "dash"),
      line("corrected", "corrected", ink.accent, "solid"),
    ];
    const sizes = sortedKeys(timed.seconds);
    if (sizes.length) {
      const ratios = sizes.map((size) => (timed.seconds[size] ?? 0) / (timed.seconds[1] ?? 1));
      const diamond = { symbol: "diamond", size: 10, color: ink.sbd };
      data.push(mark(timed.name, sizes, ratios, diamond));
    }
    const star = { symbol: "star", size: 16, color: ink.ntp };
    data.push(mark("your block", [block], [slowdown(block, setup)], star));
    const ticks = { tickvals: CURVE_ROWS, ticktext: CURVE_ROWS.map(String) };
    // Plotly's own range may end just under the last tick.
    const range = [-0.03, Math.log10(Math.max(...rows)) + 0.03];
    return {
      data,
      across: { title: "tokens in the forward pass", type: "log", range, ...ticks },
      up: { title: "time, times one token", rangemode: "tozero" },
      margin: { ...layouts.light.margin, b: 84 },
      showlegend: true,
      legend,
    };
  });
}
