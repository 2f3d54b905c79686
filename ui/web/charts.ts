// The charts under the player, and the bar that opens and closes them. Each chart is a card, drawn by Plotly once it
// is in view. Open charts follow the run that the player shows; closed ones request nothing from the server.

import { failureWords } from "./core/numbers.ts";
import type { Run } from "./core/run.ts";
import { traceText } from "./core/trace.ts";
import { decodingWords } from "./core/words.ts";
import { find, make, makeToggle } from "./dom/elements.ts";
import { pageAddress } from "./dom/page.ts";
import { isDarkPage, onScheme } from "./dom/screen.ts";
import { makeTermNote, makeUnfoldButton, withTerms } from "./dom/terms.ts";
import { onViewChange, playerOf } from "./dom/views.ts";
import { askServer } from "./server.ts";

/** Return a copy of `old` with changes, nested as `old` is; changes to a list have its indices as keys. */
export function withChanges(old: any, changes: any): any {
  if (changes === undefined) return old;
  if (!isNested(old) || !isNested(changes) || Array.isArray(changes)) return changes;
  const copy: any = Array.isArray(old) ? [...old] : { ...old };
  for (const [key, change] of Object.entries(changes)) copy[key] = withChanges(copy[key], change);
  return copy;
}

function isNested(value: unknown) {
  return typeof value === "object" && value !== null;
}

/** Title and description of a chart. ntp, verify: descriptions that replace `words` for a run by that strategy. */
export type CardWords = { id: string; title: string; words: string; ntp?: string; verify?: string };

/** Return the rows with the `words` that fit a strategy. */
export function wordsFor(rows: CardWords[], strategy: string): CardWords[] {
  const key = strategy === "ntp" || strategy === "verify" ? strategy : "words";
  return rows.map((row) => ({ ...row, words: row[key] ?? row.words }));
}

/** what Plotly draws; narrow: changes for a narrow chart */
type Drawing = { data: object[]; layout: { height: number; meta?: { narrow?: object } } };
/** dark: changes for a dark page */
export type Figure = Drawing & { id: string; dark: object };
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

/** Return a function that loads Plotly from `address` once; after a failure the next call tries again. */
export function makeLibrary(address: string): () => Promise<Plotly> {
  let loading: Promise<Plotly> | null = null;
  return () => {
    loading ??= new Promise((done, fail) => {
      const script = make("script", "", { src: address });
      // Plotly's script sets window.Plotly.
      script.addEventListener("load", () => done(Reflect.get(window, "Plotly")));
      script.addEventListener("error", () => {
        loading = null;
        script.remove();
        fail(new Error(`${address} did not load`));
      });
      document.head.append(script);
    });
    return loading;
  };
}

/** One chart: its title, its description behind a "?", and the element that it is drawn in. */
class Card {
  id: string;
  plot: HTMLDivElement;
  title: HTMLHeadingElement;
  words: HTMLParagraphElement;
  root: HTMLElement;
  figure: Figure | null = null;
  drawnScheme = ""; // the scheme in which the figure was drawn: "light", "dark", or "" for none
  isInSight = false;

  constructor({ id, title, words }: CardWords) {
    this.id = id;
    this.plot = make("div", "sbd-chart-stage");
    this.title = make("h3");
    this.words = make("p");
    const head = make(
      "div",
      "sbd-chart-head",
      this.title,
      makeUnfoldButton("this chart", this.words),
    );
    this.root = make("section", `sbd-chart is-${id}`, head, this.words, this.plot);
    this.setWords({ title, words });
  }

  setWords({ title, words }: { title: string; words: string }) {
    this.title.textContent = title;
    this.words.replaceChildren(...withTerms(words));
  }

  take(figure: Figure) {
    this.figure = figure;
    this.drawnScheme = "";
    this.plot.style.minHeight = `${figure.layout.height}px`;
  }
}

/** The cards of several charts. */
export class ChartCards {
  name = "";
  cards: Card[];
  root: HTMLDivElement;
  sight: IntersectionObserver;

