// Reads the settings of the form from the page, and says how they differ from those of a run.

import constants from "../constants.json" with { type: "json" };
import type { Run } from "../core/run.ts";
import { decodingTitle, LANE_TITLES } from "../core/words.ts";
import { numberBox, promptBox } from "../dom/gradio.ts";
import type { Form } from "../engine/session.ts";
import { modelDifference } from "../models.ts";

export type FieldName = keyof typeof constants.formIds;

/** titles of the choices by field and name */
export const TITLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  strategy: LANE_TITLES,
  solver: constants.solverNames,
};
/** Fields whose value is one of a few names. */
export const CHOICES = ["strategy", "solver", "by"];

const SETTINGS_IN_WORDS: [name: FieldName, words: (value: string | number) => string][] = [
  ["gamma", (value) => `γ ${value}`],
  ["tau", (value) => `τ ${value}`],
  ["factor", (value) => `factor ${value}`],
  ["k", (value) => `${value} tokens a forward pass`],
  ["by", (value) => `best by ${value}`],
  ["block_size", (value) => `blocks of ${value}`],
  ["max_new_tokens", (value) => `at most ${value} tokens`],
  ["max_rows", (value) => `at most ${value} rows`],
  ["repetition_penalty", (value) => `repetition penalty ${value}`],
];

const AUTOMATIC_AT_0 = ["repetition_penalty", "max_rows"];

const SOLVER_FIELDS = ["gamma", "tau", "factor", "k", "by"];
/** Settings whose best value depends on the model. */
const MODEL_FIELDS = ["block_size"];

const isThere = (node: Element | null) => node !== null && node.closest(".hidden, .hide") === null;

/** Return the number in a field; null if the field is hidden, empty or not mounted. */
export function numberOf(name: FieldName) {
  const box = numberBox(constants.formIds[name]);
  return box && isThere(box) && box.value !== "" ? Number(box.value) : null;
}

/** Return the name chosen in a field; null if the field is hidden or not mounted, or its title has no name. */
export function choiceOf(name: FieldName) {
  const box: HTMLInputElement | null = document.querySelector(
    `#${constants.formIds[name]} :is(input, select)`,
  );
  if (!box || !isThere(box)) return null;
  const titles = TITLES[name];
  if (!titles) return box.value || null;
  return Object.keys(titles).find((key) => titles[key] === box.value) ?? null;
}

function fieldValue(name: FieldName) {
  if (CHOICES.includes(name)) return choiceOf(name);
  const value = numberOf(name);
  // 0 leaves the value to the model or to the machine.
  return AUTOMATIC_AT_0.includes(name) && value === 0 ? null : value;
}

/** Return the form's settings, each in a few words; hidden ones are left out. */
export function settingWords() {
  return SETTINGS_IN_WORDS.flatMap(([name, tell]) => {
    const value = fieldValue(name);
    return value === null ? [] : [tell(value)];
  });
}

/**
 * Return the fields whose value in the form differs from that in `settings`, with both values in words.
 * @param settings by field
 */
function differingSettings(settings: Record<string, unknown>) {
  return SETTINGS_IN_WORDS.flatMap(([name, tell]) => {
    const [runValue, formValue] = [settings[name], fieldValue(name)];
    if (runValue === undefined || formValue === null || formValue === runValue) return [];
    const words = `${tell(formValue)} instead of ${runValue || "the default"}`;
    return [{ name, formWords: tell(formValue), words }];
  });
}

/** Say how the form differs from some settings. @param settings by field */
export function fieldDifferences(settings: Record<string, unknown>) {
  return differingSettings(settings).map(({ words }) => words);
}

/** Say how the form differs from a run in all but the prompt. */
export function settingDifferences(run: Run) {
  const settings: Record<string, unknown> = run.settings();
  const strategy = choiceOf("strategy") ?? run.strategy;
  const formTitle = decodingTitle(strategy, choiceOf("solver") ?? run.solver.name);
  const runTitle = decodingTitle(run.strategy, run.solver.name);
  const words = [];
  const solverWords = []; // the form's solver settings, if the run used no solver
  const model = modelDifference(run.model);
  if (model) words.push(model);
  for (const dial of differingSettings(settings)) {
    if (dial.name === "block_size" && run.strategy === "ntp") continue;
    if (model && MODEL_FIELDS.includes(dial.name)) continue;
    if (SOLVER_FIELDS.includes(dial.name) && run.strategy !== "sbd")
      solverWords.push(dial.formWords);
    else words.push(dial.words);
  }
  const decoding = [formTitle, solverWords.join(", ")].filter(Boolean).join(" at ");
  if (formTitle !== runTitle) words.unshift(`${decoding} instead of ${runTitle}`);
  const seed = numberOf("seed");
  if (run.solver.name === "random" && seed !== null && seed !== run.config.seed) {
    words.push(`seed ${seed} instead of ${run.config.seed}`);
  }
  return words;
}

const PROMPT_ID = "sbd-prompt-box";

/** Read the form; hidden fields are left out. */
export function readForm() {
  const form: Form = { prompt: promptBox(PROMPT_ID)?.value ?? "" };
  for (const name of Object.keys(constants.formIds) as FieldName[]) {
    const value = CHOICES.includes(name) ? choiceOf(name) : numberOf(name);
    if (value !== null) form[name] = value;
  }
  const template: HTMLTextAreaElement | HTMLInputElement | null = document.querySelector(
    "#sbd-template-box textarea, #sbd-template-box input",
  );
  if (form.strategy === "sbd" && template?.value) form.template = template.value;
  return form;
}
