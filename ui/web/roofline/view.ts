// The view of the roofline: a calculator, whose query stands in the address, and a table to take home.

import { html, render } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { type CardWords, ChartCards } from "../charts.ts";
import { DEVICES } from "../core/cost.ts";
import { slowdownCurve, slowdownPoints } from "../core/figures.ts";
import { failureWords } from "../core/numbers.ts";
import { plainWords } from "../core/words.ts";
import { find } from "../dom/elements.ts";
import { makeTableButtons } from "../dom/save.ts";
import { onScheme } from "../dom/screen.ts";
import { questionTemplate } from "../dom/templates.ts";
import { makeTermNote, termTemplates, unfoldTemplate } from "../dom/terms.ts";
import { onViewChange } from "../dom/views.ts";
import {
  COUNTS,
  choicesOf,
  DEFAULTS,
  type Fact,
  factsOf,
  MEASURED,
  marksOf,
  OWN,
  type Query,
  type Setting,
  widthWords,
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

const NUMBERS = [...COUNTS, ["speed", "Tokens per forward pass", 0.1] as const];
const OWN_NAME = "A config of your own …";
const NAME = "roofline";
const ABOUT =
  "By the [roofline], every step of a [forward pass] takes as long as its slower half, moving weights and the [KV cache|cache] or computing; the steps add up. Set Block Decoding gains where a [block] of rows costs hardly more than one.";

class RooflineView {
  isInFront = false;
  /** what is calculated, with values that a box may not hold */
  query: Query = DEFAULTS;
  choices = choicesOf(DEFAULTS, this.setting);
  failure = "";
  cards = new ChartCards(this.setting.cards);
  save = makeTableButtons("sbd-roofline", "this table", () => this.table());

  constructor(
    readonly host: HTMLElement,
    readonly setting: Setting & { cards: CardWords[] },
  ) {}

  turn(name: string) {
    this.isInFront = name === NAME;
    if (this.isInFront) this.follow();
  }

  follow() {
    this.query = queryAt(location.hash) ?? this.query;
    this.calculate();
  }

  get hash() {
    const { query } = this;
    return hashOf(query.model === OWN ? query : { ...query, config: "" });
  }

  change(values: Query) {
    this.query = { ...this.query, ...values };
    this.calculate();
  }

  calculate() {
    const { pathname, search } = location;
    history.replaceState(history.state, "", `${pathname}${search}${this.hash}`);
    const { setting } = this;
    const choices = choicesOf(this.query, setting);
    Object.assign(this, { choices, failure: "" });
    this.show();
    const curve = slowdownCurve(choices.block, choices, marksOf(choices, setting));
    const about = widthWords(choices);
    this.cards.setWords(setting.cards.map((row) => ({ ...row, words: `${row.words} ${about}` })));
    void this.draw(() => this.cards.show([curve], "sbd-roofline"));
  }

  show() {
    render(this.template(), this.host);
    // A list stays empty if it cannot hold its value.
    for (const list of this.host.querySelectorAll("select"))
      list.value = String(this.query[list.name]);
  }

  template() {
    const { query, setting, choices } = this;
    // Each box has a name of its own: otherwise a screen reader would name a list by all its choices.
    const field = (label: string, box: unknown, isHidden = false) =>
      html`<label class="sbd-roofline-field" ?hidden=${isHidden}><span>${label}</span>${box}</label>`;
    const take = (name: string) => (event: Event) =>
      this.change({ [name]: (event.target as HTMLInputElement).value });
    const select = (name: string, label: string, options: { key: string; name: string }[]) =>
      html`<select name=${name} aria-label=${label} @input=${take(name)}>${options.map(
        (each) => html`<option value=${each.key}>${each.name}</option>`,
      )}</select>`;
    const number = ([name, label, least]: (typeof NUMBERS)[number]) =>
      html`<input
        type="number"
        inputmode="decimal"
        step=${name === "speed" ? least : 1}
        min=${least}
        aria-label=${label}
        aria-invalid=${choices.wrong.includes(name)}
        .value=${live(String(query[name]))}
        @input=${take(name)}
      />`;
    const open = async ({ target }: Event) =>
      this.change({ config: (await (target as HTMLInputElement).files?.[0]?.text()) ?? "" });
    const config = html`<textarea
        rows="5"
        spellcheck="false"
        placeholder="Paste a config.json"
        aria-label="Config"
        .value=${live(String(query.config))}
        @input=${take("config")}
      ></textarea
      ><input type="file" accept=".json" aria-label="Open a config" @change=${open} />`;
    const devices = [...DEVICES].map(([key, { name }]) => ({ key, name }));
    const models = [...setting.models, { key: OWN ?? "", name: OWN_NAME }];
    const problems = [...choices.problems, this.failure].filter(Boolean);
    const fact = ([name, value, note]: Fact) =>
      html`<div
        ><dt>${termTemplates(name)}</dt
        ><dd><strong class=${value.endsWith("slower") ? "is-slower" : ""}>${value}</strong>${questionTemplate(plainWords(name), note)}</dd></div>`;
    return html`<div class="sbd-roofline-head"
        ><h2>How fast could it be?</h2>${unfoldTemplate("the calculation", "sbd-roofline-about")}</div
      >
      <p class="sbd-roofline-about" id="sbd-roofline-about" hidden>${termTemplates(ABOUT)}</p>
      <div class="sbd-roofline-top">
        <form
          class="sbd-card sbd-roofline-form"
          aria-label="What to calculate"
          @submit=${(event: Event) => event.preventDefault()}
        >
          ${field("Device", select("device", "Device", devices))}
          ${field("Model", select("model", "Model", models))}
          ${field("Config", config, query.model !== OWN)}
          ${NUMBERS.map((each) => field(each[1], number(each)))}
          <div class="sbd-roofline-problems" role="status"
            >${problems.map((words) => html`<p>${words}</p>`)}</div>
        </form>
        <section class="sbd-card sbd-roofline-answer" aria-label="Answer">
          <dl class="sbd-roofline-facts">${factsOf(choices, setting).map(fact)}</dl>
          ${this.save}
        </section>
      </div>
      ${this.cards.root}`;
  }

  /** The answer as rows to save: what was chosen, each line, and the points of the curve. */
  table() {
    const { choices } = this;
    const { block, cache, batch, speed, model, device } = choices;
    const chosen = { device: device.name, model, block, cache, batch, tokens_per_forward: speed };
    const facts = factsOf(choices, this.setting);
    const points = slowdownPoints(block, choices).flatMap(({ rows, published, corrected }) => [
      { part: "slowdown, as the paper counts", name: `${rows} rows`, value: published, note: "" },
      { part: "slowdown, corrected", name: `${rows} rows`, value: corrected, note: "" },
    ]);
    return [
      ...Object.entries(chosen).map(([name, value]) => ({ part: "chosen", name, value, note: "" })),
      ...facts.map(([name, value, note]) => ({
        part: "answer",
        name: plainWords(name),
        value,
        note,
      })),
      ...points,
    ];
  }

  async draw(act: () => Promise<void>) {
    try {
      await act();
      await this.cards.drawRest();
    } catch (failure) {
      this.failure = `The figures cannot be drawn: ${failureWords(failure)}.`;
      this.show();
    }
  }
}

export function mountRoofline(element: HTMLElement, value: string, signal: AbortSignal) {
  const setting: Setting & { cards: CardWords[] } = JSON.parse(value);
  DEVICES.set(MEASURED, setting.measured);
  const view = new RooflineView(find(element, ".sbd-roofline"), setting);
  makeTermNote(view.host, signal);
  onViewChange((name) => view.turn(name), signal);
  const follow = () => view.isInFront && location.hash !== view.hash && view.follow();
  addEventListener("hashchange", follow, { signal });
  onScheme(() => view.isInFront && view.draw(() => view.cards.drawAll()), signal);
}
