// The form of the Compare view: up to four lanes to decode, two presets, Compare and Stop, and a line of news; and how
// it differs from the run that is shown.

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
  laneWords,
  settingLabel,
} from "../core/words.ts";
import { elementOf, make } from "../dom/elements.ts";
import { buttonTemplate, questionTemplate } from "../dom/templates.ts";
import { form, OTHER_PROMPT } from "../form/form.ts";
import { chosenModel, modelDifference } from "../models.ts";

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

export const HOW =
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

/** Say how the model, the prompt, the block size, the token limit and the lanes of the form differ from those of a run. */
export function formDifferences({ model, prompt, config, lanes }: Run, chosen: string[]) {
  const { block_size, max_new_tokens } = config;
  const isSameLanes = String([...lanes.keys()].sort()) === String([...chosen].sort());
  return [
    modelDifference(model),
    form.prompt.trim() === prompt.trim() ? "" : OTHER_PROMPT,
    ...[...form.differing({ block_size, max_new_tokens }).values()].map(([, words]) => words),
    isSameLanes ? "" : "other ways to decode",
  ].filter(Boolean);
}
