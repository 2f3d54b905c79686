// Solvers compared on the prompt of the form: a bar that opens it, up to four choices, and a small
// staircase for each once all are decoded. Closed it asks the server for nothing. In front, at
// #solvers, it is open, and the chart of every solver stands below it.

import { SOLVER_LINES } from "./core/glossary.js";
import { listInWords } from "./core/numbers.js";
import { makeToggle } from "./dom/buttons.js";
import { elementOf, find, make, setText } from "./dom/elements.js";
import { isDarkPage, onResize, onScheme, onTurn, watchForm } from "./dom/page.js";
import { explain, makeTermNote, question, term, unfold, withTerms } from "./dom/terms.js";
import { dialWords } from "./form/fields.js";
import { contextOf, inksOf } from "./hood/drawing.js";
import { formDifferences, isPromptEmpty, wishWords } from "./race/stale.js";

/** @import { Board, BoardRow } from "./race/board.js" */
/** @import { Mount, Trigger } from "./stub.js" */

/** @typedef {BoardRow} Lane */
/** @typedef {{ positions: number, passes: number }} Extent */

const HEIGHT = 190;

/**
 * The scale that all lanes fit.
 * @param {Lane[]} lanes
 * @returns {Extent}
 */
function extentOf(lanes) {
  return {
    positions: Math.max(1, ...lanes.map((lane) => lane.num_tokens)),
    passes: Math.max(1, ...lanes.map((lane) => lane.num_passes)),
  };
}

/** Tokens a forward pass. @param {Lane} lane */
function rateOf({ num_tokens: tokens, num_passes: passes }) {
  return tokens / Math.max(passes, 1);
}

/** @param {Lane} lane */
function makeStairs(lane) {
  const { label, num_tokens: tokens, num_passes: passes } = lane;
  const words = `${label}: ${tokens} tokens in ${passes} forward passes, ${rateOf(lane).toFixed(2)} tokens a forward pass`;
  return make("canvas", "sbd-solver-comparison-stairs", { role: "img", "aria-label": words });
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Lane} lane
 * @param {Extent} extent
 * @param {boolean} isDark
 */
function drawStairs(canvas, lane, { positions, passes }, isDark) {
  const width = canvas.parentElement?.clientWidth ?? 0;
  if (!width) return;
  const inks = inksOf(canvas, isDark);
  const context = contextOf(canvas, width, HEIGHT);
  const [cell, row] = [width / positions, HEIGHT / passes];
  context.fillStyle = inks.none;
  context.fillRect(0, 0, width, HEIGHT);
  context.strokeStyle = inks.muted;
  context.setLineDash([5, 4]);
  context.beginPath();
  context.moveTo(0, 0);
  context.lineTo(passes * cell, HEIGHT);
  context.stroke();
  context.setLineDash([]);
  context.fillStyle = inks.causal;
  lane.tokens.forEach(([, , pass], position) => {
    context.fillRect(
      position * cell,
      pass * row,
      Math.max(cell - 0.5, 1),
      Math.max(row - 0.5, 1.5),
    );
  });
}

/** @typedef {{ solvers: { key: string, name: string, parameters: string[] }[], start: string[], prompt_id: string }} Setting */
/** @typedef {Pick<Board, "prompt" | "block_size" | "max_new_tokens">} Asked */
/** @typedef {{ text: string, is_error: boolean, is_running: boolean, lanes?: Lane[], asked?: Asked }} News */

const NAME = "solvers";
/** @param {string[]} dials what the form has for these solvers */
const wordsOf = (dials) =>
  `This prompt under up to four [solvers|solver], with ${listInWords([...dials, "all else"])} as in Watch’s Advanced; their [staircases|staircase] side by side: position → by forward pass ↓; dashed: next-token prediction.`;

/**
 * Solvers that are chosen and not on show, or the other way round.
 * @param {string[]} shown
 * @param {string[]} chosen
 * @param {Record<string, string>} names
 */
export function solverDifferences(shown, chosen, names) {
  const added = chosen.filter(
    (key, index) => !shown.includes(key) && chosen.indexOf(key) === index,
  );
  const left = shown.filter((key) => !chosen.includes(key));
  return [
    ...added.map((key) => `the solver “${names[key]}” too`),
    ...left.map((key) => `no solver “${names[key]}”`),
  ];
}

class SolverComparison {
  /**
   * @param {HTMLElement} root
   * @param {Setting} setting
   * @param {Trigger} trigger
   */
  constructor(root, setting, trigger) {
    this.root = root;
    this.trigger = trigger;
    /** @type {{ lane: Lane, canvas: HTMLCanvasElement }[]} */
    this.shown = [];
    this.status = make("p", "sbd-solver-comparison-status", { role: "status" });
    this.toggle = makeToggle("Compare solvers", () => this.open(this.body.hidden === true));
    this.choices = setting.start.map((start, index) => {
      const box = make("select", "", { "aria-label": `Solver ${index + 1}` });
      box.append(make("option", "", { value: "" }, "none"));
      for (const { key, name } of setting.solvers)
        box.append(make("option", "", { value: key }, name));
      box.value = start;
      return box;
    });
    this.go = make("button", "sbd-solver-comparison-go", { type: "button" }, "Decode all");
    this.about = make("p", "sbd-solver-comparison-about");
    this.promptId = setting.prompt_id;
    this.names = Object.fromEntries(setting.solvers.map(({ key, name }) => [key, name]));
    this.parameters = new Map(setting.solvers.map(({ key, parameters }) => [key, parameters]));
    this.said = "";
    this.hasError = false;
    /** @type {Asked | null} what the lanes on show were decoded from */
    this.asked = null;
    this.stale = make("p", "sbd-stale", { role: "status", hidden: "" });
    this.lanes = make("div", "sbd-solver-comparison-lanes");
    this.body = make(
      "div",
      "sbd-card sbd-solver-comparison-body",
      { hidden: "" },
      make(
        "div",
        "sbd-solver-comparison-form",
        {},
        ...this.choices,
        this.go,
        unfold("the staircases", this.about),
      ),
      this.about,
      this.stale,
      this.lanes,
    );
    this.go.addEventListener("click", () => this.start());
    find(root, ".sbd-charts-bar").replaceChildren(this.toggle, this.status);
    root.append(this.body);
    this.look();
  }

