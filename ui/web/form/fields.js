// The settings of the form as they stand on the page, how they differ from those of a run, and the
// changes that nobody made by hand: a model and a recorded run bring settings of their own.

import constants from "../constants.json" with { type: "json" };
import { modelDifference } from "../core/models.js";
import { LANE_TITLES, PAPER, wayTitle } from "../core/names.js";
import { listInWords } from "../core/numbers.js";
import { numberBox } from "../dom/gradio.js";
import { sayStatus } from "../in_browser/bridge.js";

/** @import { Run } from "../core/run/run.js" */

/** @typedef {keyof typeof constants.formIds} FieldName */

/** @type {Readonly<Record<string, Readonly<Record<string, string>>>>} what the choices are called */
export const TITLES = { strategy: LANE_TITLES, solver: constants.solverNames };
/** Fields of which one of a few names is chosen. */
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
/** @type {string[]} */
const DIAL_NAMES = DIALS.map(([name]) => name);

const OF_SOLVER = ["gamma", "tau", "factor", "k", "by"];
/** Settings of which each model has its own best. */
const OF_MODEL = ["block_size"];

/** @param {Element | null} node */
const isThere = (node) => node !== null && node.closest(".hidden, .hide") === null;

/** The number of a field; null while it is hidden, empty or not mounted. @param {FieldName} name */
export function numberOf(name) {
  const box = numberBox(constants.formIds[name]);
  return box && isThere(box) && box.value !== "" ? Number(box.value) : null;
}

/**
 * Choice in a list of the form, by its name in a decode; null while that cannot be told.
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
  // 0 is the model's own, or the machine's, whichever that is.
  return OWN_AT_0.includes(name) && value === 0 ? null : value;
}

/**
 * Settings of the form in a few words each; hidden ones are left out.
 * @param {string[]} names of fields
 */
function dialWords(names) {
  return DIALS.flatMap(([name, tell]) => {
    const value = names.includes(name) ? dialOf(name) : null;
    return value === null ? [] : [tell(value)];
  });
}

/**
 * Settings in which the form differs from a run, prompt apart, each in a few words.
 * @param {Run} run
 */
export function settingDifferences(run) {
  const settings = run.settings();
  const strategy = choiceOf("strategy") ?? run.strategy;
  const asked = wayTitle(strategy, choiceOf("solver") ?? run.solver.name);
  const own = wayTitle(run.strategy, run.solver.name);
  const words = [];
  const fresh = []; // settings of a solver, where none was at work in the run
  const model = modelDifference(run.model);
  if (model) words.push(model);
  for (const [name, tell] of DIALS) {
    const own = settings[name];
    const asked = dialOf(name);
    if (own === undefined || asked === null || asked === own) continue;
    if (name === "block_size" && run.strategy === "ntp") continue;
    if (model && OF_MODEL.includes(name)) continue;
    if (OF_SOLVER.includes(name) && run.strategy !== "sbd") fresh.push(tell(asked));
    else words.push(`${tell(asked)} instead of ${own || "as many as pay"}`);
  }
  const way = [asked, fresh.join(", ")].filter(Boolean).join(" at ");
  if (asked !== own) words.unshift(`${way} instead of ${own}`);
  const seed = numberOf("seed");
  if (run.solver.name === "random" && seed !== null && seed !== run.config.seed) {
    words.push(`seed ${seed} instead of ${run.config.seed}`);
  }
  return words;
}

const LOOK_MS = 250; // between two looks: a form that did not change over one has settled
const NUM_LOOKS = 16;

/** The strategy and the settings in the form, each in a few words. */
function settings() {
  const strategy = choiceOf("strategy");
  const title = strategy === null ? [] : [wayTitle(strategy, choiceOf("solver") ?? PAPER)];
  return [...title, ...dialWords(DIAL_NAMES)];
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;

/**
 * Tell what the form has now that it had not, once it has settled.
 * @param {string} cause of it, as the sentence begins: "With nano"
 */
export function tellChanges(cause) {
  const before = settings();
  let last = before.join();
  let left = NUM_LOOKS;
  function look() {
    const now = settings();
    const hasSettled = now.join() === last;
    last = now.join();
    left -= 1;
    const other = now.filter((words) => !before.includes(words));
    if (hasSettled && other.length)
      sayStatus(`${cause} the form now has ${listInWords(other)}.`, false, true);
    else if (left > 0) waiting = setTimeout(look, LOOK_MS);
  }
  clearTimeout(waiting);
  waiting = setTimeout(look, LOOK_MS);
}
