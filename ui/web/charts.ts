// The charts under the player, and the bar that opens and closes them. Each chart is a card, drawn by Plotly once it
// is in view. Open charts follow the run that the player shows; Plotly itself is loaded when the first chart needs it.

import { html, render } from "lit-html";
import {
  entropyHeatmap,
  type Figure,
  type Mark,
  type Sweep,
  solverChart,
  tokensPerPass,
} from "./core/figures.ts";
import { failureWords } from "./core/numbers.ts";
import { decodingWords, SOLVER_SOURCES } from "./core/words.ts";
import { find, make } from "./dom/elements.ts";
import { pageAddress } from "./dom/page.ts";
import { makeTableButtons } from "./dom/save.ts";
import { isDarkPage, onScheme } from "./dom/screen.ts";
import { toggleButton } from "./dom/templates.ts";
import { makeTermNote, termTemplates, unfoldTemplate } from "./dom/terms.ts";
import { onViewChange, playerOf } from "./dom/views.ts";

/** Title and description of a chart. ntp, verify: descriptions that replace `words` for a run by that strategy. */
export type CardWords = { id: string; title: string; words: string; ntp?: string; verify?: string };

/** Return the rows with the `words` that fit a strategy. */
export function wordsFor(rows: CardWords[], strategy: string): CardWords[] {
  const key = strategy === "ntp" || strategy === "verify" ? strategy : "words";
  return rows.map((row) => ({ ...row, words: row[key] ?? row.words }));
}

type Plotly = {
  react: (node: HTMLElement, data: object[], layout: object, config: object) => Promise<unknown>;
};

const NARROW = 560; // width in pixels below which a chart is narrow

const CHART_CONFIG = {
  displaylogo: false,
  displayModeBar: true,
  responsive: true,
  showSendToCloud: false,
  plotlyServerURL: "",
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
};

const LIBRARY = "vendor/plotly-cartesian.min.js";
let loading: Promise<Plotly> | null = null;

/** Load Plotly once; after a failure the next call tries again. */
function library() {
  loading ??= new Promise((done, fail) => {
    const script = make("script", "", { src: pageAddress(LIBRARY) });
    // Plotly's script sets window.Plotly.
    script.addEventListener("load", () => done(Reflect.get(window, "Plotly")));
    script.addEventListener("error", () => {
      loading = null;
      script.remove();
      fail(new Error(`${LIBRARY} did not load`));
    });
    document.head.append(script);
  });
  return loading;
}

/** One chart: its title, its description behind a "?", and the element that it is drawn in. */
class Card {
  plot = make("div", "sbd-chart-stage");
  root = make("section", `sbd-chart is-${this.row.id}`);
  figure: Figure | null = null;
  drawnScheme = ""; // the scheme in which the figure was drawn: "light", "dark", or "" for none
  isInSight = false;

  /** @param below what stands under the chart */
  constructor(
    readonly row: CardWords,
    readonly below: Node | string = "",
  ) {
    this.setWords(row);
  }

  setWords({ id, title, words }: CardWords) {
    const content = html`<div class="sbd-chart-head"
        ><h3>${title}</h3>${unfoldTemplate("this chart", `sbd-chart-${id}-words`)}</div>
      <p id="sbd-chart-${id}-words" hidden>${termTemplates(words)}</p>
      ${this.plot}${this.below}`;
    render(content, this.root);
  }

  take(figure: Figure) {
    this.figure = figure;
    this.drawnScheme = "";
    this.plot.style.minHeight = `${figure.height}px`;
  }

