// The charts under the player, and the bar that opens and closes them. Each chart is a card, drawn by Plotly once it
// is in view. Open charts follow the run that the player shows; closed ones request nothing from the server.

import { failureWords } from "./core/numbers.js";
import { traceText } from "./core/trace.js";
import { decodingWords } from "./core/words.js";
import { find, make, makeToggle } from "./dom/elements.js";
import { fileAddress } from "./dom/gradio.js";
import { isDarkPage, onScheme } from "./dom/screen.js";
import { makeTermNote, makeUnfoldButton, withTerms } from "./dom/terms.js";
import { onViewChange, playerOf } from "./dom/views.js";

/** @import { Mount, Trigger } from "./stub.js" */

/**
 * Return a copy of `old` with changes, nested as `old` is; changes to a list have its indices as keys.
 * @param {any} old
 * @param {any} changes
 * @returns {any}
 */
export function withChanges(old, changes) {
  if (changes === undefined) return old;
  if (!isNested(old) || !isNested(changes) || Array.isArray(changes)) return changes;
  /** @type {any} */
  const copy = Array.isArray(old) ? [...old] : { ...old };
  for (const [key, change] of Object.entries(changes)) copy[key] = withChanges(copy[key], change);
  return copy;
}

/** @param {unknown} value */
function isNested(value) {
  return typeof value === "object" && value !== null;
}

/**
 * Title and description of a chart. ntp, verify: descriptions that replace `words` for a run by that strategy.
 * @typedef {{ id: string, title: string, words: string, ntp?: string, verify?: string }} CardWords
 */

/**
 * Return the rows with the `words` that fit a strategy.
 * @param {CardWords[]} rows
 * @param {string} strategy
 * @returns {CardWords[]}
 */
export function wordsFor(rows, strategy) {
  const key = strategy === "ntp" || strategy === "verify" ? strategy : "words";
  return rows.map((row) => ({ ...row, words: row[key] ?? row.words }));
}

/** @typedef {{ data: object[], layout: { height: number, meta?: { narrow?: object } } }} Drawing what Plotly draws; narrow: changes for a narrow chart */
/** @typedef {Drawing & { id: string, dark: object }} Figure dark: changes for a dark page */
/** @typedef {{ react: (node: HTMLElement, data: object[], layout: object, config: object) => Promise<unknown> }} Plotly */

const NARROW = 560; // width in pixels below which a chart is narrow

const CHART_CONFIG = {
  displaylogo: false,
  displayModeBar: true,
  responsive: true,
  showSendToCloud: false,
  plotlyServerURL: "",
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
};

/**
 * Return a function that loads Plotly from `address` once; after a failure the next call tries again.
 * @param {string} address
 * @returns {() => Promise<Plotly>}
 */
export function makeLibrary(address) {
  /** @type {Promise<Plotly> | null} */
  let loading = null;
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
  /** @param {CardWords} words */
  constructor({ id, title, words }) {
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
    /** @type {Figure | null} */
    this.figure = null;
    this.drawnScheme = ""; // the scheme in which the figure was drawn: "light", "dark", or "" for none
    this.isInSight = false;
  }

  /** @param {{ title: string, words: string }} texts */
  setWords({ title, words }) {
    this.title.textContent = title;
    this.words.replaceChildren(...withTerms(words));
  }

  /** @param {Figure} figure */
  take(figure) {
    this.figure = figure;
    this.drawnScheme = "";
    this.plot.style.minHeight = `${figure.layout.height}px`;
  }
}

/** The cards of several charts. */
export class ChartCards {
  /** @param {CardWords[]} rows @param {() => Promise<Plotly>} library */
  constructor(rows, library) {
    this.library = library;
    this.name = "";
    this.cards = rows.map((row) => new Card(row));
    this.root = make("div", "sbd-charts-cards", ...this.cards.map(({ root }) => root));
    this.sight = new IntersectionObserver((entries) => this.look(entries), { rootMargin: "300px" });
    for (const { root } of this.cards) this.sight.observe(root);
  }

  /** @param {IntersectionObserverEntry[]} entries */
  look(entries) {
    for (const { target, isIntersecting } of entries) {
      const card = this.cards.find(({ root }) => root === target);
      if (!card) continue;
      card.isInSight = isIntersecting;
      this.draw(card).catch(() => {}); // show() reports failures
    }
  }

