// The page's words: titles of strategies, solvers, fields and lanes, and a glossary that explains each term in a few
// sentences. Texts mark a term as [mask], or as [masks|mask] in another form of the word. Knows no DOM.

import constants from "../constants.json" with { type: "json" };
import type { Solver } from "./run.ts";

type Entry = { name: string; words: string };
/**
 * A piece of a text. key: of the term in the glossary, "" for plain text. before, after: punctuation that must stay
 * on the same line as the term.
 */
type WordPiece = { text: string; key: string; before: string; after: string };

export const PAPER_URL = "https://arxiv.org/pdf/2509.04185";
export const PAPER_PAGE = "https://arxiv.org/abs/2509.04185";

const WORDS = {
  token: "What a model reads and writes: a word, a piece of a word, a sign or a digit.",
  mask: "A place whose token is not known yet. The model guesses what belongs there.",
  block:
    "The next few places of the answer, which are decoded together: as many as the block " +
    "size says.",
  cache:
    "The key-value (KV) cache holds two vectors for every token read, by which later tokens " +
    "look at it: its key, to be found by, and its value, to be read. Each token looks back " +
    "only, so no later forward pass computes them again.",
  entropy:
    "How unsure the model is of a position: 0 if one token has all the probability, and " +
    "larger the more evenly it is spread. The unit is the nat.",
  nats: "The unit of entropy with natural logarithms: a fair coin has 0.69 nats.",
  pass:
    "One run through the whole model, in short a pass. Next-token prediction gains one token " +
    "from each, verify one or more. Set Block Decoding gains none from the prompt’s, and one " +
    "or more from every other.",
  row:
    "A token that a forward pass reads. More rows check or guess more tokens at once, and " +
    "take longer where computing, not loading the weights, is what a machine waits for.",
  causal:
    "Reading from left to right: a token sees itself and those before it, as in any chat " +
    "model.",
  hindsight:
    "The first forward pass of the next block reads a finished block once more, causally; " +
    "the last, where it had masks, is not read again. So the model says at no cost what " +
    "next-token prediction would have put. To differ is not to be wrong.",
  solver: "The rule that picks which masked positions a forward pass reveals.",
  gamma:
    "How much entropy a forward pass may take on, in nats. The largest entropy that it keeps " +
    "is not counted, so at least one token always comes. Larger is bolder: as a rule fewer " +
    "forward passes.",
  sbd:
    "The paper’s method: each forward pass guesses a block of masks and keeps the surest " +
    "guesses, as many as Eq. 8 allows, in any order. What is kept is not checked; with " +
    "verify it is.",
  verify:
    "Decoding without loss, which is not in the paper: the model checks guesses before they " +
    "count, so the answer is that of next-token prediction.",
  training:
    "An ordinary model is trained a little further. Each forward pass reads the clean text " +
    "and a copy cut into blocks of k positions; k is drawn for each step, from 2 to 16. In " +
    "every copy a share of the tokens, drawn from 0 to 1, is masked; some copies are masked " +
    "whole. The loss is the sum of two: the next token on the clean text, and the token at " +
    "every mask.",
  draft: "Tokens that the model guessed. The next forward pass checks them before they count.",
  batch: "Texts decoded at the same time, sharing one reading of the weights.",
  roofline:
    "A model of a machine’s speed: a step takes as long as moving its bytes or as computing " +
    "its operations, whichever is longer. The Roofline view adds up the layers’ steps, one " +
    "for each matrix and one for attention to the cache, and leaves out the output layer and " +
    "attention to the block’s own keys, as the paper does; under the hood a forward pass is " +
    "one step with both of them, the least it can take.",
  ntp: "Writing one token per forward pass, from left to right, as language models usually do.",
  staircase:
    "A decode as a picture: every forward pass is a row, every position a column. A square is a " +
    "mask’s guess, coloured by its entropy; a dot is a token that came. The dashed line is where " +
    "next-token prediction would be, one token a forward pass.",
  predraft:
    "A draft for the case that one drafted token is thrown away. The forward pass that " +
    "checks that token makes it, so the next one has a draft to check; without a predraft it " +
    "has none.",
  alternative:
    "Another token for the place of a drafted one, read beside the draft. If the check " +
    "throws the drafted token away and would have this one, the next draft begins with what " +
    "its row gives.",
};

/** names of the terms whose key is not their name */
const NAMES: Partial<Record<string, string>> = {
  pass: "forward pass",
  gamma: "γ",
  sbd: "Set Block Decoding",
  ntp: "next-token prediction",
};

export const GLOSSARY: Readonly<Record<string, Entry>> = Object.fromEntries(
  Object.entries(WORDS).map(([key, words]) => [key, { name: NAMES[key] ?? key, words }]),
);

