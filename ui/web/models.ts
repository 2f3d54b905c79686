// The models that visitors can choose from, and the chosen one.

import type { Run } from "./core/run.ts";
import { type Channel, channel } from "./dom/views.ts";
import type { Engine } from "./engine/files.ts";

/** A model, see model_entry in ui/page.py. */
export interface Model {
  name: string;
  title: string;
  about: string;
  line: string; // for the head of the page
  isDone: boolean; // whether it is loaded or could not be loaded
  isChat: boolean; // whether it takes any prompt, and a system message
  canDraft: boolean; // whether it has a mask token, and so more than one strategy
  isTrained: boolean;
  absence: string; // why the server cannot decode with it; "" if it can
  export: { base: string; bytes: Record<Engine, number> } | null; // files for browsers and what each engine downloads
  untrained: { name: string; words: string; lines: string[] } | null; // how to train it
  presets: { label: string; prompts: [prompt: string, recording: string][] }[];
  promise: string; // what to expect of its answers
  best: { strategy: string; gamma: number; words: string };
  gammas: number[];
  blockRange: number[]; // smallest and largest block size that it was trained on
  paper: string; // a warning shown while Set Block Decoding is chosen, "" for none
  causalFirst: [gamma: number, words: string] | null; // null: not offered
  other: string; // a model better suited to Set Block Decoding; "" for none
  form: Record<string, string | number>; // values that the form starts from
}

const offered: Map<string, Model> = new Map();
let chosen = "";

/** The chosen model, or what is known of the models, has changed. */
const { say, hear }: Channel<void> = channel();
export const onModels = hear;

/** Take what is known of the models now; the first is chosen before the visitor chooses. */
export function setModels(models: Model[]) {
  offered.clear();
  for (const model of models) offered.set(model.name, model);
  if (!offered.has(chosen)) chosen = models[0]?.name ?? "";
  say();
}

export function setChosen(name: string) {
  chosen = name;
  say();
}

export function allModels() {
  return [...offered.values()];
}

/** Return a model; undefined for a name that is not offered. */
export function modelNamed(name: string) {
  return offered.get(name);
}

/** Return the chosen model; undefined where there is none, as on a replay page. */
export function currentModel() {
  return offered.get(chosen);
}

export function chosenModel() {
  return chosen;
}

/** Return the settings that decode a run again, with changes; they name its model if visitors can choose it. */
export function settingsOf(run: Run, changes?: Record<string, unknown>) {
  return { ...run.settings(changes), ...(isOffered(run.model) && { model: run.model }) };
}

/** Whether visitors can choose this model among several. */
export function isOffered(name: string) {
  return offered.size > 1 && offered.has(name);
}

/** Say that the chosen model is not that of a run; "" if it is. */
export function modelDifference(name: string) {
  const model = offered.size > 1 ? currentModel() : undefined;
  return model && name && chosen !== name
    ? `${model.title} instead of ${offered.get(name)?.title ?? name}`
    : "";
}
