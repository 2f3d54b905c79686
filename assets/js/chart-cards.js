// The charts themselves: a card each, drawn by Plotly once it comes into sight. Plotly is loaded
// when it is first needed, and once. Nothing of a chart leaves the page.

const CHART_CONFIG = { displaylogo: false, displayModeBar: true, responsive: true,
  showSendToCloud: false, plotlyServerURL: "",
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };

/** A function that loads the script at `address` and gives what it puts into the window. */
function makeLibrary(address, name) {
  let loading = null;
  return () => {
    loading ??= new Promise((done, fail) => {
      const script = make("script", "", { src: address });
      script.addEventListener("load", () => done(window[name]));
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

class ChartCards {
  constructor(rows, library) {
    this.library = library;
    this.cards = rows.map(({ title, words }) => this.makeCard(title, words));
    this.root = make("div", "sbd-charts-cards", {}, ...this.cards.map(({ root }) => root));
    this.sight = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const card = this.cards.find(({ root }) => root === target);
        card.isInSight = isIntersecting;
        this.draw(card).catch(() => {}); // show() tells of it
      }
    }, { rootMargin: "300px" });
    for (const { root } of this.cards) this.sight.observe(root);
  }

  makeCard(title, words) {
    const stage = make("div", "sbd-chart-stage");
    const root = make("section", "sbd-chart", {}, make("h3", "", {}, title), make("p", "", {}, words),
      stage);
    return { root, stage, figure: null, isInSight: false };
  }

  /** Take the figures of a run; those in sight are drawn now, the others when they are seen. */
  show(figures, name) {
    this.name = name;
    this.cards.forEach((card, index) => {
      card.figure = figures[index];
      card.stage.style.minHeight = `${card.figure.layout.height}px`;
    });
    return Promise.all(this.cards.map((card) => this.draw(card)));
  }

  async draw(card) {
    if (!card.isInSight || !card.figure) return;
    const plotly = await this.library();
    const { figure } = card;
    if (!figure) return; // drawn in the meantime
    card.figure = null;
    const image = { filename: this.name, scale: 2 };
    await plotly.react(card.stage, figure.data, figure.layout,
      { ...CHART_CONFIG, toImageButtonOptions: image });
  }
}
