// The form of the Compare view: up to four lanes to decode, two presets, Compare and Stop, and a line of news. Another
// line says how the form differs from the run that is shown.

import { html, render } from "lit-html";
import { live } from "lit-html/directives/live.js";
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
import { elementOf, make, setStyle, setText } from "../dom/elements.ts";
import { buttonTemplate, questionTemplate } from "../dom/templates.ts";
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
  "“Rows at most” is how many rows a forward pass may have; the default depends on what decodes: " +
  `${listInWords(Object.entries(constants.usualRows).map(([name, rows]) => `${rows} on ${name}`))}. What a row is: ${GLOSSARY.row?.words}`;

/** A way to decode that is chosen: a strategy or solver, "" for none, and the value of its setting, "" without one. */
type Way = { kind: string; value: string };

const wayOf = (kind: string): Way => ({ kind, value: String(laneSettingOf(kind)?.[1] || "") });

/** Return the name of a way's lane, such as "sbd:0.35"; "" for none. A verify without a number has the default rows. */
function laneOf({ kind, value }: Way) {
  const isLeft = value === "" || (kind === "verify" && Number(value) === 0);
  return laneSettingOf(kind) && !isLeft ? `${kind}:${Number(value)}` : kind;
}

export class CompareForm {
  kinds = Object.keys(this.setting.presets).length ? KINDS : ["ntp"];
  presets = Object.entries(this.setting.presets).map(([name, lanes]) => ({ name, lanes }));
  ways: Way[] = [];
  isRunning = false;
  message = "";
  hasError = false;
  root = make("div", "sbd-card sbd-compare-form");

  constructor(
    readonly setting: FormSetting,
    readonly actions: FormActions,
  ) {
    this.choose(this.presets[0]?.lanes ?? ["ntp"]);
    this.takeModelPreset();
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
    const lanes = this.setting.of_model?.[chosenModel()];
    if (!first || !lanes?.length || String(lanes) === String(first.lanes)) return;
    const isPresetChosen = String(this.lanes) === String(first.lanes);
    first.lanes = lanes;
    if (isPresetChosen) this.choose(lanes);
    else this.draw();
  }

  /** The chosen lanes, without duplicates. */
  get lanes() {
    return [...new Set(this.ways.map(laneOf).filter(Boolean))];
  }

  choose(lanes: string[]) {
    this.ways = Array.from({ length: constants.maxLanes }, (_, place) => {
      const [kind = "", value] = lanes[place]?.split(":") ?? [];
      if (!this.kinds.includes(kind)) return wayOf("");
      return { ...wayOf(kind), ...(value !== undefined && { value }) };
    });
    this.draw();
    this.root.dispatchEvent(new Event("input", { bubbles: true }));
  }

  change(place: number, way: Way) {
    this.ways[place] = way;
    this.draw();
  }

  draw() {
    const isSbdChosen = this.ways.some(({ kind }) => kind === "sbd");
    const preset = ({ name, lanes }: (typeof this.presets)[number]) =>
      buttonTemplate("sbd-chip", name, () => this.choose(lanes), {
        isPressed: String(lanes) === String(this.lanes),
      });
    const { isRunning } = this;
    const buttons = [
      buttonTemplate("sbd-compare-go", "Compare", () => this.start(), { isDisabled: isRunning }),
      buttonTemplate("sbd-compare-stop", "Stop", this.actions.halt, { isDisabled: !isRunning }),
    ];
    const content = html`<div class="sbd-compare-buttons"
        >${this.presets.map(preset)}${questionTemplate("the comparison", HOW)}<p
          class="sbd-compare-news ${this.hasError ? "is-error" : ""}"
          role=${this.hasError ? "alert" : "status"}
          >${this.message}</p
        >${buttons}</div>
      <fieldset class="sbd-compare-choices"
        ><legend class="sbd-unseen">Ways to decode</legend
        >${this.ways.map((way, place) => this.wayTemplate(way, place))}</fieldset>
      <p class="sbd-compare-warning">${(isSbdChosen && this.setting.warnings?.[chosenModel()]) || ""}</p>`;
    render(content, this.root);
  }

  wayTemplate({ kind, value }: Way, place: number) {
    const [setting = ""] = laneSettingOf(kind) ?? [];
    const letter = setting && settingLabel(setting);
    const name = `way ${place + 1}`;
    const about = setting === "max_rows" ? ROWS : GLOSSARY[setting]?.words;
    const words = [laneWords(kind), about].filter(Boolean).join(" ");
    const typedIn = (event: Event) => (event.target as HTMLInputElement).value;
    const options = ["", ...this.kinds].map(
      (each) =>
        html`<option value=${each} .selected=${live(each === kind)}
          >${each ? kindTitle(each) : "none"}</option>`,
    );
    return html`<div class="sbd-compare-choice"
      ><select
        aria-label="Way ${place + 1}"
        @input=${(event: Event) => this.change(place, wayOf(typedIn(event)))}
        >${options}</select
      ><label class=${setting ? "" : "is-unused"}
        ><span class="sbd-compare-letter">${letter}</span
        ><input
          class="sbd-compare-dial"
          type="number"
          min="0"
          step="any"
          aria-label="${letter} of ${name}"
          placeholder=${setting === "max_rows" ? "auto" : ""}
          .value=${live(value)}
          @input=${(event: Event) => this.change(place, { kind, value: typedIn(event) })}
        /></label
      ><span class=${kind ? "" : "is-unused"}>${questionTemplate(name, words)}</span></div>`;
  }

  start() {
    if (this.isRunning) return;
    this.showRunning(true);
    this.showMessage("", false);
    this.actions.start();
  }

  showRunning(isRunning: boolean) {
    this.isRunning = isRunning;
    this.draw();
  }

  showMessage(text: string, isError: boolean) {
    [this.message, this.hasError] = [text, isError];
    this.draw();
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
    ...[...form.differing({ block_size, max_new_tokens }).values()].map(([, words]) => words),
  ];
}

/**
 * Say how the form differs from the run that is shown, and what Compare would do.
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
  root = make("p", "sbd-stale", { role: "status", hidden: "" });

  constructor(
    readonly getRun: () => Run | null,
    readonly getLanes: () => string[],
    readonly onDiffer: () => void,
    signal: AbortSignal,
  ) {
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
