// The bar that opens and closes the charts under the player. Nothing is asked of the server while
// they are closed; open, they follow the run that the player shows, once it is complete.

import { LANE_TITLES, solverWords } from "../core/names.js";
import { traceText } from "../core/run/trace.js";
import { fileAddress } from "../dom/address.js";
import { find, make } from "../dom/elements.js";
import { isDarkPage, onTurn } from "../dom/page.js";
import { makeTermNote, withTerms } from "../dom/terms.js";
import { fileStem } from "../share/sheet.js";
import { playerOf } from "../watch/mount.js";
import { ChartCards, makeLibrary } from "./cards.js";
import { wordsFor } from "./words.js";

/** @import { Mount, Trigger } from "../stub.js" */
/** @import { Figure } from "./cards.js" */
/** @import { CardWords } from "./words.js" */

/** @typedef {{ cards: CardWords[], library: string }} Setting */
/** @typedef {{ run?: string, figures?: Figure[], error?: string }} Answer */
/** @typedef {{ name: string, rate: number, right: boolean | null }} Mark a run in the chart of solvers: its tokens per forward pass, and what a checker said */

const CLOSED_WORDS =
  "This run as charts: [entropy], [tokens|token] a [forward pass], agreement, what parallelism cost.";
const MAX_MARKS = 12; // as ui/views/charts.py
const OPEN_WORDS = "Zoom by dragging, read by pointing, save with the camera.";

/** The section under the player. */
class ChartSection {
  /**
   * @param {HTMLElement} root
   * @param {Setting} setting
   * @param {Trigger} trigger
   */
  constructor(root, setting, trigger) {
    this.root = root;
    this.setting = setting;
    this.trigger = trigger;
    this.library = makeLibrary(fileAddress(setting.library));
    this.isOpen = false;
    this.asked = "";
    /** @type {Map<string, Mark>} the reader's runs, the newest last */
    this.marks = new Map();
    /** @type {ChartCards | null} */
    this.cards = null;
    this.status = make("p", "sbd-charts-status", { role: "status" });
    this.toggle = make(
      "button",
      "sbd-charts-toggle",
      { type: "button", "aria-expanded": "false" },
      make("span", "sbd-charts-arrow", { "aria-hidden": "true" }),
      make("span", "", {}, "Charts"),
    );
    this.toggle.addEventListener("click", () => this.turn());
    find(root, ".sbd-charts-bar").replaceChildren(this.toggle, this.status);
    this.say(withTerms(CLOSED_WORDS));
  }

  /**
   * @param {string | (Node | string)[]} words
   * @param {boolean} [isError]
   */
  say(words, isError = false) {
    this.status.classList.toggle("is-error", isError);
    this.status.replaceChildren(...(typeof words === "string" ? [words] : words));
  }

  turn() {
    this.isOpen = !this.isOpen;
    this.toggle.setAttribute("aria-expanded", String(this.isOpen));
    if (this.isOpen) this.open();
    else this.say(withTerms(CLOSED_WORDS));
    this.root.toggleAttribute("data-is-open", this.isOpen);
    this.again();
  }

  open() {
    this.library().catch(() => {}); // while the figures are made; who draws them hears of a failure
    if (this.cards) return;
    this.cards = new ChartCards(this.setting.cards, this.library);
    this.cards.isDark = isDarkPage();
    this.root.append(this.cards.root);
  }

  /** Keep the run shown for the chart of solvers, if it is one of the reader's. */
  note() {
    const run = playerOf(document)?.run;
    if (!run?.isComplete || run.id === "opening") return;
    const name = run.strategy === "sbd" ? solverWords(run.solver) : LANE_TITLES[run.strategy];
    const rate = run.numbersAt(run.main.lastPass).tokensPerPass;
    this.marks.delete(run.id);
    this.marks.set(run.id, { name: name ?? "", rate, right: run.main.verdict?.right ?? null });
  }

  /** Ask for the charts of the run shown, unless they are asked for already. */
  follow() {
    const run = playerOf(document)?.run;
    if (!this.isOpen || !run) return;
    if (run.isComplete && run.id === this.asked) return;
    this.root.dataset.isOld = "";
    this.asked = run.isComplete ? run.id : "";
    this.say(run.isComplete ? "Drawing …" : "The charts are drawn when this run is complete.");
    if (!run.isComplete) return;
    const marks = [...this.marks.values()].slice(-MAX_MARKS);
    this.trigger("draw_charts", { run: run.id, trace: traceText(run), marks });
  }

  /** Other runs were made meanwhile, which the chart of solvers marks. */
  again() {
    this.asked = "";
    this.follow();
  }

  /** @param {Answer} answer */
  async take({ run, figures, error }) {
    if (!this.isOpen || !this.cards) return;
    const shown = playerOf(document)?.run;
    if (error) this.say(error, true);
    if (error || !figures || this.asked !== run) return;
    try {
      this.cards.say(wordsFor(this.setting.cards, shown?.strategy ?? ""));
      await this.cards.show(figures, shown ? fileStem(shown) : "");
      delete this.root.dataset.isOld;
      this.say(OPEN_WORDS);
    } catch (failure) {
      this.fail(failure);
    }
  }

  /** The figures hold both themes, so nothing is asked of the server. */
  async turnTheme() {
    try {
      await this.cards?.setTheme(isDarkPage());
    } catch (failure) {
      this.fail(failure);
    }
  }

  /** @param {unknown} failure */
  fail(failure) {
    this.asked = "";
    const words = failure instanceof Error ? failure.message : String(failure);
    this.say(`The charts cannot be drawn: ${words}.`, true);
  }
}

/** @type {Mount} */
export function mountCharts({ element, value, trigger, signal }) {
  const section = new ChartSection(find(element, ".sbd-charts"), JSON.parse(value), trigger);
  makeTermNote(section.root, signal);
  const follow = () => {
    section.note();
    section.follow();
  };
  /** @param {Event} event with the marks of solvers that were compared */
  const compared = (event) => {
    for (const mark of event instanceof CustomEvent ? event.detail : [])
      section.marks.set(`compared ${mark.name}`, mark);
    section.again();
  };
  // The solvers' view has their chart: the bar is not there to open it.
  let isOpenedForSolvers = false;
  /** @param {string} name of the view that is in front now */
  function turn(name) {
    if ((name === "solvers") === isOpenedForSolvers || (section.isOpen && !isOpenedForSolvers))
      return;
    isOpenedForSolvers = !isOpenedForSolvers;
    section.turn();
  }
  onTurn(turn, signal);
  document.addEventListener("sbd-run", follow, { signal });
  document.addEventListener("sbd-compared", compared, { signal });
  const scheme = new MutationObserver(() => section.turnTheme());
  scheme.observe(document.body, { attributes: true, attributeFilter: ["class"] });
  signal.addEventListener("abort", () => scheme.disconnect());
  return (text) => section.take(JSON.parse(text));
}
