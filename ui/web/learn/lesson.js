// The lesson as the server sends it, and the address of a scene. Knows no DOM.

import { History } from "../core/run.js";

/** @import { Run } from "../core/run.js" */

const VIEW = /^#learn(?:\/(.*))?$/;

/**
 * The scene that an address asks for: none outside of the view; an unknown one is the first, with
 * a sentence.
 * @param {string} hash
 * @param {string[]} addresses of the scenes, in order
 * @returns {{ index: number, problem: string } | null}
 */
export function sceneAt(hash, addresses) {
  const match = VIEW.exec(hash);
  if (!match) return null;
  const name = readable(match[1] ?? "");
  if (name === "") return { index: 0, problem: "" };
  const index = /^\d+$/.test(name) ? Number(name) - 1 : addresses.indexOf(name);
  if (addresses[index] !== undefined) return { index, problem: "" };
  const shown = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name;
  return {
    index: 0,
    problem: `There is no scene “${shown}”, so this is the first of ${addresses.length}.`,
  };
}

const MAX_SHOWN = 40;

/** @param {string} text */
function readable(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {string} address of a scene */
export function hashOf(address) {
  return `#learn/${address}`;
}

/** @typedef {{ address: string, title: string, question: string, act: string, answer: string, why?: string }} SceneWords */
/** @typedef {{ before: string, entropy: number, guesses: [text: string, probability: number][], options: string[] }} Gap */
/** @typedef {{ words: string, start: number, end: number, forward_pass: number }} Clash */
/** @typedef {{ gamma: number, is_right: boolean, fault: string, has_facts: boolean, clashes: Clash[], fault_tokens: number[], passes: number, tokens: [text: string, pass: number][] }} Edge */
/** @typedef {{ cell: number, candidates: string, settled_by: number[] }} Order of a sudoku's first empty cell */
/** @typedef {{ name: string, rates: string, is_big: boolean, seconds: Record<number, number[]> }} Machine seconds by block, 1 one at a time, for every batch; rates: where its peak rates are from */
/** @typedef {{ rows: number, loading: number, computing: number }} PassTime seconds */
/**
 * @typedef {object} LessonData
 * @property {SceneWords[]} scenes
 * @property {Record<string, string>} runs wire lines by name
 * @property {Gap[]} gaps
 * @property {number} mask_pass
 * @property {number} bound_pass
 * @property {number} check_pass
 * @property {boolean} is_verify_ntp
 * @property {number} check_ntp_passes of the answer that `verify` checks, one token at a time
 * @property {Order} order
 * @property {{ sbd: string, verify: string }} tokens_per_pass on all held-out prompts, in the evaluation
 * @property {string} big_chip
 * @property {Edge[]} edges
 * @property {string} story
 * @property {Machine[]} machines
 * @property {number[]} batches texts decoded at the same time
 * @property {[size: number, passes: number][]} blocks forward passes of the run `text` by its block
 * @property {PassTime[]} pass_times
 * @property {string[]} prompts for nano
 * @property {string[]} chat_prompts for a model that takes any
 */

/** @typedef {Omit<LessonData, "runs"> & { runs: Record<"text" | "verify" | "sudoku", Run> }} Lesson */

/** A run of wire lines. @param {string | undefined} lines @returns {Run} */
function runOf(lines) {
  const history = new History();
  history.accept(lines ?? "");
  if (!history.run) throw new Error("a recorded run of the lesson is missing");
  return history.run;
}

/** @param {string} text JSON of LessonData @returns {Lesson} */
export function readLesson(text) {
  /** @type {LessonData} */
  const data = JSON.parse(text);
  const { text: main, verify, sudoku } = data.runs;
  return { ...data, runs: { text: runOf(main), verify: runOf(verify), sudoku: runOf(sudoku) } };
}