  /** Draw the figure, unless it is drawn in the page's scheme, light or dark. @param name of a saved picture */
  async draw(name: string) {
    const scheme = isDarkPage() ? "dark" : "light";
    const { figure, plot } = this;
    if (!figure || this.drawnScheme === scheme) return;
    if (!plot.firstChild) plot.append("Drawing …");
    const plotly = await library();
    if (this.drawnScheme === scheme) return; // drawn while the library was loading
    if (!plot.firstElementChild) plot.replaceChildren(); // Plotly expects its own
    this.drawnScheme = scheme;
    const isNarrow = plot.clientWidth < NARROW;
    const { data, layout } = figure.draw({ isDark: scheme === "dark", isNarrow });
    const config = { ...CHART_CONFIG, toImageButtonOptions: { filename: name, scale: 2 } };
    // As high as the card beside it.
    layout.height = Math.max(layout.height, plot.clientHeight);
    await plotly.react(plot, data, layout, config);
  }
}

export class ChartCards {
  name = ""; // of a saved picture, without its ending
  cards: Card[];
  root: HTMLDivElement;

  /** @param below what stands under charts, by id */
  constructor(rows: CardWords[], below: Record<string, Node> = {}) {
    this.cards = rows.map((row) => new Card(row, below[row.id]));
    this.root = make("div", "sbd-charts-cards", ...this.cards.map(({ root }) => root));
    const look = (entries: IntersectionObserverEntry[]) => {
      for (const { target, isIntersecting } of entries) {
        for (const card of this.cards) if (card.root === target) card.isInSight = isIntersecting;
      }
      this.drawAll().catch(() => {}); // show() reports failures
    };
    const sight = new IntersectionObserver(look, { rootMargin: "300px" });
    for (const { root } of this.cards) sight.observe(root);
  }

  /**
   * Take the figures of a run: draw those in view now, the others once they are in view.
   * @param name file name of a saved picture, without its ending
   */
  async show(figures: Figure[], name: string) {
    this.name = name;
    for (const figure of figures) this.cards.find(({ row }) => row.id === figure.id)?.take(figure);
    await this.drawAll();
  }

  setWords(rows: CardWords[]) {
    for (const words of rows) this.cards.find(({ row }) => row.id === words.id)?.setWords(words);
  }

  /** Draw the charts in view that are not yet drawn in the page's scheme. */
  async drawAll() {
    const seen = this.cards.filter(({ isInSight }) => isInSight);
    await Promise.all(seen.map((card) => card.draw(this.name)));
  }

  /** Draw the charts out of view too, one after the other, while the page shows the cards. */
  async drawRest() {
    for (const card of this.cards) if (this.root.clientWidth) await card.draw(this.name);
  }
}

/** sweep: the results in the chart of solvers, of `model`. mostMarked: largest number of runs to mark in it */
type Setting = { cards: CardWords[]; sweep: Sweep; model: string; mostMarked: number };

const CLOSED_WORDS =
  "Charts of this run: [entropy], [tokens|token] per [forward pass], agreement, and the cost of parallelism.";
const SOLVERS_WORDS = "Every [solver], nano on held-out examples; your runs of nano are marked.";
const OPEN_WORDS = "Drag to zoom, point to read, and press the camera to save.";

/** The section under the player or under Compare: the bar and the charts. */
class ChartSection {
  isOpen = false;
  drawnRun = "";
  /** runs for the chart of solvers, the newest last, by id */
  marks: Map<string, Mark> = new Map();
  cards: ChartCards | null = null;
  status = make("p", "sbd-charts-status", { role: "status" });
  closedWords = CLOSED_WORDS;

  constructor(
    readonly root: HTMLElement,
    readonly setting: Setting,
  ) {
    this.drawBar();
    this.say(CLOSED_WORDS);
  }

  drawBar() {
    const toggle = toggleButton("Charts", this.isOpen, () => this.toggleOpen());
    render(html`${toggle}${this.status}`, find(this.root, ".sbd-charts-bar"));
  }

  say(words: string, isError = false) {
    this.status.classList.toggle("is-error", isError);
    render(termTemplates(words), this.status);
  }

