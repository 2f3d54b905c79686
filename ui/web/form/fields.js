// Reads the settings of the form from the page, and says how they differ from those of a run.

import constants from "../constants.json" with { type: "json" };
import { LANE_TITLES, wayTitle } from "../core/words.js";
import { numberBox, promptBox } from "../dom/gradio.js";
import { modelDifference } from "../models.js";

/** @import { Run } from "../core/run.js" */
/** @import { Form } from "../engine/session.js" */

/** @typedef {keyof typeof constants.formIds} FieldName */

/** @type {Readonly<Record<string, Readonly<Record<string, string>>>>} titles of the choices by field and name */
export const TITLES = { strategy: LANE_TITLES, solver: constants.solverNames };
/** Fields whose value is one of a few names. */
export const CHOICES = ["strategy", "solver", "by"];

/** @type {[name: FieldName, words: (value: string | number) => string][]} */
const DIALS = [
  ["gamma", (value) => `γ ${value}`],
  ["tau", (value) => `τ ${value}`],
  ["factor", (value) => `factor ${value}`],
  ["k", (value) => `${value} tokens a forward pass`],
  ["by", (value) => `best by ${value}`],
  ["block_size", (value) => `blocks of ${value}`],
  ["max_new_tokens", (value) => `at most ${value} tokens`],
  ["max_rows", (value) => (value ? `at most ${value} rows` : "as many rows as pay here")],
  ["repetition_penalty", (value) => `repetition penalty ${value}`],
];

const OWN_AT_0 = ["repetition_penalty", "max_rows"];

const OF_SOLVER = ["gamma", "tau", "factor", "k", "by"];
/** Settings whose best value depends on the model. */
const OF_MODEL = ["block_size"];

/** @param {Element | null} node */
const isThere = (node) => node !== null && node.closest(".hidden, .hide") === null;

/** Return the number in a field; null if the field is hidden, empty or not mounted. @param {FieldName} name */
export function numberOf(name) {
  const box = numberBox(constants.formIds[name]);
  return box && isThere(box) && box.value !== "" ? Number(box.value) : null;
}

/**
 * Return the name chosen in a field; null if the field is hidden or not mounted, or its title has no name.
 * @param {FieldName} name
 */
export function choiceOf(name) {
  /** @type {HTMLInputElement | null} */
  const box = document.querySelector(`#${constants.formIds[name]} :is(input, select)`);
  if (!box || !isThere(box)) return null;
  const titles = TITLES[name];
  if (!titles) return box.value || null;
  return Object.keys(titles).find((key) => titles[key] === box.value) ?? null;
}

/** @param {FieldName} name */
function dialOf(name) {
  if (CHOICES.includes(name)) return choiceOf(name);
  const value = numberOf(name);
  // 0 leaves the value to the model or to the machine.
  return OWN_AT_0.includes(name) && value === 0 ? null : value;
}

/** Return the form's settings, each in a few words; hidden ones are left out. */
export function dialWords() {
  return DIALS.flatMap(([name, tell]) => {
    const value = dialOf(name);
    return value === null ? [] : [tell(value)];
  });
}

/**
 * Return the fields whose value in the form differs from that in `settings`, with both values in words.
 * @param {Record<string, unknown>} settings by field
 */
function otherDials(settings) {
  return DIALS.flatMap(([name, tell]) => {
    const [own, asked] = [settings[name], dialOf(name)];
    if (own === undefined || asked === null || asked === own) return [];
    const words = `${tell(asked)} instead of ${own || "as many as pay"}`;
    return [{ name, asked: tell(asked), words }];
  });
}

/** Say how the form differs from some settings. @param {Record<string, unknown>} settings by field */
export function dialDifferences(settings) {
  return otherDials(settings).map(({ words }) => words);
}

/** Say how the form differs from a run in all but the prompt. @param {Run} run */
export function settingDifferences(run) {
  /** @type {Record<string, unknown>} */
  const settings = run.settings();
  const strategy = choiceOf("strategy") ?? run.strategy;
  const asked = wayTitle(strategy, choiceOf("solver") ?? run.solver.name);
  const own = wayTitle(run.strategy, run.solver.name);
  const words = [];
  const fresh = []; // the form's solver settings, if the run used no solver
  const model = modelDifference(run.model);
  if (model) words.push(model);
  for (const dial of otherDials(settings)) {
    if (dial.name === "block_size" && run.strategy === "ntp") continue;
    if (model && OF_MODEL.includes(dial.name)) continue;
    if (OF_SOLVER.includes(dial.name) && run.strategy !== "sbd") fresh.push(dial.asked);
    else words.push(dial.words);
  }
  const way = [asked, fresh.join(", ")].filter(Boolean).join(" at ");
  if (asked !== own) words.unshift(`${way} instead of ${own}`);
  const seed = numberOf("seed");
  if (run.solver.name === "random" && seed !== null && seed !== run.config.seed) {
    words.push(`seed ${seed} instead of ${run.config.seed}`);
  }
  return words;
}

const PROMPT_ID = "sbd-prompt-box";

/** Read the form; hidden fields are left out. */
export function readForm() {
  /** @type {Form} */
  const form = { prompt: promptBox(PROMPT_ID)?.value ?? "" };
  for (const name of /** @type {FieldName[]} */ (Object.keys(constants.formIds))) {
    const value = CHOICES.includes(name) ? choiceOf(name) : numberOf(name);
    if (value !== null) form[name] = value;
  }
  /** @type {HTMLTextAreaElement | HTMLInputElement | null} */
  const template = document.querySelector("#sbd-template-box textarea, #sbd-template-box input");
  if (form.strategy === "sbd" && template?.value) form.template = template.value;
  return form;
}
