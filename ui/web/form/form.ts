// The form: the page's settings of the next decode. It owns its values, and every view reads and sets them here: the
// fields beside the player, the choice of how to decode, chips, links, recorded runs, Compare, Learn.
//
// The form starts from the best settings of the model. A recorded run brings its own; when the visitor then writes
// another prompt, the settings made by hand come back or, if there are none, the best.

import constants from "../constants.json" with { type: "json" };
import type { Run, Settings } from "../core/run.ts";
import { decodingTitle, LANE_TITLES, PAPER_SOLVER, SOLVER_TITLES } from "../core/words.ts";
import { readFromTab, storeInTab } from "../dom/page.ts";
import { type Channel, channel } from "../dom/views.ts";
import { CAUSAL_FIRST, MEASURES, SOLVERS } from "../engine/decoding/settings.ts";
import { chosenModel, isOffered, type Model, modelDifference } from "../models.ts";

export type Value = string | number;
export type Values = Record<string, Value>;

/** A setting. */
interface Field {
  first: Value; // 0 leaves repetition_penalty and max_rows to the model or to the machine
  titles?: Readonly<Record<string, string>>; // of a choice, by value
  step?: number; // of a number
  low?: number;
  high?: number;
  help?: string;
  words?: (value: Value) => string;
}

const asTitles = (names: string[]) => Object.fromEntries(names.map((name) => [name, name]));

/** Every setting of a decode, in the order of the form. */
export const FIELDS: Readonly<Record<string, Field>> = {
  strategy: { first: "sbd", titles: LANE_TITLES },
  solver: { first: PAPER_SOLVER, titles: SOLVER_TITLES },
  by: { first: "confidence", titles: asTitles(MEASURES), words: (value) => `best by ${value}` },
  gamma: { first: 0.1, step: 0.01, low: 0, words: (value) => `γ ${value}` },
  tau: {
    first: 0.9,
    step: 0.01,
    low: 0,
    high: 1,
    help: "reveal every token this probable",
    words: (value) => `τ ${value}`,
  },
  factor: {
    first: 1,
    step: 0.05,
    low: 0,
    help: "larger reveals more at once",
    words: (value) => `factor ${value}`,
  },
  k: { first: 2, step: 1, low: 1, words: (value) => `${value} tokens a forward pass` },
  max_rows: {
    first: 0,
    step: 1,
    low: 0,
    help: "tokens that a forward pass reads; 0 takes the default of this machine",
    words: (value) => `at most ${value} rows`,
  },
  repetition_penalty: {
    first: 0,
    step: 0.05,
    low: 0,
    help: "above 1 makes repetition less likely; 1 turns it off; 0 takes the model’s own",
    words: (value) => `repetition penalty ${value}`,
  },
  block_size: {
    first: 16,
    step: 1,
    low: 2,
    help: "how many positions are decoded together",
    words: (value) => `blocks of ${value}`,
  },
  max_new_tokens: {
    first: 128,
    step: 1,
    low: 1,
    high: constants.limits.newTokens,
    words: (value) => `at most ${value} tokens`,
  },
  seed: { first: 0, step: 1, low: 0, words: (value) => `seed ${value}` },
};
const SOLVER_FIELDS = ["gamma", "tau", "factor", "k", "by"];
const AUTOMATIC_AT_0 = ["repetition_penalty", "max_rows"];
/** Settings whose best value depends on the model. */
const MODEL_FIELDS = ["block_size"];
const TEXTS = ["prompt", "template", "system"];
const KEPT = "sbd-prompt";

/** Whether a decode with these values uses a setting. */
export function isInUse({ strategy, solver }: Values, name: string) {
  if (name === "max_rows") return strategy === "verify";
  if (name === "solver") return strategy === "sbd";
  if (name === "seed") return strategy === "sbd" && solver === "random";
  return !SOLVER_FIELDS.includes(name) || (strategy === "sbd" && name in (SOLVERS[solver] ?? {}));
}

/** The form's values have changed. */
const { say, hear }: Channel<void> = channel();
export const onForm = hear;

/** The first value of every setting. */
const firstValues = () =>
  Object.fromEntries(Object.entries(FIELDS).map(([name, { first }]) => [name, first]));

class Form {
  values: Values = { ...firstValues(), prompt: "", template: "", system: "" };
  /** the settings made by hand */
  byHand: Values = {};
  /** the prompt of the recorded run whose settings the form has, null for none */
  recordedPrompt: string | null = null;
  /** the model that the form is for; null before the page has begun */
  model: Model | null = null;

  get prompt() {
    return String(this.values.prompt);
  }

  get template() {
    return String(this.values.template).trim();
  }

  /** The settings that the form starts from, with those made by hand. */
  get ownSettings(): Values {
    const { prompt, ...best } = this.model?.form ?? {};
    return { ...firstValues(), ...best, ...this.byHand } as Values;
  }

  /** The kind of decoding that is chosen: a strategy, or "causal-first" where the model offers that. */
  get kind() {
    const { strategy, solver } = this.values;
    const isFirst = strategy === "sbd" && solver === CAUSAL_FIRST && this.model?.causalFirst;
    return isFirst ? CAUSAL_FIRST : String(strategy);
  }

