// The view of the roofline: a calculator, whose query stands in the address. Numbers and figures come from the server,
// which is asked only once the view is shown.

import { type CardWords, ChartCards, type Figure, makeLibrary } from "./charts.ts";
import { addDevice, type Device } from "./core/cost.ts";
import { failureWords } from "./core/numbers.ts";
import { plainWords } from "./core/words.ts";
import { find, make } from "./dom/elements.ts";
import { pageAddress } from "./dom/page.ts";
import { onScheme } from "./dom/screen.ts";
import { makeTermNote, makeUnfoldButton, question, withTerms } from "./dom/terms.ts";
import { onViewChange } from "./dom/views.ts";
import { askServer } from "./server.ts";

const VIEW = "#roofline";
const ADDRESS = /^#roofline(?:$|\?)(.*)/;

/** what to calculate: values by the names of fields */
type Query = Record<string, string | number>;

/** Return the query in an address, with defaults for missing values; null if the address is another view's. */
export function queryAt(hash: string, defaults: Query): Query | null {
  const [, query] = ADDRESS.exec(hash) ?? [];
  if (query === undefined) return null;
  const fields = new URLSearchParams(query);
  const said = Object.entries(defaults).map(([name, value]) => [name, fields.get(name) ?? value]);
  return Object.fromEntries(said);
}

/** Return the address of a query, which leaves out default values. */
export function hashOf(query: Query, defaults: Query) {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (String(value) !== String(defaults[name])) fields.set(name, String(value));
  }
  const text = fields.toString();
  return text ? `${VIEW}?${text}` : VIEW;
}

type Choice = { key: string; name: string };

const NUMBERS = [
  { name: "block", label: "Block size", step: "1", min: "1" },
  { name: "cache", label: "Tokens in the KV cache", step: "1", min: "0" },
  { name: "batch", label: "Texts at once (batch)", step: "1", min: "1" },
  { name: "speed", label: "Tokens per forward pass", step: "0.1", min: "0.1" },
];
const OWN = "own";

function field(label: string, box: HTMLElement) {
  box.setAttribute("aria-label", label); // otherwise a screen reader would name a list by all its choices
  return make("label", "sbd-roofline-field", make("span", "", label), box);
}

function select(choices: Choice[]) {
  const box = make("select", "");
  for (const { key, name } of choices) box.append(make("option", "", { value: key }, name));
  return box;
}

class RooflineForm {
  device: HTMLSelectElement;
  model: HTMLSelectElement;
  config: HTMLTextAreaElement;
  own: HTMLLabelElement;
  numbers: Map<string, HTMLInputElement> = new Map();
  root: HTMLFormElement;

  constructor(
    { devices, models, ownHint }: { devices: Choice[]; models: Choice[]; ownHint: string },
    changed: () => void,
  ) {
    this.device = select(devices);
    this.model = select(models);
    const config = { rows: 5, spellcheck: "false", placeholder: ownHint };
    this.config = make("textarea", "", config);
    this.own = field("Config", this.config);
    const boxes = NUMBERS.map(({ name, label, ...bounds }) => {
      const box = make("input", "", { type: "number", inputmode: "decimal", ...bounds });
      this.numbers.set(name, box);
      return field(label, box);
    });
    this.root = make(
      "form",
      "sbd-card sbd-roofline-form",
      { "aria-label": "What to calculate" },
      field("Device", this.device),
      field("Model", this.model),
      this.own,
      ...boxes,
    );
    this.root.addEventListener("submit", (event) => event.preventDefault());
    this.root.addEventListener("input", () => {
      this.showOwn();
      changed();
    });
  }

  showOwn() {
    this.own.hidden = this.model.value !== OWN;
  }

  /** Mark the fields with values that cannot be used. @param wrong names of these fields */
  mark(wrong: string[]) {
    for (const [name, box] of this.numbers)
      box.setAttribute("aria-invalid", String(wrong.includes(name)));
  }

  get query(): Query {
    const { device, model, config } = this;
    const own = model.value === OWN ? config.value : "";
    const numbers = [...this.numbers].map(([name, box]) => [name, box.value]);
    const chosen = { device: device.value, model: model.value, config: own };
    return { ...chosen, ...Object.fromEntries(numbers) };
  }

  /** Put a query into the form; a box stays empty if it cannot hold its value. */
  choose(query: Query) {
    this.device.value = String(query.device);
    this.model.value = String(query.model);
    this.config.value = String(query.config);
    for (const [name, box] of this.numbers) box.value = String(query[name]);
    this.showOwn();
  }
}

