// Makes and fills the form of the static page: the fields that Gradio makes on the other one, with the same
// ids, so that every view finds them. Values come from the constants that Python shares.

import constants from "../constants.json" with { type: "json" };
import { make } from "../dom/elements.js";
import { typeInto } from "../dom/gradio.js";
import { MEASURES, SOLVERS } from "../engine/decoding/settings.js";
import { choiceOf, TITLES } from "../form/fields.js";

/** @import { FieldName } from "../form/fields.js" */

/** The values of fields by their names. @typedef {Record<string, unknown>} Values */

/** @type {[name: FieldName, value: number | "", step: number][]} */
const NUMBERS = [
  ["gamma", 0.35, 0.01],
  ["tau", 0.9, 0.01],
  ["factor", 1, 0.05],
  ["k", 2, 1],
  ["max_rows", 0, 1], // 0 is by this browser’s costs
  ["repetition_penalty", 0, 0.05], // 0 is the model’s own
  ["block_size", 16, 1],
  ["max_new_tokens", 128, 1],
  ["seed", 0, 1],
];
/** The fields that every strategy has. */
const ALWAYS = ["strategy", "repetition_penalty", "block_size", "max_new_tokens"];

/**
 * A labelled field with the id under which the views know it.
 * @param {FieldName} name
 * @param {HTMLElement} box
 */
function field(name, box) {
  return make(
    "label",
    "sbd-field",
    { id: constants.formIds[name] },
    make("span", "", constants.fieldLabels[name]),
    box,
  );
}

/** A labelled list to choose from. @param {FieldName} name @param {string[]} titles */
function choice(name, titles) {
  const options = titles.map((title) => make("option", "", { value: title }, title));
  return field(name, make("select", "", ...options));
}

/** The advanced part of the form. */
export function makeFields() {
  return [
    choice("strategy", Object.values(constants.laneNames)),
    choice("solver", Object.values(constants.solverNames)),
    choice("by", MEASURES),
    ...NUMBERS.map(([name, value, step]) =>
      field(name, make("input", "", { type: "number", value, step, min: 0 })),
    ),
  ];
}

/** Show the fields that the strategy and the solver use, hide the others. */
export function showFieldsInUse() {
  const strategy = choiceOf("strategy") ?? "sbd";
  const solver = document.querySelector(`#${constants.formIds.solver}`);
  solver?.classList.toggle("hidden", strategy !== "sbd");
  const rule = choiceOf("solver") ?? "entropy-bound";
  const own = strategy === "sbd" ? ["solver", ...Object.keys(SOLVERS[rule] ?? {})] : [];
  if (strategy === "sbd" && rule === "random") own.push("seed");
  if (strategy === "verify") own.push("max_rows");
  for (const [name, id] of Object.entries(constants.formIds)) {
    const isInUse = ALWAYS.includes(name) || own.includes(name);
    document.querySelector(`#${id}`)?.classList.toggle("hidden", !isInUse);
  }
}

/** Write settings into the form; fields without a value stay. @param {Values} values */
export function fillForm(values) {
  for (const [name, id] of Object.entries(constants.formIds)) {
    const value = values[name];
    if (value === undefined || value === null) continue;
    /** @type {HTMLInputElement | HTMLSelectElement | null} */
    const box = document.querySelector(`#${id} :is(input, select)`);
    if (!box) continue;
    box.value = TITLES[name]?.[String(value)] ?? String(value);
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }
  if (typeof values.prompt === "string") {
    typeInto(document.querySelector("#sbd-prompt-box textarea"), values.prompt);
  }
  showFieldsInUse();
}
