// Speed limits: the roofline as a calculator beside Watch and Race, at an address of its own. The
// numbers and figures come from the server; nothing is asked before the view is looked at.

import { ChartCards, makeLibrary } from "../charts/cards.js";
import { addDevice } from "../core/forward/cost.js";
import { wordPieces } from "../core/glossary.js";
import { fileAddress } from "../dom/address.js";
import { find, make } from "../dom/elements.js";
import { isDarkPage, onTurn } from "../dom/page.js";
import { makeTermNote, question, unfold, withTerms } from "../dom/terms.js";
import { hashOf, wishAt } from "./address.js";
import { LimitsForm } from "./form.js";

/** @import { Figure } from "../charts/cards.js" */
/** @import { CardWords } from "../charts/words.js" */
/** @import { Device } from "../core/forward/cost.js" */
/** @import { Mount, Trigger } from "../stub.js" */
/** @import { Wish } from "./address.js" */
/** @import { Choice } from "./form.js" */

/** @typedef {{ library: string, cards: CardWords[], devices: Choice[], models: Choice[], ownHint: string, defaults: Wish, measured: Device }} Setting */
/** @typedef {{ name: string, value: string, note: string }} Fact */
/** @typedef {{ wish: number, problems: string[], wrong: string[], facts: Fact[], cards: CardWords[], figures: Figure[] }} Answer */

const NAME = "limits";
const PAUSE_MS = 250; // after the last key before the server is asked
const ABOUT =
  "By the [roofline], every step of a [forward pass] takes as long as its slower half, moving weights and the [KV cache|cache] or computing; the steps add up. Set Block Decoding gains where a [block] of rows costs hardly more than one.";

/** @param {string} words with words of the glossary in brackets */
const plain = (words) =>
  wordPieces(words)
    .map(({ before, text, after }) => before + text + after)
    .join("");

class LimitsView {
  /**
   * @param {HTMLElement} host
   * @param {Setting} setting
   * @param {Trigger} trigger
   */
  constructor(host, setting, trigger) {
    this.host = host;
    this.setting = setting;
    this.trigger = trigger;
    this.timer = 0;
    this.number = 0;
    this.isInFront = false;
    /** @type {Wish | null} what the address asks that no box can hold */
    this.linked = null;
    this.form = new LimitsForm(setting, () => this.changed());
    this.problems = make("div", "sbd-limits-problems", { role: "status" });
    this.form.root.append(this.problems);
    this.facts = make("dl", "sbd-limits-facts");
    const library = makeLibrary(fileAddress(setting.library));
    this.cards = new ChartCards(setting.cards, library);
    this.cards.root.classList.add("sbd-limits-cards");
    this.form.choose(setting.defaults);
  }

  build() {
    const about = make("p", "sbd-limits-about", {}, ...withTerms(ABOUT));
    const title = make("h2", "", {}, "How fast could it be?");
    this.host.replaceChildren(
      make("div", "sbd-limits-head", {}, title, unfold("the calculation", about)),
      about,
      make(
        "div",
        "sbd-limits-top",
        {},
        this.form.root,
        make("section", "sbd-card sbd-limits-answer", { "aria-label": "Answer" }, this.facts),
      ),
      this.cards.root,
    );
  }

  /** @param {string} name of the view that is in front now */
  turn(name) {
    const isFirst = name === NAME && !this.host.firstChild;
    this.isInFront = name === NAME;
    if (isFirst) this.build();
    if (!this.isInFront) return;
    this.follow();
  }

  /** Ask what the address asks. */
  follow() {
    this.linked = wishAt(location.hash, this.setting.defaults);
    if (this.linked) this.form.choose(this.linked);
    this.ask();
  }

  get wish() {
    return this.linked ?? this.form.wish;
  }

  get hash() {
    return hashOf(this.wish, this.setting.defaults);
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
    this.trigger("calculate", { ...this.wish, number: this.number });
  }

  /** @param {Answer} answer */
  async take({ wish, problems, wrong, facts, cards, figures }) {
    if (wish !== this.number) return;
    delete this.host.dataset.isOld;
    this.problems.replaceChildren(...problems.map((words) => make("p", "", {}, words)));
    this.form.mark(wrong);
    this.facts.replaceChildren(
      ...facts.map(({ name, value, note }) =>
        make(
          "div",
          "",
          {},
          make("dt", "", {}, ...withTerms(name)),
          make("dd", "", {}, make("strong", "", {}, value), question(plain(name), note)),
        ),
      ),
    );
    this.cards.say(cards);
    await this.draw(() => this.cards.show(figures, "sbd-limits"));
  }

  /** @param {() => Promise<void>} act */
  async draw(act) {
    try {
      this.cards.isDark = isDarkPage();
      await act();
      await this.cards.drawRest();
    } catch (failure) {
      const words = failure instanceof Error ? failure.message : String(failure);
      this.problems.append(make("p", "", {}, `The figures cannot be drawn: ${words}.`));
    }
  }

  async turnTheme() {
    if (!this.isInFront || this.cards.isDark === isDarkPage()) return;
    await this.draw(() => {
      this.cards.isDark = !isDarkPage();
      return this.cards.setTheme(isDarkPage());
    });
  }
}

/** @type {Mount} */
export function mountLimits({ element, value, trigger, signal }) {
  /** @type {Setting} */
  const setting = JSON.parse(value);
  addDevice("measured", setting.measured);
  const view = new LimitsView(find(element, ".sbd-limits"), setting, trigger);
  makeTermNote(view.host, signal);
  onTurn((name) => view.turn(name), signal);
  const follow = () => view.isInFront && location.hash !== view.hash && view.follow();
  addEventListener("hashchange", follow, { signal });
  const scheme = new MutationObserver(() => view.turnTheme());
  scheme.observe(document.body, { attributes: true, attributeFilter: ["class"] });
  signal.addEventListener("abort", () => scheme.disconnect());
  return (text) => {
    view.take(JSON.parse(text));
  };
}