  constructor(
    rows: CardWords[],
    readonly library: () => Promise<Plotly>,
  ) {
    this.cards = rows.map((row) => new Card(row));
    this.root = make("div", "sbd-charts-cards", ...this.cards.map(({ root }) => root));
    this.sight = new IntersectionObserver((entries) => this.look(entries), { rootMargin: "300px" });
    for (const { root } of this.cards) this.sight.observe(root);
  }

  look(entries: IntersectionObserverEntry[]) {
    for (const { target, isIntersecting } of entries) {
      const card = this.cards.find(({ root }) => root === target);
      if (!card) continue;
      card.isInSight = isIntersecting;
      this.draw(card).catch(() => {}); // show() reports failures
    }
  }

  /**
   * Take the figures of a run: draw those in view now, the others once they are in view.
   * @param name file name of a saved picture, without its ending
   */
  async show(figures: Figure[], name: string) {
    this.name = name;
    for (const figure of figures) this.cards.find(({ id }) => id === figure.id)?.take(figure);
    await this.drawAll();
  }

  /** Change the titles and descriptions of some charts. */
  setWords(rows: CardWords[]) {
    for (const row of rows) this.cards.find(({ id }) => id === row.id)?.setWords(row);
  }

  /** Draw the charts in view that are not yet drawn in the page's scheme, light or dark. */
  async drawAll() {
    await Promise.all(this.cards.map((card) => this.draw(card)));
  }

  /** Draw the charts out of view too, one after the other, while the page shows the cards. */
  async drawRest() {
    for (const card of this.cards) {
      if (this.root.clientWidth) await this.draw(card, true);
    }
  }

  /** @param isWanted true also draws a card out of view */
  async draw(card: Card, isWanted: boolean = card.isInSight) {
    const scheme = isDarkPage() ? "dark" : "light";
    if (!isWanted || !card.figure || card.drawnScheme === scheme) return;
    const plotly = await this.library();
    if (card.drawnScheme === scheme) return; // drawn while the library was loading
    card.drawnScheme = scheme;
    const themed = withChanges(card.figure, scheme === "dark" ? card.figure.dark : undefined);
    const isNarrow = card.plot.clientWidth < NARROW;
    const { data, layout } = withChanges(themed, isNarrow ? themed.layout.meta?.narrow : undefined);
    const toImageButtonOptions = { filename: this.name, scale: 2 };
    const config = { ...CHART_CONFIG, toImageButtonOptions };
    await plotly.react(card.plot, data, layout, config);
  }
}

type Setting = { cards: CardWords[]; library: string };
/** a run in the chart of solvers. rate: tokens per forward pass; right: the verdict on its answer, null for none */
type Mark = { name: string; rate: number; right: boolean | null };

const CLOSED_WORDS =
  "Charts of this run: [entropy], [tokens|token] per [forward pass], agreement, and the cost of parallelism.";
const MAX_MARKED = 12; // MAX_MARKED in ui/views/charts.py
const SOLVERS_WORDS = "Every [solver] on held-out examples, your runs marked.";
const OPEN_WORDS = "Drag to zoom, point to read, and press the camera to save.";

/** The section under the player or under Compare: the bar and the charts. */
class ChartSection {
  library: () => Promise<Plotly>;
  isOpen = false;
  requestedRun = "";
  /** runs for the chart of solvers, the newest last, by id */
  marks: Map<string, Mark> = new Map();
  cards: ChartCards | null = null;
  status: HTMLParagraphElement;
  bar: HTMLButtonElement;
  closedWords = CLOSED_WORDS;

  constructor(
    readonly root: HTMLElement,
    readonly setting: Setting,
  ) {
    this.library = makeLibrary(pageAddress(setting.library));
    this.status = make("p", "sbd-charts-status", { role: "status" });
    this.bar = makeToggle("Charts", () => this.toggleOpen());
    find(root, ".sbd-charts-bar").replaceChildren(this.bar, this.status);
    this.say(withTerms(CLOSED_WORDS));
  }

