// The form of the Compare view: up to four lanes to decode, two presets, Compare and Stop, and a line of news. Another
// line says how the form differs from the run that is shown.

import constants from "../constants.json" with { type: "json" };
import { listInWords } from "../core/numbers.ts";
import type { Run } from "../core/run.ts";
import {
  GLOSSARY,
  KINDS,
  kindTitle,
  laneSettingOf,
  laneTitle,
  laneWords,
  settingLabel,
} from "../core/words.ts";
import { elementOf, find, make, setAttribute, setStyle, setText } from "../dom/elements.ts";
import { question, setTerm } from "../dom/terms.ts";
import { form, OTHER_PROMPT, onForm } from "../form/form.ts";
import { chosenModel, modelDifference } from "../models.ts";
import { WAITING } from "../watch/form_difference.ts";

/**
 * presets: lanes by the name of the preset; {} if no model of the page has a mask token. of_model: lanes of the
 * first preset by the name of the model. warnings: texts about Set Block Decoding by the name of the model.
 */
export type FormSetting = {
  presets: Record<string, string[]>;
  of_model?: Record<string, string[]>;
  warnings?: Record<string, string>;
};
type FormActions = { start: () => void; halt: () => void };

const HOW =
  "Each way decodes the same prompt with the same weights, a forward pass of each in turn. Strategies " +
  "differ in what becomes of guesses, solvers in which guesses Set Block Decoding keeps; the paper’s " +
  "solver is its entropy bound.";
const ROWS =
  "“rows ≤” is how many rows a forward pass may have; the default depends on what decodes: " +
  `${listInWords(Object.entries(constants.usualRows).map(([name, rows]) => `${rows} on ${name}`))}. What a row is: ${GLOSSARY.row?.words}`;

/** One of the four lane choices: a strategy or solver, and the value of its setting if it has one. */
class LaneChoice {
  select: HTMLSelectElement;
  letter: HTMLSpanElement;
  field: HTMLInputElement;
  help: HTMLElement;
  root: HTMLDivElement;

  constructor(
    readonly place: number,
    kinds: string[],
  ) {
    const options = kinds.map((kind) => make("option", "", { value: kind }, kindTitle(kind)));
    const none = make("option", "", { value: "" }, "none");
    this.select = make("select", "", { "aria-label": `Way ${place}` }, none, ...options);
    this.letter = make("span", "sbd-compare-letter");
    this.field = make("input", "sbd-compare-dial", { type: "number", min: "0", step: "any" });
    const dial = make("label", "", this.letter, this.field);
    this.help = question(`way ${place}`, "");
    this.root = make("div", "sbd-compare-choice", this.select, dial, this.help);
    this.select.addEventListener("input", () => this.showSetting());
  }

  /** Show the setting of the chosen strategy or solver, with its default value. */
  showSetting() {
    const dial = laneSettingOf(this.select.value);
    const letter = dial ? settingLabel(dial[0]) : "";
    setText(this.letter, letter);
    this.field.placeholder = dial?.[0] === "max_rows" ? "auto" : "";
    setAttribute(this.field, "aria-label", `${letter} of way ${this.place}`);
    const setting = dial?.[0] === "max_rows" ? ROWS : GLOSSARY[dial?.[0] ?? ""]?.words;
    setTerm(this.help, "", [laneWords(this.select.value), setting].filter(Boolean).join(" "));
    this.help.classList.toggle("is-unused", !this.select.value);
    find(this.root, "label").classList.toggle("is-unused", !dial);
    this.field.value = dial?.[1] ? String(dial[1]) : "";
  }

  /** The name of the chosen lane, such as "sbd:0.35"; "" for none. */
  get lane() {
    const { value } = this.field;
    const hasValue = laneSettingOf(this.select.value) && value !== "" && Number(value) !== 0;
    const isZero = value !== "" && Number(value) === 0 && this.select.value !== "verify";
    return hasValue || isZero ? `${this.select.value}:${Number(value)}` : this.select.value;
  }

