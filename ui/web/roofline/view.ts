// The view of the roofline: a calculator, whose query stands in the address, and a table to take home.

import { type CardWords, ChartCards } from "../charts.ts";
import { addDevice, DEVICES } from "../core/cost.ts";
import { slowdownCurve, slowdownPoints } from "../core/figures.ts";
import { failureWords } from "../core/numbers.ts";
import { plainWords } from "../core/words.ts";
import { find, make } from "../dom/elements.ts";
import { makeTableButtons } from "../dom/save.ts";
import { onScheme } from "../dom/screen.ts";
import { makeTermNote, makeUnfoldButton, question, withTerms } from "../dom/terms.ts";
import { onViewChange } from "../dom/views.ts";
import {
  choicesOf,
  DEFAULTS,
  factsOf,
  MEASURED,
  marksOf,
  OWN,
  type Query,
  type Setting,
  widthWords,
  wrongFields,
} from "./answer.ts";

const VIEW = "#roofline";
const ADDRESS = /^#roofline(?:$|\?)(.*)/;

/** Return the query in an address, with defaults for missing values; null if the address is another view's. */
export function queryAt(hash: string): Query | null {
  const [, query] = ADDRESS.exec(hash) ?? [];
  if (query === undefined) return null;
  const fields = new URLSearchParams(query);
  const said = Object.entries(DEFAULTS).map(([name, value]) => [name, fields.get(name) ?? value]);
  return Object.fromEntries(said);
}

/** Return the address of a query, which leaves out default values. */
export function hashOf(query: Query) {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (String(value) !== String(DEFAULTS[name])) fields.set(name, String(value));
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
const HINT = "Paste a config.json";

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

  constructor(models: Choice[], changed: () => void) {
    this.device = select([...DEVICES].map(([key, { name }]) => ({ key, name })));
    this.model = select([...models, { key: OWN, name: "A config of your own …" }]);
    this.config = make("textarea", "", { rows: 5, spellcheck: "false", placeholder: HINT });
    const file = make("input", "", {
      type: "file",
      accept: ".json",
      "aria-label": "Open a config",
    });
    file.addEventListener("change", async () => {
      this.config.value = (await file.files?.[0]?.text()) ?? "";
      changed();
    });
    this.own = field("Config", this.config);
    this.own.append(file);
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

const NAME = "roofline";
const ABOUT =
  "By the [roofline], every step of a [forward pass] takes as long as its slower half, moving weights and the [KV cache|cache] or computing; the steps add up. Set Block Decoding gains where a [block] of rows costs hardly more than one.";

class RooflineView {
  isInFront = false;
  /** the address's query, with values that a box may not hold; null once the form changes */
  linked: Query | null = null;
  form: RooflineForm;
  problems: HTMLDivElement;
  facts: HTMLDListElement;
  cards: ChartCards;

  constructor(
    readonly host: HTMLElement,
    readonly setting: Setting & { cards: CardWords[] },
  ) {
    this.form = new RooflineForm(setting.models, () => this.changed());
    this.problems = make("div", "sbd-roofline-problems", { role: "status" });
    this.form.root.append(this.problems);
    this.facts = make("dl", "sbd-roofline-facts");
    this.cards = new ChartCards(setting.cards);
    this.form.choose(DEFAULTS);
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
        make(
          "section",
          "sbd-card sbd-roofline-answer",
          { "aria-label": "Answer" },
          this.facts,
          makeTableButtons("sbd-roofline", "this table", () => this.table()),
        ),
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
    this.linked = queryAt(location.hash);
    if (this.linked) this.form.choose(this.linked);
    this.calculate();
  }

  get query() {
    return this.linked ?? this.form.query;
  }

  get hash() {
    return hashOf(this.query);
  }

  changed() {
    this.linked = null;
    this.calculate();
  }

  calculate() {
    const { pathname, search } = location;
    history.replaceState(history.state, "", `${pathname}${search}${this.hash}`);
    const choices = choicesOf(this.query, this.setting);
    this.problems.replaceChildren(...choices.problems.map((words) => make("p", "", words)));
    this.form.mark(wrongFields(this.query, choices));
    this.facts.replaceChildren(
      ...factsOf(choices, this.setting).map(({ name, value, note }) =>
        make(
          "div",
          "",
          make("dt", "", ...withTerms(name)),
          make("dd", "", make("strong", "", value), question(plainWords(name), note)),
        ),
      ),
    );
    const curve = slowdownCurve(choices.block, choices, marksOf(choices, this.setting));
    const about = widthWords(choices);
    this.cards.setWords(
      this.setting.cards.map((row) => ({ ...row, words: `${row.words} ${about}` })),
    );
    void this.draw(() => this.cards.show([curve], "sbd-roofline"));
  }

  /** The answer as rows to save: what was chosen, each line, and the points of the curve. */
  table() {
    const choices = choicesOf(this.query, this.setting);
    const { block, cache, batch, speed, model, device } = choices;
    const chosen = { device: device.name, model, block, cache, batch, tokens_per_forward: speed };
    const row =
      (part: string) =>
      (name: string, value: string | number, note = "") => ({ part, name, value, note });
    return [
      ...Object.entries(chosen).map(([name, value]) => row("chosen")(name, value)),
      ...factsOf(choices, this.setting).map(({ name, value, note }) =>
        row("answer")(plainWords(name), value, note),
      ),
      ...slowdownPoints(block, choices).flatMap(({ rows, published, corrected }) => [
        row("slowdown, as the paper counts")(`${rows} rows`, published),
        row("slowdown, corrected")(`${rows} rows`, corrected),
      ]),
    ];
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
  const setting: Setting & { cards: CardWords[] } = JSON.parse(value);
  addDevice(MEASURED, setting.measured);
  const view = new RooflineView(find(element, ".sbd-roofline"), setting);
  makeTermNote(view.host, signal);
  onViewChange((name) => view.turn(name), signal);
  const follow = () => view.isInFront && location.hash !== view.hash && view.follow();
  addEventListener("hashchange", follow, { signal });
  onScheme(() => view.isInFront && view.draw(() => view.cards.drawAll()), signal);
}