  /**
   * Take the figures of a run: draw those in view now, the others once they are in view.
   * @param {Figure[]} figures
   * @param {string} name file name of a saved picture, without its ending
   */
  async show(figures, name) {
    this.name = name;
    for (const figure of figures) this.cards.find(({ id }) => id === figure.id)?.take(figure);
    await this.drawAll();
  }

  /** Change the titles and descriptions of some charts. @param {CardWords[]} rows */
  setWords(rows) {
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

  /** @param {Card} card @param {boolean} isWanted true also draws a card out of view */
  async draw(card, isWanted = card.isInSight) {
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

/** @typedef {{ cards: CardWords[], library: string }} Setting */
/** @typedef {{ run?: string, figures?: Figure[], error?: string }} Answer */
/** @typedef {{ name: string, rate: number, right: boolean | null }} Mark a run in the chart of solvers. rate: tokens per forward pass; right: the verdict on its answer, null for none */

const CLOSED_WORDS =
  "Charts of this run: [entropy], [tokens|token] per [forward pass], agreement, and the cost of parallelism.";
const MAX_MARKED = 12; // MAX_MARKED in ui/views/charts.py
const SOLVERS_WORDS = "Every [solver] on held-out examples, your runs marked.";
const OPEN_WORDS = "Drag to zoom, point to read, and press the camera to save.";

/** The section under the player or under Compare: the bar and the charts. */
class ChartSection {
  /** @param {HTMLElement} root @param {Setting} setting @param {Trigger} trigger */
  constructor(root, setting, trigger) {
    this.root = root;
    this.setting = setting;
    this.trigger = trigger;
    this.library = makeLibrary(fileAddress(setting.library));
    this.isOpen = false;
    this.requestedRun = "";
    /** @type {Map<string, Mark>} runs for the chart of solvers, the newest last, by id */
    this.marks = new Map();
    /** @type {ChartCards | null} */
    this.cards = null;
    this.status = make("p", "sbd-charts-status", { role: "status" });
    this.bar = makeToggle("Charts", () => this.toggleOpen());
    find(root, ".sbd-charts-bar").replaceChildren(this.bar, this.status);
    this.closedWords = CLOSED_WORDS;
    this.say(withTerms(CLOSED_WORDS));
  }

  /** @param {boolean} isCompared whether the section is shown under Compare */
  setClosedWords(isCompared) {
    this.closedWords = isCompared ? SOLVERS_WORDS : CLOSED_WORDS;
    if (!this.isOpen) this.say(withTerms(this.closedWords));
  }

  /** @param {string | (Node | string)[]} words @param {boolean} [isError] */
  say(words, isError = false) {
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
    this.trigger("draw_charts", { run: run.id, trace: traceText(run), marks });
  }

  /** Request the charts again, as the chart of solvers has other runs to mark. */
  requestAgain() {
    this.requestedRun = "";
    this.request();
  }

  /** @param {Answer} answer */
  async take({ run, figures, error }) {
    if (!this.isOpen || !this.cards) return;
    const shown = playerOf(document)?.run;
    if (error) this.say(error, true);
    if (error || !figures || this.requestedRun !== run) return;
    try {
      this.cards.setWords(wordsFor(this.setting.cards, shown?.strategy ?? ""));
      await this.cards.show(figures, shown?.fileStem ?? "");
      delete this.root.dataset.isOld;
      this.say(OPEN_WORDS);
    } catch (failure) {
      this.fail(failure);
    }
  }

  /** @param {unknown} failure */
  fail(failure) {
    this.requestedRun = "";
    this.say(`The charts cannot be drawn: ${failureWords(failure)}.`, true);
  }
}

/** @type {Mount} */
export function mountCharts({ element, value, trigger, signal }) {
  const section = new ChartSection(find(element, ".sbd-charts"), JSON.parse(value), trigger);
  makeTermNote(section.root, signal);
  const follow = () => {
    section.addMark();
    section.request();
  };
  /** @param {Event} event its detail: the marks of lanes that were compared */
  const onCompared = (event) => {
    for (const mark of event instanceof CustomEvent ? event.detail : [])
      section.marks.set(`compared ${mark.name}`, mark);
    section.requestAgain();
  };
  onViewChange((name) => section.setClosedWords(name === "compare"), signal);
  document.addEventListener("sbd-run", follow, { signal });
  document.addEventListener("sbd-compared", onCompared, { signal });
  onScheme(() => section.cards?.drawAll().catch((failure) => section.fail(failure)), signal);
  return (text) => section.take(JSON.parse(text));
}