  toggleOpen() {
    this.isOpen = !this.isOpen;
    this.drawBar();
    if (this.isOpen) this.open();
    else this.say(this.closedWords);
    this.root.toggleAttribute("data-is-open", this.isOpen);
    this.drawAgain();
  }

  open() {
    library().catch(() => {}); // show() reports failures
    if (this.cards) return;
    const solvers = makeTableButtons("sbd-solvers", "these results", () => this.table());
    this.cards = new ChartCards(this.setting.cards, { solvers });
    this.root.append(this.cards.root);
  }

  /** The results in the chart of solvers, as rows to save. */
  table() {
    return Object.entries(this.setting.sweep).map(([name, [accuracy, rate]]) => {
      const [solver = "", setting = ""] = name.split(" ");
      return {
        solver,
        from: SOLVER_SOURCES[solver] ?? "",
        setting,
        accuracy,
        tokens_per_forward: rate,
      };
    });
  }

  /**
   * Add the run shown to the chart of solvers once it is complete, unless it is of another model or the page's first
   * recorded run.
   */
  addMark() {
    const run = playerOf(document)?.run;
    if (!run?.isComplete || run.id === "opening" || run.model !== this.setting.model) return;
    const rate = run.numbersAt(run.main.lastPass).tokensPerPass;
    this.marks.delete(run.id);
    this.marks.set(run.id, {
      name: decodingWords(run),
      rate,
      right: run.main.verdict?.right ?? null,
    });
  }

  /** Draw the charts of the run shown once it is complete, unless they were drawn before. */
  async draw() {
    const run = playerOf(document)?.run;
    if (!this.isOpen || !run || !this.cards) return;
    if (run.isComplete && run.id === this.drawnRun) return;
    this.root.dataset.isOld = "";
    this.drawnRun = run.isComplete ? run.id : "";
    this.say(run.isComplete ? "Drawing …" : "The charts are drawn when this run is complete.");
    if (!run.isComplete) return;
    const { cards, sweep, mostMarked } = this.setting;
    const marks = [...this.marks.values()].slice(-mostMarked);
    const isCurrent = () => this.isOpen && this.drawnRun === run.id;
    try {
      const figures = [entropyHeatmap(run), tokensPerPass(run), solverChart(sweep, marks)];
      this.cards.setWords(wordsFor(cards, run.strategy));
      await this.cards.show(figures, run.fileStem);
      if (!isCurrent()) return;
      delete this.root.dataset.isOld;
      this.say(OPEN_WORDS);
    } catch (failure) {
      if (isCurrent()) this.fail(failure);
    }
  }

  /** Draw the charts again, as the chart of solvers has other runs to mark. */
  drawAgain() {
    this.drawnRun = "";
    void this.draw();
  }

  fail(failure: unknown) {
    this.drawnRun = "";
    this.say(`The charts cannot be drawn: ${failureWords(failure)}.`, true);
  }
}

export function mountCharts(element: HTMLElement, value: string, signal: AbortSignal) {
  const section = new ChartSection(find(element, ".sbd-charts"), JSON.parse(value));
  makeTermNote(section.root, signal);
  const follow = () => {
    section.addMark();
    void section.draw();
  };
  /** @param event its detail: the model, and the marks of lanes that were compared */
  const onCompared = (event: Event) => {
    const { model, marks } = event instanceof CustomEvent ? event.detail : { marks: [] };
    if (model !== section.setting.model) return;
    for (const mark of marks) section.marks.set(`compared ${mark.name}`, mark);
    section.drawAgain();
  };
  onViewChange((name) => {
    section.closedWords = name === "compare" ? SOLVERS_WORDS : CLOSED_WORDS;
    if (!section.isOpen) section.say(section.closedWords);
  }, signal);
  document.addEventListener("sbd-run", follow, { signal });
  document.addEventListener("sbd-compared", onCompared, { signal });
  onScheme(() => section.cards?.drawAll().catch((failure) => section.fail(failure)), signal);
}
