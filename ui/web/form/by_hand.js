// The settings made by hand: a recording brings its own settings into the form, and these are
// what a prompt of the visitor's own goes back to. Knows the form's fields, nothing of the slider.

import constants from "../constants.json" with { type: "json" };
import { elementOf } from "../dom/elements.js";
import { numberBox, typeInto } from "../dom/page.js";
import { choiceOf, numberOf } from "./fields.js";

/** @import { FieldName } from "./fields.js" */

/** @typedef {{ strategy: string, gamma: number | null, solver?: string | null }} Held gamma: null where no γ decides */

const CHOSEN = ["strategy", "solver", "gamma"];

/** Values of the form; null while it is not on the page. @returns {Held | null} */
export function heldByForm() {
  const strategy = choiceOf("strategy");
  if (strategy === null) return null;
  return { strategy, gamma: numberOf("gamma"), solver: choiceOf("solver") };
}

export class ByHand {
  constructor() {
    /** @type {Held | null} what was chosen last; null: nothing yet */
    this.choice = null;
    /** Whether no recording has come since. */
    this.isInForm = false;
    /** @type {Map<FieldName, number>} other numbers of the form */
    this.numbers = new Map();
    /** @type {FieldName | null} the field at hand, which may still change */
    this.field = null;
  }

  /** @param {Held} choice */
  choose(choice) {
    this.choice = choice;
    this.isInForm = true;
  }

  /**
   * Follow the visitor's hand, never the page's own writing: what the field holds is known once
   * the hand is elsewhere.
   * @param {Event} event
   * @param {Held | null} held
   */
  follow(event, held) {
    if (!event.isTrusted) return;
    if (event.type !== "input") this.settle(held);
    const field = fieldOf(event);
    if (field && isSetting(event)) [this.field, this.isInForm] = [field, true];
  }

  /** @param {Held | null} held */
  settle(held) {
    const { field } = this;
    if (!field) return;
    this.field = null;
    this.choice = held ?? this.choice;
    const number = CHOSEN.includes(field) ? null : numberOf(field);
    if (number !== null) this.numbers.set(field, number);
  }

  /** A recording brought settings of its own. */
  giveWay() {
    this.isInForm = false;
  }

  /** Write the other numbers into the form again. */
  restoreNumbers() {
    for (const [name, number] of this.numbers) {
      if (numberOf(name) === number) continue;
      typeInto(numberBox(constants.formIds[name]), String(number));
    }
  }
}

/** The setting that an event is about. @param {Event} event */
function fieldOf(event) {
  const element = elementOf(event);
  const names = /** @type {FieldName[]} */ (Object.keys(constants.formIds));
  return names.find((name) => element?.closest(`#${constants.formIds[name]}`)) ?? null;
}

/** Whether an event in a field sets it, and does not only open a list. @param {Event} event */
function isSetting(event) {
  if (event instanceof KeyboardEvent) return event.key === "Enter";
  return event.type === "input" || elementOf(event)?.closest("[role=option]") != null;
}
