// The charts themselves: a card each, drawn by Plotly once it comes into sight. Plotly is loaded
// when it is first needed, and once. Nothing of a chart leaves the page.

import { make } from "../dom/elements.js";
import { unfold, withTerms } from "../dom/terms.js";
import { withChanges } from "./changes.js";

/** @typedef {{ data: object[], layout: { height: number, meta?: { narrow?: object } } }} Drawing as Plotly takes it; narrow: what changes where there is little room */
/** @typedef {Drawing & { id: string, dark: object }} Figure dark: what changes on a dark page */
/** @typedef {{ react: (node: HTMLElement, data: object[], layout: object, config: object) => Promise<unknown> }} Plotly */
/** @import { CardWords } from "./words.js" */

const NARROW = 560; // pixels of a stage

const CHART_CONFIG = {
  displaylogo: false,
  displayModeBar: true,
  responsive: true,
  showSendToCloud: false,
  plotlyServerURL: "",
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
};

/**
 * A function that loads Plotly from `address`, once; after a failure it tries anew.
 * @param {string} address
 * @returns {() => Promise<Plotly>}
 */
export function makeLibrary(address) {
  /** @type {Promise<Plotly> | null} */
  let loading = null;
  return () => {
    loading ??= new Promise((done, fail) => {
      const script = make("script", "", { src: address });
      // The library puts itself into the window.
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

/** One chart: its title, what it shows behind a "?", and where it is drawn. */
class Card {
  /** @param {CardWords} words */
  constructor({ id, title, words }) {
    this.id = id;
    this.stage = make("div", "sbd-chart-stage");
    this.title = make("h3");
    this.words = make("p");
    const head = make("div", "sbd-chart-head", {}, this.title, unfold("this chart", this.words));
    this.root = make("section", `sbd-chart is-${id}`, {}, head, this.words, this.stage);
    this.say({ title, words });
    /** @type {Figure | null} */
    this.figure = null;
    this.isDrawn = false;
    this.isInSight = false;
  }

  /** @param {{ title: string, words: string }} texts */
  say({ title, words }) {
    this.title.textContent = title;
    this.words.replaceChildren(...withTerms(words));
  }

  /** @param {Figure} figure */
  take(figure) {
    this.figure = figure;
    this.isDrawn = false;
    this.stage.style.minHeight = `${figure.layout.height}px`;
  }
}

/** All cards in a row. */
export class ChartCards {
  /**
   * @param {CardWords[]} rows
   * @param {() => Promise<Plotly>} library
   */
  constructor(rows, library) {
    this.library = library;
    this.name = "";
    this.isDark = false;
    this.cards = rows.map((row) => new Card(row));
    this.root = make("div", "sbd-charts-cards", {}, ...this.cards.map(({ root }) => root));
    this.sight = new IntersectionObserver((entries) => this.look(entries), { rootMargin: "300px" });
    for (const { root } of this.cards) this.sight.observe(root);
  }

  /** @param {IntersectionObserverEntry[]} entries */
  look(entries) {
    for (const { target, isIntersecting } of entries) {
      const card = this.cards.find(({ root }) => root === target);
      if (!card) continue;
      card.isInSight = isIntersecting;
      this.draw(card).catch(() => {}); // show() tells of it
    }
  }

  /**
   * Take the figures of a run; those in sight are drawn now, the others when they are seen.
   * @param {Figure[]} figures
   * @param {string} name of a saved picture
   */
  async show(figures, name) {
    this.name = name;
    for (const figure of figures) this.cards.find(({ id }) => id === figure.id)?.take(figure);
    await this.drawAll();
  }

  /**
   * Say other words above some of the charts.
   * @param {CardWords[]} rows
   */
  say(rows) {
    for (const row of rows) this.cards.find(({ id }) => id === row.id)?.say(row);
  }

  /** @param {boolean} isDark */
  async setTheme(isDark) {
    if (isDark === this.isDark) return;
    this.isDark = isDark;
    for (const card of this.cards) card.isDrawn = false;
    await this.drawAll();
  }

  async drawAll() {
    await Promise.all(this.cards.map((card) => this.draw(card)));
  }

  /** Draw those out of sight too, one after the other, while the page shows any. */
  async drawRest() {
    for (const card of this.cards) {
      if (this.root.clientWidth) await this.draw(card, true);
    }
  }

  /**
   * @param {Card} card
   * @param {boolean} isWanted though it may be out of sight
   */
  async draw(card, isWanted = card.isInSight) {
    if (!isWanted || !card.figure || card.isDrawn) return;
    const plotly = await this.library();
    if (card.isDrawn) return; // in the meantime
    card.isDrawn = true;
    const themed = withChanges(card.figure, this.isDark ? card.figure.dark : undefined);
    const isNarrow = card.stage.clientWidth < NARROW;
    const { data, layout } = withChanges(themed, isNarrow ? themed.layout.meta?.narrow : undefined);
    const toImageButtonOptions = { filename: this.name, scale: 2 };
    const config = { ...CHART_CONFIG, toImageButtonOptions };
    await plotly.react(card.stage, data, layout, config);
  }
}
