// What the calculator is asked: a device, a model, and how it decodes.

import { make } from "../dom/elements.js";

/** @import { Wish } from "./address.js" */

/** @typedef {{ key: string, name: string }} Choice */

const NUMBERS = [
  { name: "block", label: "Block size", step: "1", min: "1" },
  { name: "cache", label: "Tokens in the KV cache", step: "1", min: "0" },
  { name: "batch", label: "Texts at once (batch)", step: "1", min: "1" },
  { name: "speed", label: "Tokens per forward pass", step: "0.1", min: "0.1" },
];
const OWN = "own";

/**
 * @param {string} label
 * @param {HTMLElement} box
 */
function field(label, box) {
  box.setAttribute("aria-label", label); // else a list would be called by all of its choices
  return make("label", "sbd-limits-field", {}, make("span", "", {}, label), box);
}

/** @param {Choice[]} choices */
function select(choices) {
  const box = make("select", "");
  for (const { key, name } of choices) box.append(make("option", "", { value: key }, name));
  return box;
}

export class LimitsForm {
  /**
   * @param {{ devices: Choice[], models: Choice[], ownHint: string }} setting
   * @param {() => void} changed
   */
  constructor({ devices, models, ownHint }, changed) {
    this.device = select(devices);
    this.model = select(models);
    this.config = make("textarea", "", {
      rows: "5",
      spellcheck: "false",
      placeholder: ownHint,
    });
    this.own = field("Config", this.config);
    /** @type {Map<string, HTMLInputElement>} */
    this.numbers = new Map(
      NUMBERS.map(({ name, step, min }) => {
        return [name, make("input", "", { type: "number", step, min, inputmode: "decimal" })];
      }),
    );
    const boxes = NUMBERS.map(({ name, label }) =>
      field(label, this.numbers.get(name) ?? make("span")),
    );
    this.root = make(
      "form",
      "sbd-card sbd-limits-form",
      { "aria-label": "What to calculate" },
      field("Device", this.device),
      field("Model", this.model),
      this.own,
      ...boxes,
    );
    this.root.addEventListener("submit", (event) => event.preventDefault());
    this.root.addEventListener("input", () => {
      this.showOwn();
      changed();
    });
  }

  showOwn() {
    this.own.hidden = this.model.value !== OWN;
  }

  /**
   * Mark the fields that hold what is not calculated.
   * @param {string[]} wrong their names
   */
  mark(wrong) {
    for (const [name, box] of this.numbers)
      box.setAttribute("aria-invalid", String(wrong.includes(name)));
  }

  /** @returns {Wish} */
  get wish() {
    const numbers = [...this.numbers].map(([name, box]) => [name, box.value]);
    const { device, model, config } = this;
    const own = model.value === OWN ? config.value : "";
    return {
      device: device.value,
      model: model.value,
      config: own,
      ...Object.fromEntries(numbers),
    };
  }

  /**
   * Choose what a wish says; a box stays empty where it makes no sense.
   * @param {Wish} wish
   */
  choose(wish) {
    this.device.value = String(wish.device);
    this.model.value = String(wish.model);
    this.config.value = String(wish.config);
    for (const [name, box] of this.numbers) box.value = String(wish[name]);
    this.showOwn();
  }
}
