// Whether an answer is right, from its prompt alone: ui/decode/verdict.py, but for functions, which
// have to be run. Says nothing where it cannot decide.

import constants from "../../constants.json" with { type: "json" };
import { brokenCells, canBeSolved, puzzleIn, SUDOKU_CELLS } from "../../core/sudoku.js";
import { canonicalJson } from "./json.js";
import { storyFault } from "./story.js";

/** @import { Verdict } from "../../core/run/wire.js" */
/** @import { Lane } from "./lanes.js" */

/** @typedef {[prompt: string, task: string, solution: string]} Example solution: what its checker needs, "" where none is here */

const {
  sudokuWords,
  sumFrames,
  sumWords,
  jsonWords,
  noSolution,
  partedDigits,
  storyWords,
  notRun,
} = constants.verdicts;
/** @type {Readonly<Record<string, string[]>>} of a right and of a wrong answer */
const WORDS = constants.verdicts.words;
const PARTED = /sudoku(?:.*[^0-9\s])?\s*(?:[0-4]\s*){16}$/is;
const SUM = /^\d{1,6}(?: ?[-+*/] ?\d{1,6}){1,6}$/;
const ANSWER = /The answer is (-?[0-9]{1,6})\./g;
const JSON_WORD = /(?<![\p{L}\p{N}_])json(?![\p{L}\p{N}_])/iu;
const MAX_JSON_CHARACTERS = 4000;
const BLANK = "___";

/** @type {Readonly<Record<string, (solution: string, text: string) => boolean>>} */
const CHECKS = {
  json: isAskedFor,
  infill: isFilled,
};

/**
 * The verdict on a lane; null for one that was stopped, or that nothing here can decide.
 * @param {Lane} lane
 * @param {Example[]} examples
 */
export function verdictOf({ prompt, text, finish }, examples) {
  return finish === "stopped" ? null : judge(prompt, text, examples);
}

/**
 * @param {string} prompt
 * @param {string} text
 * @param {Example[]} examples
 * @returns {Verdict | null}
 */
export function judge(prompt, text, examples) {
  const titles = [prompt, prompt.trim().split(/\s+/).join(" ")];
  const known = examples.find(([title]) => titles.includes(title)) ?? askedFor(prompt);
  if (!known) return unknownVerdict(prompt, text);
  const [, task, solution] = known;
  if (!solution) return { right: null, words: notRun };
  if (task === "math") return sumVerdict(solution, text);
  if (task === "story") return storyVerdict(solution, text);
  if (task === "sudoku") return gridVerdict(solution, text);
  const check = CHECKS[task];
  return check ? said(WORDS[task] ?? [], check(solution, text)) : null;
}

/**
 * Of a prompt for which no example is known: JSON, a sudoku that nobody can solve or read.
 * @param {string} prompt
 * @param {string} text
 * @returns {Verdict | null}
 */
function unknownVerdict(prompt, text) {
  if (JSON_WORD.test(prompt)) return said(jsonWords, isJson(text));
  if (puzzleIn(prompt) !== null) return { right: false, words: noSolution };
  return PARTED.test(prompt) ? { right: null, words: partedDigits } : null;
}

/** @param {string[]} words @param {boolean} right @returns {Verdict} */
function said([ofRight = "", ofWrong = ""], right) {
  return { right, words: right ? ofRight : ofWrong };
}

/**
 * A sudoku or a sum of the visitor's own.
 * @param {string} prompt
 * @returns {Example | null}
 */
function askedFor(prompt) {
  const puzzle = puzzleIn(prompt);
  if (puzzle && canBeSolved(puzzle)) return [prompt, "sudoku", puzzle];
  const result = resultOf(prompt.trim());
  return result === null ? null : [prompt, "math", String(result)];
}

/** The result of the one sum that a prompt asks for. @param {string} prompt */
function resultOf(prompt) {
  const lower = prompt.toLowerCase();
  for (const frame of sumFrames) {
    const [before = "", after = ""] = frame.toLowerCase().split("{}");
    const expression = lower.slice(before.length, lower.length - after.length);
    const isFramed = lower === before + expression + after;
    if (isFramed && SUM.test(expression)) return workedOut(expression);
  }
  return null;
}

/**
 * Products and quotients first, from the left; null for one that is no whole number.
 * @param {string} expression
 */
function workedOut(expression) {
  let [total, sign, operation] = [0n, 1n, "+"];
  /** @type {bigint | null} */
  let term = null;
  for (const [token] of expression.matchAll(/\d+|[-+*/]/g)) {
    if ("-+*/".includes(token)) {
      operation = token;
      continue;
    }
    const number = BigInt(token);
    if (term === null || "+-".includes(operation)) {
      total += sign * (term ?? 0n);
      [sign, term] = [operation === "-" ? -1n : 1n, number];
    } else if (operation === "*") term *= number;
    else if (number === 0n || term % number) return null;
    else term /= number;
  }
  return total + sign * (term ?? 0n);
}

/** @param {string} result @param {string} text @returns {Verdict} */
function sumVerdict(result, text) {
  const answer = [...text.matchAll(ANSWER)].at(-1)?.[1];
  const right = answer !== undefined && BigInt(answer) === BigInt(result);
  const words = right ? sumWords.right : answer === undefined ? sumWords.silent : sumWords.wrong;
  return { right, words: words.replace("{case}", result).replace("{said}", answer ?? "") };
}

/** @param {string} puzzle @param {string} text @returns {Verdict} */
function gridVerdict(puzzle, text) {
  const count = text.length;
  if (!/^[1-4]*$/.test(text) || count > SUDOKU_CELLS) {
    return { right: false, words: sudokuWords.other };
  }
  if (count < SUDOKU_CELLS) {
    return { right: false, words: sudokuWords.unfinished.replace("{count}", String(count)) };
  }
  const right = !brokenCells(puzzle, [...text]).size;
  return { right, words: right ? sudokuWords.right : sudokuWords.broken };
}

/** @param {string} facts @param {string} text @returns {Verdict} */
function storyVerdict(facts, text) {
  const fault = storyFault(facts, text);
  return {
    right: !fault,
    words: fault ? storyWords.wrong.replace("{fault}", () => fault) : storyWords.right,
  };
}

/** @param {string} text */
function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** @param {string} wanted JSON @param {string} text */
function isAskedFor(wanted, text) {
  try {
    return text.length <= MAX_JSON_CHARACTERS && canonicalJson(text) === canonicalJson(wanted);
  } catch {
    return false;
  }
}

/** @param {string} solution a line, and for each of its blanks what may stand there @param {string} text */
function isFilled(solution, text) {
  /** @type {{ line: string, fills: string[][] }} */
  const { line, fills } = JSON.parse(solution);
  const [first = "", ...parts] = line.split(BLANK).map(escaped);
  const filled = parts.map((part, i) => `(?:${(fills[i] ?? []).map(escaped).join("|")})${part}`);
  return new RegExp(`^${first}${filled.join("")}$`, "u").test(text);
}

/** @param {string} text as a pattern of itself */
function escaped(text) {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
