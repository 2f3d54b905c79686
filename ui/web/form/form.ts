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
import { CAUSAL_FIRST } from "../engine/decoding/settings.ts";
import { chosenModel, isOffered, type Model, modelDifference } from "../models.ts";

export type Value = string | number;
export type Values = Record<string, Value>;

interface Field {
  first: Value; // 0 leaves an optional number and max_rows to the model or to the machine
  titles: Readonly<Record<string, string>> | null; // of a choice, by value
  step: number | "any"; // of a number
  low: number | null;
  high: number | null;
  help: string;
  words: string; // the setting with {} for its value; "" for none
  strategies: string[];
  solvers: Readonly<Record<string, unknown>> | null; // those that take it; null for a setting of every decode
  isAutomatic: boolean; // whether 0 leaves it to the model or to the machine
}

const PAPER_STRATEGY = "sbd";
const FORM_DEFAULTS: Readonly<Record<string, Value>> = constants.formDefaults;
const TITLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  strategy: LANE_TITLES,
  solver: SOLVER_TITLES,
};
/** Limits of the page, where they are narrower than those of a decode. */
const LIMITS: Readonly<Record<string, Partial<Field>>> = {
  block_size: { low: 2, high: constants.limits.block },
  max_new_tokens: { high: constants.limits.newTokens },
};

function fieldOf({ name, ...setting }: (typeof constants.settings)[number]): Field {
  const { kind, help, words, strategies, solvers, unset } = setting;
  const isChoice = kind === "choice";
  const own = Object.fromEntries(setting.choices.map((choice) => [choice, choice]));
  const first = FORM_DEFAULTS[name] ?? setting.default ?? (isChoice ? PAPER_STRATEGY : 0);
  const isAutomatic = first === 0 && !isChoice && (setting.is_optional || name in FORM_DEFAULTS);
  const left = unset || "the default of this machine";
  const isSafe = Number.isSafeInteger(setting.high ?? 0.5) || kind === "number"; // not 2 ** 63
  return {
    first: first as Value,
    titles: isChoice ? (TITLES[name] ?? own) : null,
    step: setting.step ?? (kind === "whole" ? 1 : "any"),
    low: isAutomatic ? 0 : setting.low,
    high: isSafe ? setting.high : null,
    help: (isAutomatic ? `${help}; 0 takes ${left}` : help).replaceAll("'", "’"),
    words,
    strategies,
    solvers,
    isAutomatic,
    ...LIMITS[name],
  };
}

/** Every setting of a decode that the page has, in the order of the form. */
export const FIELDS: Readonly<Record<string, Field>> = Object.fromEntries(
  constants.settings
    .filter(({ link, kind }) => link !== null && kind !== "pairs")
    .map((setting) => [setting.name, fieldOf(setting)]),
);
/** Settings whose best value depends on the model. */
const MODEL_FIELDS = ["block_size"];
const TEXTS = ["prompt", "template", "system"];
const KEPT = "sbd-prompt";

/** Whether a decode with these values uses a setting, or lanes beside it may. */
export function isInUse({ strategy, solver }: Values, name: string) {
  const { strategies = [], solvers = null } = FIELDS[name] ?? {};
  // Only the solver that draws needs a seed, at the temperature 0 of the page.
  if (name === "seed") return strategy === "sbd" && solver === "random";
  if (solvers && !(solver in solvers)) return false;
  return strategies.length !== 1 || strategies[0] === strategy;
}

const { say, hear }: Channel<void> = channel();
export const onForm = hear;

const firstValues = () =>
  Object.fromEntries(Object.entries(FIELDS).map(([name, { first }]) => [name, first]));

class Form {
  values: Values = { ...firstValues(), prompt: "", template: "", system: "" };
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
    const own = { ...firstValues(), ...this.model?.form, ...this.byHand };
    this.set({ ...(isLeft && own), prompt });
  }

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

  get words() {
    const { strategy, solver } = this.values;
    return [decodingTitle(String(strategy), String(solver)), ...this.settingWords().values()];
  }

  /** The settings in use by their names, in a few words; automatic ones are left out. */
  settingWords() {
    const words = new Map<string, string>();
    for (const [name, field] of Object.entries(FIELDS)) {
      const value = this.values[name];
      const isLeft = field.isAutomatic && value === 0;
      if (!field.words || isLeft || !isInUse(this.values, name)) continue;
      words.set(name, field.words.replace("{}", String(value)));
    }
    return words;
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
    const { strategy, solver } = this.values;
    const system = this.model?.isChat ? String(this.values.system).trim() : "";
    const model = modelDifference(run.model);
    const title = decodingTitle(String(strategy), String(solver));
    const runTitle = decodingTitle(run.strategy, run.solver.name);
    const settings = this.differing(run.settings() as Settings);
    if (model) for (const name of MODEL_FIELDS) settings.delete(name);
    if (run.strategy === "ntp") settings.delete("block_size");
    const words = [...settings].map(([name, [own, both]]) => {
      const isOfForm = FIELDS[name]?.solvers && run.strategy !== "sbd"; // the run used no solver
      return isOfForm ? own : both;
    });
    return [
      this.prompt.trim() === run.prompt.trim() ? "" : OTHER_PROMPT,
      system === run.system.trim() ? "" : "another system message",
      title === runTitle ? "" : `${title} instead of ${runTitle}`,
      model,
      ...words,
    ].filter(Boolean);
  }
}

export const OTHER_PROMPT = "another prompt";

/** Whether a field can hold a value; links and recorded runs may have others. */
function isPossible(name: string, value: unknown): value is Value {
  const field = FIELDS[name];
  if (!field) return TEXTS.includes(name) && typeof value === "string";
  return field.titles ? String(value) in field.titles : Number.isFinite(value);
}

function pick(values: Values, names: string[]) {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
}

/** Return the prompt that this tab had before a reload; null for none. Call it before the form is set. */
export function keptPrompt() {
  return readFromTab(KEPT);
}

export const form = new Form();