/** for each solver a sentence on what it reveals */
export const SOLVER_LINES: Readonly<Record<string, string>> = constants.solverLines;

const WORD = /([(“]*)\[([^\]|]+)(?:\|([a-z]+))?\]([)”.,;:!?’]*)/g;

/** Return the glossary's key of a term as written in a text, "" if it has none. */
export function glossaryKey(word: string) {
  const small = word.toLowerCase();
  if (GLOSSARY[small]) return small;
  return Object.entries(GLOSSARY).find(([, { name }]) => name === small)?.[0] ?? "";
}

/** Split a text into glossary terms and plain pieces; brackets around other words stay as they are. */
export function wordPieces(text: string): WordPiece[] {
  const pieces: WordPiece[] = [];
  let end = 0;
  const addText = (words: string) =>
    words && pieces.push({ text: words, key: "", before: "", after: "" });
  for (const match of text.matchAll(WORD)) {
    const [whole, before = "", word = "", named, after = ""] = match;
    const key = glossaryKey(named ?? word);
    if (!key) continue;
    addText(text.slice(end, match.index));
    pieces.push({ text: word, key, before, after });
    end = match.index + whole.length;
  }
  addText(text.slice(end));
  return pieces;
}

/** Return a text with its glossary terms as plain words. */
export function plainWords(text: string) {
  return wordPieces(text)
    .map(({ before, text: word, after }) => before + word + after)
    .join("");
}

export const LANE_TITLES: Readonly<Record<string, string>> = constants.laneNames;
export const SOLVER_TITLES: Readonly<Record<string, string>> = constants.solverNames;
export const FIELD_LABELS: Readonly<Record<string, string>> = constants.fieldLabels;

/** The solver of the paper, which titles leave out. */
export const PAPER_SOLVER = "entropy-bound";

/**
 * Return the title of a way to decode: the solver's for Set Block Decoding with another one than the paper's, else the
 * strategy's.
 */
export function decodingTitle(strategy: string, solver: string) {
  return kindTitle(strategy === "sbd" && solver !== PAPER_SOLVER ? solver : strategy);
}

/** Return the title of a way to decode with its settings: "Set Block Decoding, γ 0.35". */
export function decodingWords({ strategy, solver }: { strategy: string; solver: Solver }) {
  const { name, ...parameters } = solver;
  const settings = strategy === "sbd" ? Object.entries(parameters) : [];
  const values = settings.map(([key, value]) => `${FIELD_LABELS[key] ?? key} ${value}`);
  return [decodingTitle(strategy, name), ...values].join(", ");
}

const SHORT_LABELS: Readonly<Record<string, string>> = { gamma: "γ", tau: "τ", max_rows: "rows ≤" };

/** each solver's settings with defaults */
export const SOLVERS: Readonly<Record<string, Readonly<Record<string, number | string>>>> =
  constants.solverDefaults;
/** The kinds of lanes: the strategies, and every solver except the paper's. */
export const KINDS = [
  "ntp",
  "verify",
  "sbd",
  ...Object.keys(SOLVERS).filter((k) => k !== PAPER_SOLVER),
];

const ruleOf = (kind: string) => SOLVERS[kind === "sbd" ? PAPER_SOLVER : kind] ?? null;

/** Return the setting whose value may follow the kind in a lane's name (sbd:0.1), with its default; null without one. */
export function laneSettingOf(kind: string): [name: string, value: number] | null {
  if (kind === "verify") return ["max_rows", 0]; // 0: the default of the machine
  const [first] = Object.entries(ruleOf(kind) ?? {});
  return first ? [first[0], Number(first[1])] : null;
}

export function kindTitle(kind: string) {
  return LANE_TITLES[kind] ?? SOLVER_TITLES[kind] ?? kind;
}

export function settingLabel(name: string) {
  return SHORT_LABELS[name] ?? name;
}

/** @param lane a kind or, with a value, such as sbd:0.1 */
export function laneTitle(lane: string) {
  const [kind = "", value] = lane.split(":");
  const dial = laneSettingOf(kind);
  if (value === undefined || !dial) return kindTitle(kind);
  const words = kind === "verify" ? `at most ${value} rows` : `${settingLabel(dial[0])} ${value}`;
  return `${kindTitle(kind)}, ${words}`;
}

export function laneWords(lane: string) {
  const [kind = ""] = lane.split(":");
  return GLOSSARY[kind]?.words ?? SOLVER_LINES[kind] ?? "";
}

export function strategyOf(lane: string) {
  const [kind = ""] = lane.split(":");
  return ruleOf(kind) ? "sbd" : kind;
}