  /** @param isCompared whether the section is shown under Compare */
  setClosedWords(isCompared: boolean) {
    this.closedWords = isCompared ? SOLVERS_WORDS : CLOSED_WORDS;
    if (!this.isOpen) this.say(withTerms(this.closedWords));
  }

  say(words: string | (Node | string)[], isError: boolean = false) {
    this.status.classList.toggle("is-error", isError);
    this.status.replaceChildren(...(typeof words === "string" ? [words] : words));
  }

  toggleOpen() {
    this.isOpen = !this.isOpen;
    this.bar.setAttribute("aria-expanded", String(this.isOpen));
    if (this.isOpen) this.open();
    else this.say(withTerms(this.closedWords));
    this.root.toggleAttribute("data-is-open", this.isOpen);
    this.requestAgain();
  }

  open() {
    this.library().catch(() => {}); // loads while the server makes the figures; draw() reports failures
    if (this.cards) return;
    this.cards = new ChartCards(this.setting.cards, this.library);
    this.root.append(this.cards.root);
  }

  /** Add the run shown to the chart of solvers once it is complete, unless it is the page's first recorded run. */
  addMark() {
    const run = playerOf(document)?.run;
    if (!run?.isComplete || run.id === "opening") return;
    const rate = run.numbersAt(run.main.lastPass).tokensPerPass;
    this.marks.delete(run.id);
    this.marks.set(run.id, {
      name: decodingWords(run),
      rate,
      right: run.main.verdict?.right ?? null,
    });
  }

  /** Request the charts of the run shown once it is complete, unless they were requested before. */
  request() {
    const run = playerOf(document)?.run;
    if (!this.isOpen || !run) return;
    if (run.isComplete && run.id === this.requestedRun) return;
    this.root.dataset.isOld = "";
    this.requestedRun = run.isComplete ? run.id : "";
    this.say(run.isComplete ? "Drawing …" : "The charts are drawn when this run is complete.");
    if (!run.isComplete) return;
    const marks = [...this.marks.values()].slice(-MAX_MARKED);
    void this.ask(run, marks);
  }

  /** Request the charts again, as the chart of solvers has other runs to mark. */
  requestAgain() {
    this.requestedRun = "";
    this.request();
  }

  /** Have the server draw the charts of a run, and show them unless others were requested since. */
  async ask(run: Run, marks: Mark[]) {
    const isCurrent = () => this.isOpen && this.cards !== null && this.requestedRun === run.id;
    try {
      const sent = { trace: traceText(run), marks };
      const { figures }: { figures: Figure[] } = await askServer("charts", sent);
      if (!this.cards || !isCurrent()) return;
      this.cards.setWords(wordsFor(this.setting.cards, run.strategy));
      await this.cards.show(figures, run.fileStem);
      delete this.root.dataset.isOld;
      this.say(OPEN_WORDS);
    } catch (failure) {
      if (isCurrent()) this.fail(failure);
    }
  }

  fail(failure: unknown) {
    this.requestedRun = "";
    this.say(`The charts cannot be drawn: ${failureWords(failure)}.`, true);
  }
}

export function mountCharts(element: HTMLElement, value: string, signal: AbortSignal) {
  const section = new ChartSection(find(element, ".sbd-charts"), JSON.parse(value));
  makeTermNote(section.root, signal);
  const follow = () => {
    section.addMark();
    section.request();
  };
  /** @param event its detail: the marks of lanes that were compared */
  const onCompared = (event: Event) => {
    for (const mark of event instanceof CustomEvent ? event.detail : [])
      section.marks.set(`compared ${mark.name}`, mark);
    section.requestAgain();
  };
  onViewChange((name) => section.setClosedWords(name === "compare"), signal);
  document.addEventListener("sbd-run", follow, { signal });
  document.addEventListener("sbd-compared", onCompared, { signal });
  onScheme(() => section.cards?.drawAll().catch((failure) => section.fail(failure)), signal);
}
