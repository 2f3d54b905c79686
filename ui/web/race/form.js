// What to race: the lanes, the two gammas, Race and Stop, and one line of news.

import { elementOf, make, setAttribute, setText } from "../dom/elements.js";
import { question } from "../dom/terms.js";

/** @typedef {{ name: string, label: string, is_chosen: boolean }} LaneName */
/** @typedef {{ choice: LaneName[], gammas: Record<string, number> }} FormSetting */
/** @typedef {{ lanes: string[], low: number | null, high: number | null }} Entry */
/** @typedef {{ lanes: string[], low: string, high: string }} LinkedEntry as a link has it, unchecked */
/** @typedef {Entry & { labels: Record<string, string> }} Asked labels: of every lane there is */
/** @typedef {{ start: (entry: Entry) => void, halt: () => void }} FormActions */

const HOW =
  "Every lane decodes the same prompt with the same weights. Each is decoded to its end first; then " +
  "they are shown side by side.";

/**
 * A lane's box, and the field of its gamma if it has one.
 * @param {LaneName} lane
 * @param {number | undefined} gamma
 */
function makeLaneChoice({ name, label, is_chosen: isChosen }, gamma) {
  const box = make("input", "", { type: "checkbox" });
  box.checked = isChosen;
  const words = make("label", "", {}, box, label);
  const root = make("div", `sbd-race-choice sbd-race-${name}`, {}, words);
  if (gamma === undefined) return { name, box, root, field: null };
  const field = make("input", "sbd-race-gamma", {
    type: "number",
    min: "0",
    step: "0.05",
    value: gamma,
    "aria-label": `γ of ${label}, nats`,
  });
  root.append(field);
  return { name, box, root, field };
}

/** The form over the lanes. */
export class RaceForm {
  /**
   * @param {FormSetting} setting
   * @param {FormActions} actions
   */
  constructor({ choice, gammas }, actions) {
    this.gammas = gammas;
    this.actions = actions;
    this.labels = Object.fromEntries(choice.map(({ name, label }) => [name, label]));
    this.choices = choice.map((item) => makeLaneChoice(item, gammas[item.name]));
    this.go = make("button", "sbd-race-go", { type: "button" }, "Race");
    this.stop = make("button", "sbd-race-stop", { type: "button", disabled: "" }, "Stop");
    this.news = make("p", "sbd-race-news", { role: "status" });
    const legend = make("legend", "", {}, "Lanes");
    const boxes = this.choices.map(({ root }) => root);
    this.root = make(
      "div",
      "sbd-card sbd-race-form",
      {},
      make("fieldset", "sbd-race-choices", {}, legend, ...boxes),
      make("div", "sbd-race-buttons", {}, this.go, this.stop, question("the race", HOW)),
      this.news,
    );
    this.go.addEventListener("click", () => this.start());
    this.stop.addEventListener("click", () => actions.halt());
    this.root.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && elementOf(event)?.matches("input")) this.start();
    });
  }

  /**
   * The gamma to send: what its field says, null if that is empty.
   * @param {string} name
   */
  gammaOf(name) {
    const field = this.choices.find((each) => each.name === name)?.field;
    if (!field) return this.gammas[name] ?? null;
    return field.value === "" ? null : Number(field.value);
  }

  start() {
    if (this.go.disabled) return;
    this.showRunning(true);
    this.say("", false);
    const { labels, ...entry } = this.asked;
    this.actions.start(entry);
  }

  /** What Race would run now. @returns {Asked} */
  get asked() {
    const lanes = this.choices.filter(({ box }) => box.checked).map(({ name }) => name);
    const [low, high] = [this.gammaOf("sbd-low"), this.gammaOf("sbd-high")];
    return { lanes, low, high, labels: this.labels };
  }

  /**
   * Take the lanes and gammas of a link; what makes no sense there leaves its field empty.
   * @param {LinkedEntry} entry
   */
  choose({ lanes, low, high }) {
    /** @type {Record<string, string>} */
    const gammaNamed = { "sbd-low": low, "sbd-high": high };
    for (const { name, box, field } of this.choices) {
      box.checked = lanes.includes(name);
      if (field) field.value = gammaNamed[name] ?? "";
    }
  }

  /** @param {boolean} isRunning */
  showRunning(isRunning) {
    this.go.disabled = isRunning;
    this.stop.disabled = !isRunning;
  }

  get hasError() {
    return this.news.classList.contains("is-error");
  }

  /**
   * @param {string} text
   * @param {boolean} isError
   */
  say(text, isError) {
    setAttribute(this.news, "role", isError ? "alert" : "status");
    this.news.classList.toggle("is-error", isError);
    setText(this.news, text);
  }
}
