// The form as it stands on the page, and the one that an address describes: ui/share/permalink.py.

import constants from "../constants.json" with { type: "json" };
import { promptBox } from "../dom/page.js";
import { CHOICES, choiceOf, numberOf } from "../form/fields.js";

/** @import { Form } from "../engine/session/form.js" */
/** @import { FieldName } from "../form/fields.js" */

const PROMPT_ID = "sbd-prompt-box";
const WHOLE_OR_DECIMAL = /^-?\d*\.?\d+(e[+-]?\d+)?$/;

/** What the visitor asks for; fields that are hidden have their own defaults. */
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
  if (form.strategy !== "verify") delete form.row_policy;
  if ((form.row_policy ?? "fixed") !== "fixed" || form.strategy !== "verify") {
    delete form.num_predrafts;
  }
  return form;
}

/**
 * The form of a link; null for an address that asks for no decode.
 * @param {URLSearchParams} query
 * @returns {Form | null}
 */
export function formOfAddress(query) {
  if (!query.has("prompt") || query.has("race")) return null;
  /** @type {Form} */
  const form = {};
  for (const [name, field] of Object.entries(constants.linkFields)) {
    const text = query.get(name);
    if (text === null) continue;
    const isText = name === "prompt" || CHOICES.includes(name);
    form[field] = !isText && WHOLE_OR_DECIMAL.test(text) ? Number(text) : text;
  }
  const pins = query.get("pins");
  if (pins) form.pinned = pins.split(",").map((pair) => pair.split(":").map(Number));
  return form;
}