  set lane(lane: string) {
    const [kind = "", value] = lane.split(":");
    this.select.value = kind;
    this.showSetting();
    if (value !== undefined) this.field.value = value;
  }
}

export class CompareForm {
  presetByModel: Record<string, string[]>;
  warnings: Record<string, string>;
  choices: LaneChoice[];
  go: HTMLButtonElement;
  stop: HTMLButtonElement;
  message: HTMLParagraphElement;
  warning: HTMLParagraphElement;
  presets: { chip: HTMLButtonElement; lanes: string[] }[];
  root: HTMLDivElement;

  constructor(
    { presets, of_model: presetByModel = {}, warnings = {} }: FormSetting,
    readonly actions: FormActions,
  ) {
    this.presetByModel = presetByModel;
    this.warnings = warnings;
    const kinds = Object.keys(presets).length ? KINDS : ["ntp"];
    const places = Array.from({ length: constants.maxLanes }, (_, index) => index + 1);
    this.choices = places.map((place) => new LaneChoice(place, kinds));
    this.go = make("button", "sbd-compare-go", "Compare");
    this.stop = make("button", "sbd-compare-stop", { disabled: "" }, "Stop");
    this.message = make("p", "sbd-compare-news", { role: "status" });
    this.warning = make("p", "sbd-compare-warning");
    this.presets = Object.entries(presets).map(([name, lanes]) => {
      const chip = make("button", "sbd-chip", name);
      const preset = { chip, lanes };
      chip.addEventListener("click", () => this.choose(preset.lanes));
      return preset;
    });
    const legend = make("legend", "sbd-unseen", "Ways to decode");
    this.root = make(
      "div",
      "sbd-card sbd-compare-form",
      make(
        "div",
        "sbd-compare-buttons",
        ...this.presets.map(({ chip }) => chip),
        question("the comparison", HOW),
        this.message,
        this.go,
        this.stop,
      ),
      make("fieldset", "sbd-compare-choices", legend, ...this.choices.map(({ root }) => root)),
      this.warning,
    );
    this.choose(Object.values(presets)[0] ?? ["ntp"]);
    this.takeModelPreset();
    this.go.addEventListener("click", () => this.start());
    this.stop.addEventListener("click", () => actions.halt());
    this.root.addEventListener("input", () => this.update());
    this.root.addEventListener("keydown", (event) => {
      const isOfField = elementOf(event)?.matches("input, select");
      if (event.key === "Enter" && isOfField) this.start();
      // Keys pressed in the form are not for the player.
      if (isOfField) event.stopPropagation();
    });
  }

  /** Give the first preset the lanes of the model that is chosen now; choose them if its old lanes are chosen. */
  takeModelPreset() {
    const [first] = this.presets;
    const lanes = this.presetByModel[chosenModel()];
    if (!first || !lanes?.length || String(lanes) === String(first.lanes)) return;
    const isPresetChosen = String(this.lanes) === String(first.lanes);
    first.lanes = lanes;
    if (isPresetChosen) this.choose(lanes);
    else this.update();
  }

  /** The chosen lanes, without duplicates. */
  get lanes() {
    return [...new Set(this.choices.map(({ lane }) => lane).filter(Boolean))];
  }

  choose(lanes: string[]) {
    this.choices.forEach((choice, index) => {
      choice.lane = lanes[index] ?? "";
    });
    this.root.dispatchEvent(new Event("input", { bubbles: true }));
    this.update();
  }

  /** Mark the chosen preset, and show the model's warning while Set Block Decoding is chosen. */
  update() {
    const isSbdChosen = this.choices.some(({ select }) => select.value === "sbd");
    setText(this.warning, (isSbdChosen && this.warnings[chosenModel()]) || "");
    for (const { chip, lanes } of this.presets)
      setAttribute(chip, "aria-pressed", String(lanes) === String(this.lanes));
  }