type Setting = {
  library: string;
  cards: CardWords[];
  devices: Choice[];
  models: Choice[];
  ownHint: string;
  defaults: Query;
  measured: Device;
};
type Fact = { name: string; value: string; note: string };
type Answer = {
  request: number;
  problems: string[];
  wrong: string[];
  facts: Fact[];
  cards: CardWords[];
  figures: Figure[];
};

const NAME = "roofline";
const PAUSE_MS = 250; // time from the last input until the server is asked
const ABOUT =
  "By the [roofline], every step of a [forward pass] takes as long as its slower half, moving weights and the [KV cache|cache] or computing; the steps add up. Set Block Decoding gains where a [block] of rows costs hardly more than one.";

class RooflineView {
  timer = 0;
  number = 0;
  isInFront = false;
  /** the address's query, with values that a box may not hold; null once the form changes */
  linked: Query | null = null;
  form: RooflineForm;
  problems: HTMLDivElement;
  facts: HTMLDListElement;
  cards: ChartCards;

  constructor(
    readonly host: HTMLElement,
    readonly setting: Setting,
  ) {
    this.form = new RooflineForm(setting, () => this.changed());
    this.problems = make("div", "sbd-roofline-problems", { role: "status" });
    this.form.root.append(this.problems);
    this.facts = make("dl", "sbd-roofline-facts");
    const library = makeLibrary(pageAddress(setting.library));
    this.cards = new ChartCards(setting.cards, library);
    this.cards.root.classList.add("sbd-roofline-cards");
    this.form.choose(setting.defaults);
  }

  build() {
    const about = make("p", "sbd-roofline-about", ...withTerms(ABOUT));
    const title = make("h2", "", "How fast could it be?");
    this.host.replaceChildren(
      make("div", "sbd-roofline-head", title, makeUnfoldButton("the calculation", about)),
      about,
      make(
        "div",
        "sbd-roofline-top",
        this.form.root,
        make("section", "sbd-card sbd-roofline-answer", { "aria-label": "Answer" }, this.facts),
      ),
      this.cards.root,
    );
  }

  /** @param name of the view that is shown now */
  turn(name: string) {
    this.isInFront = name === NAME;
    if (!this.isInFront) return;
    if (!this.host.firstChild) this.build();
    this.follow();
  }

  /** Calculate the query of the address. */
  follow() {
    this.linked = queryAt(location.hash, this.setting.defaults);
    if (this.linked) this.form.choose(this.linked);
    this.ask();
  }

  get query() {
    return this.linked ?? this.form.query;
  }

  get hash() {
    return hashOf(this.query, this.setting.defaults);
  }

  changed() {
    this.linked = null;
    this.host.dataset.isOld = "";
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.ask(), PAUSE_MS);
  }

  ask() {
    this.number += 1;
    const { pathname, search } = location;
    history.replaceState(history.state, "", `${pathname}${search}${this.hash}`);
    this.host.dataset.isOld = "";
    void this.calculate(this.number);
  }

  /** Show what the server answers, unless another question was asked since. @param number of the question */
  async calculate(number: number) {
    let answer: Answer;
    try {
      answer = await askServer("roofline", this.query);
    } catch (failure) {
      if (number === this.number)
        this.problems.replaceChildren(make("p", "", failureWords(failure)));
      return;
    }
    if (number !== this.number) return;
    const { problems, wrong, facts, cards, figures } = answer;
    delete this.host.dataset.isOld;
    this.problems.replaceChildren(...problems.map((words) => make("p", "", words)));
    this.form.mark(wrong);
    this.facts.replaceChildren(
      ...facts.map(({ name, value, note }) =>
        make(
          "div",
          "",
          make("dt", "", ...withTerms(name)),
          make("dd", "", make("strong", "", value), question(plainWords(name), note)),
        ),
      ),
    );
    this.cards.setWords(cards);
    await this.draw(() => this.cards.show(figures, "sbd-roofline"));
  }

  async draw(act: () => Promise<void>) {
    try {
      await act();
      await this.cards.drawRest();
    } catch (failure) {
      const words = `The figures cannot be drawn: ${failureWords(failure)}.`;
      this.problems.append(make("p", "", words));
    }
  }
}

export function mountRoofline(element: HTMLElement, value: string, signal: AbortSignal) {
  const setting: Setting = JSON.parse(value);
  addDevice("measured", setting.measured);
  const view = new RooflineView(find(element, ".sbd-roofline"), setting);
  makeTermNote(view.host, signal);
  onViewChange((name) => view.turn(name), signal);
  const follow = () => view.isInFront && location.hash !== view.hash && view.follow();
  addEventListener("hashchange", follow, { signal });
  onScheme(() => view.isInFront && view.draw(() => view.cards.drawAll()), signal);
}