  /** The values of the next decode; what it does not use is left out. */
  get request(): Record<string, Value> {
    const used = Object.keys(FIELDS).filter((name) => isInUse(this.values, name));
    const { template, system } = this.values;
    return {
      ...pick(this.values, used),
      prompt: this.prompt,
      ...(this.values.strategy === "sbd" && template && { template }),
      ...(this.model?.isChat && system && { system }),
      ...(isOffered(chosenModel()) && { model: chosenModel() }),
    };
  }

  /** Set values, by the page. */
  set(changes: Record<string, unknown>) {
    for (const [name, value] of Object.entries(changes)) {
      if (isPossible(name, value)) this.values[name] = value;
    }
    storeInTab(KEPT, this.prompt);
    say();
  }

  /** Set settings, by the visitor. Only Set Block Decoding fills in blanks, so a template chooses it. */
  setByHand(changes: Values) {
    const isBlank = Boolean(changes.template) && this.values.strategy !== "sbd";
    const made: Values = isBlank ? { ...changes, strategy: "sbd" } : changes;
    this.recordedPrompt = null;
    this.byHand = { ...this.byHand, ...pick(made, Object.keys(FIELDS)) };
    this.set(made);
  }

  /** Change the prompt, by the visitor. A recorded run's settings then give way to the form's own. */
  type(prompt: string) {
    const isOther = this.recordedPrompt !== null && prompt.trim() !== this.recordedPrompt.trim();
    const isLeft = isOther && prompt.trim() !== "" && !this.template;
    if (isLeft) this.recordedPrompt = null;
    this.set({ ...(isLeft && this.ownSettings), prompt });
  }

  /** Take over the settings of a recorded run. */
  follow(settings: Record<string, unknown>) {
    this.recordedPrompt = String(settings.prompt ?? this.prompt);
    this.set({ ...firstValues(), template: "", ...settings });
  }

  /** Take over the settings of a model, unless the visitor's are to stay. */
  takeModel(model: Model, keepsSettings: boolean) {
    this.model = model;
    if (!keepsSettings) {
      this.byHand = {};
      this.recordedPrompt = null;
    }
    const { prompt, ...best } = model.form;
    this.set(keepsSettings ? {} : { ...best, solver: PAPER_SOLVER });
  }

  /** The settings in use, each in a few words. */
  get words() {
    const { strategy, solver } = this.values;
    return [decodingTitle(String(strategy), String(solver)), ...this.settingWords().values()];
  }

  /** The settings in use by their names, in a few words; automatic ones are left out. */
  settingWords() {
    const words = new Map<string, string>();
    for (const [name, field] of Object.entries(FIELDS)) {
      const value = this.values[name];
      const isAutomatic = AUTOMATIC_AT_0.includes(name) && value === 0;
      if (!field.words || isAutomatic || !isInUse(this.values, name)) continue;
      words.set(name, field.words(value));
    }
    return words;
  }

  /** Say how the form differs from some settings. */
  fieldDifferences(settings: Record<string, unknown>) {
    return [...this.differing(settings).values()].map(([, words]) => words);
  }

  /** The fields whose value differs from that in `settings`: the form's value, and both values, in words. */
  differing(settings: Record<string, unknown>) {
    const found = new Map<string, [own: string, both: string]>();
    for (const [name, own] of this.settingWords()) {
      const value = settings[name];
      if (value === undefined || value === this.values[name]) continue;
      found.set(name, [own, `${own} instead of ${value || "the default"}`]);
    }
    return found;
  }

  /** Say how the form differs from a run, each difference in a few words. */
  differences(run: Run) {
    const isOther = this.prompt.trim() !== run.prompt.trim();
    const system = this.model?.isChat ? String(this.values.system).trim() : "";
    const isOtherSystem = system !== run.system.trim();
    return [
      ...(isOther ? [OTHER_PROMPT] : []),
      ...(isOtherSystem ? ["another system message"] : []),
      ...this.settingDifferences(run),
    ];
  }

  settingDifferences(run: Run) {
    const { strategy, solver } = this.values;
    const words = [];
    const solverWords = []; // the form's solver settings, if the run used no solver
    const model = modelDifference(run.model);
    if (model) words.push(model);
    for (const [name, [own, both]] of this.differing(run.settings() as Settings)) {
      if (name === "block_size" && run.strategy === "ntp") continue;
      if (model && MODEL_FIELDS.includes(name)) continue;
      if (SOLVER_FIELDS.includes(name) && run.strategy !== "sbd") solverWords.push(own);
      else words.push(both);
    }
    const title = decodingTitle(String(strategy), String(solver));
    const runTitle = decodingTitle(run.strategy, run.solver.name);
    const decoding = [title, solverWords.join(", ")].filter(Boolean).join(" at ");
    return title === runTitle ? words : [`${decoding} instead of ${runTitle}`, ...words];
  }
}

export const OTHER_PROMPT = "another prompt";

/** Whether a field can hold a value; links and recorded runs may have others. */
function isPossible(name: string, value: unknown): value is Value {
  const field = FIELDS[name];
  if (!field) return TEXTS.includes(name) && typeof value === "string";
  return field.titles ? String(value) in field.titles : Number.isFinite(value);
}

/** Return the values with these names. */
function pick(values: Values, names: string[]) {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
}

/** Return the prompt that this tab had before a reload; null for none. Call it before the form is set. */
export function keptPrompt() {
  return readFromTab(KEPT);
}

/** The page's form. */
export const form = new Form();
