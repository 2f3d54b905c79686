// The page's words: titles of strategies, solvers, fields and lanes, and a glossary that explains each term in a few
// sentences. Texts mark a term as [mask], or as [masks|mask] in another form of the word. Knows no DOM.

import glossary from "../../../assets/glossary.json" with { type: "json" };
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

/** The terms of the page by key. */
export const GLOSSARY: Readonly<Record<string, Entry>> = glossary;

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
/** Whose rule a solver is, of those that are the paper's or ours. */
export const SOLVER_SOURCES: Readonly<Record<string, string>> = constants.solverSources;
export const FIELD_LABELS: Readonly<Record<string, string>> = constants.fieldLabels;

/** The solver of the paper, which titles leave out. */
export const PAPER_SOLVER = "entropy-bound";

/** Return the title of a way to decode: the strategy's, or that of a solver other than the paper's. */
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

const SHORT_LABELS: Readonly<Record<string, string>> = {
  gamma: "γ",
  tau: "τ",
  max_rows: "rows at most",
};

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