  /** @param {boolean} isOpen */
  open(isOpen) {
    this.body.hidden = !isOpen;
    this.toggle.setAttribute("aria-expanded", String(!this.body.hidden));
    this.draw();
  }

  start() {
    this.go.disabled = true;
    this.say("Decoding …", false);
    this.trigger("compare", { solvers: this.chosen });
  }

  get chosen() {
    return this.choices.map(({ value }) => value).filter(Boolean);
  }

  /**
   * @param {string} words
   * @param {boolean} isError
   */
  say(words, isError) {
    this.hasError = isError;
    this.status.classList.toggle("is-error", isError);
    setText(this.status, words);
  }

  /** @param {News} news */
  take({ text, is_error: isError, is_running: isRunning, lanes, asked }) {
    this.go.disabled = isRunning;
    this.say(text, isError);
    if (!lanes) return;
    this.asked = asked ?? null;
    this.shown = lanes.map((lane) => ({ lane, canvas: makeStairs(lane) }));
    this.look();
    const detail = lanes.map((lane) => ({
      name: lane.label,
      rate: rateOf(lane),
      right: lane.verdict?.right ?? null,
    }));
    this.root.dispatchEvent(new CustomEvent("sbd-compared", { bubbles: true, detail }));
    const blocks = asked ? ` in blocks of ${asked.block_size}` : "";
    this.lanes.replaceChildren(
      ...this.shown.map(({ lane, canvas }) => {
        const { label, num_tokens: tokens, num_passes: passes, verdict } = lane;
        const rate = rateOf(lane).toFixed(2);
        const isJudged = verdict && verdict.right !== null;
        const right = isJudged ? (verdict.right ? "✓ right" : "✗ wrong") : "";
        return make(
          "section",
          "sbd-solver-comparison-lane",
          {},
          make("h3", "", {}, explain(term("solver"), label, SOLVER_LINES[lane.name] ?? "")),
          make(
            "p",
            "",
            {},
            make("strong", "", {}, String(passes)),
            " passes",
            question(label, `${tokens} tokens${blocks}: ${rate} tokens a forward pass.`),
            make("span", "sbd-solver-comparison-right", {}, right),
          ),
          make("div", "", {}, canvas),
        );
      }),
    );
    this.draw();
  }

  /**
   * Say so while the form asks for something else than the lanes show.
   * @param {Event} [event] an input: with it goes an error, which is of what was asked before
   */
  look(event) {
    if (event && this.hasError) this.say("", false);
    const about = wordsOf(this.dials);
    if (about !== this.said) this.about.replaceChildren(...withTerms(about));
    this.said = about;
    const words = this.asked ? formDifferences(this.asked, this.promptId) : [];
    const shown = this.shown.map(({ lane }) => lane.name);
    if (this.asked) words.push(...solverDifferences(shown, this.chosen, this.names));
    this.stale.hidden = words.length === 0;
    const wish = wishWords(words, "Decode all", this.refusal, this.hasError);
    setText(this.stale, words.length ? `Not these staircases: ${wish}.` : "");
  }

  /** What the form has for the solvers that are chosen. */
  get dials() {
    const parameters = this.chosen.flatMap((key) => this.parameters.get(key) ?? []);
    return dialWords([...parameters, "block_size"]);
  }

  /** Why Decode all refuses what is asked for, "" as far as the page can tell. */
  get refusal() {
    if (this.chosen.length === 0) return "no solver is chosen";
    return isPromptEmpty(this.promptId) ? "the prompt is empty" : "";
  }

  draw() {
    const extent = extentOf(this.shown.map(({ lane }) => lane));
    for (const { lane, canvas } of this.shown) drawStairs(canvas, lane, extent, isDarkPage());
  }
}

/** @type {Mount} */
export function mountSolverComparison({ element, value, trigger, signal }) {
  const section = new SolverComparison(
    find(element, ".sbd-solver-comparison"),
    JSON.parse(value),
    trigger,
  );
  makeTermNote(section.root, signal);
  watchForm((event) => section.look(event), signal);
  const draw = () => section.draw();
  onScheme(draw, signal);
  onResize(section.root, draw, signal);
  onTurn((name) => name === NAME && section.open(true), signal);
  // The player's keys are not meant while a solver is chosen.
  section.body.addEventListener("keydown", (event) => {
    if (elementOf(event)?.matches("select")) event.stopPropagation();
  });
  return (text) => section.take(JSON.parse(text));
}