  start() {
    if (this.go.disabled) return;
    this.showRunning(true);
    this.showMessage("", false);
    this.actions.start();
  }

  showRunning(isRunning: boolean) {
    this.go.disabled = isRunning;
    this.stop.disabled = !isRunning;
  }

  get hasError() {
    return this.message.classList.contains("is-error");
  }

  showMessage(text: string, isError: boolean) {
    setAttribute(this.message, "role", isError ? "alert" : "status");
    this.message.classList.toggle("is-error", isError);
    setText(this.message, text);
  }
}

/** Say which chosen lanes are not shown, and which shown lanes are not chosen. */
export function laneDifferences(shown: string[], chosen: string[]) {
  const added = chosen.filter((lane) => !shown.includes(lane));
  const missing = shown.filter((lane) => !chosen.includes(lane));
  return [
    ...added.map((lane) => `“${laneTitle(lane)}” too`),
    ...missing.map((lane) => `no “${laneTitle(lane)}”`),
  ];
}

/** Say how the model, the prompt, the block size and the token limit in the form differ from those of a run. */
function formDifferences({ model, prompt, config }: Pick<Run, "model" | "prompt" | "config">) {
  const { block_size, max_new_tokens } = config;
  const otherModel = modelDifference(model);
  return [
    ...(otherModel ? [otherModel] : []),
    ...(form.prompt.trim() === prompt.trim() ? [] : [OTHER_PROMPT]),
    ...form.fieldDifferences({ block_size, max_new_tokens }),
  ];
}

/**
 * Say how the form differs from the run that is shown, and what Compare would do.
 * @param words the differences
 * @param refusal why Compare would refuse the form, "" if it would not
 * @param hasFailed whether Compare was pressed and the line of news says what went wrong
 */
export function differenceWords(words: string[], refusal: string, hasFailed: boolean) {
  const difference = `the form asks for ${listInWords(words)}`;
  if (refusal) return `${difference}, which Compare refuses: ${refusal}`;
  return hasFailed ? difference : `${difference}; press Compare to run that`;
}

/** The line above the lanes that says how the form differs from the run shown, if it does. */
export class DifferenceLine {
  hasFailed = false;
  /** Whether Compare was pressed and nothing of the new run has come yet. */
  isWaiting = false;
  root: HTMLParagraphElement;

  /**
   * @param getRun returns the run that is shown
   * @param getLanes returns the lanes chosen in the form
   * @param onDiffer called when the form begins to differ from the run shown
   */
  constructor(
    readonly getRun: () => Run | null,
    readonly getLanes: () => string[],
    readonly onDiffer: () => void,
    signal: AbortSignal,
  ) {
    this.root = make("p", "sbd-stale", { role: "status", hidden: "" });
    onForm(() => this.update(), signal);
  }

  /** Why Compare would refuse the form; "" if the page knows no reason. */
  get refusal() {
    if (this.getLanes().length === 0) return "no way to decode is chosen";
    return form.prompt.trim() === "" ? "the prompt is empty" : "";
  }

  update() {
    const run = this.getRun();
    const wasQuiet = this.root.hidden || this.root.classList.contains("is-quiet");
    const words = run
      ? [...formDifferences(run), ...laneDifferences([...run.lanes.keys()], this.getLanes())]
      : [];
    // Once shown, the line keeps its space, so that nothing below moves when a run begins.
    this.root.classList.toggle("is-quiet", words.length === 0);
    if (words.length === 0) return;
    this.root.hidden = false;
    if (wasQuiet) this.onDiffer();
    const difference = `Not this run: ${differenceWords(words, this.refusal, this.hasFailed)}.`;
    // The line keeps its height while it says WAITING: on a phone the differences may take more lines.
    setStyle(this.root, "min-height", this.isWaiting ? `${this.root.offsetHeight}px` : "");
    setText(this.root, this.isWaiting ? WAITING : difference);
  }
}
