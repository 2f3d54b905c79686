// Whether a story keeps to what its prompt tells: sbd_core/tasks/story/facts.py, fault for fault.

import { likeness } from "./likeness.js";
import lists from "./story_words.json" with { type: "json" };

/** @typedef {[person: string | null, species: string | null, animal: string | null]} Owner */
/** @typedef {{ told: Record<string, string[]>, owns: Owner[], pronouns: Record<string, string> }} Facts */

const [MIN_WORDS, MAX_WORDS, MAX_CHARACTERS] = [15, 150, 2000];
const [ALIKE, ALIKE_AT_START] = [0.6, 0.75];
const [FEMALE, MALE] = [
  ["she", "her", "hers"],
  ["he", "him", "his"],
];
const WORD = /[A-Za-z]+|[.!?,]/g;
const INNER_CAPITAL = /(?<=[A-Za-z,] )[A-Z][a-z]*/g;
const SENTENCE_START = /(?:^|[.!?"'] ?)([A-Z][a-z]{2,})/g;
const LETTER = "[\\p{L}\\p{N}_]";
const SMALL_WORD = new RegExp(`(?<!${LETTER}|')(?![A-Z])${LETTER}+`, "gu");
const ONE_WORD = new RegExp(`(?:^|[.!?])["'\\s]*(${LETTER}+)[.?]`, "u");
const TWICE = new RegExp(`(?<!${LETTER})(${LETTER}+) \\1(?!${LETTER})`, "u");

/** @param {string} line */
const setOf = (line) => new Set(line.split(" "));
/** @type {Readonly<Record<string, Set<string>>>} */
const LISTS = Object.fromEntries(
  Object.entries(lists.lists).map(([slot, line]) => [slot, setOf(line)]),
);
const [WOMEN, MEN, STARTS] = [setOf(lists.women), setOf(lists.men), setOf(lists.starts)];
const LISTED_NAMES = new Set([...(LISTS.person ?? []), ...(LISTS.animal ?? [])]);
const NO_NAMES = setOf(lists.noNames);
/** Every word in small letters that a story or a request for one may have; and listed names. */
const VOCABULARY = new Set([
  ...setOf(lists.others),
  ...Object.values(LISTS).flatMap((words) => [...words]),
]);

/**
 * The first thing found that keeps a story from its facts, as a clause; "" if none.
 * @param {string} solution the facts as JSON
 * @param {string} text
 */
export function storyFault(solution, text) {
  if ([...text].length > MAX_CHARACTERS) return `it has more than ${MAX_CHARACTERS} characters`;
  const { owns = [], pronouns = {}, ...told } = JSON.parse(solution);
  return faults({ told, owns, pronouns }, text, text.match(WORD) ?? []).next().value ?? "";
}

/**
 * @param {Facts} facts
 * @param {string} text
 * @param {string[]} words
 * @returns {Generator<string, undefined>}
 */
function* faults(facts, text, words) {
  const numWords = words.filter((word) => /[A-Za-z]/.test(word)).length;
  if (numWords < MIN_WORDS || numWords > MAX_WORDS) {
    yield `it has not ${MIN_WORDS} to ${MAX_WORDS} words`;
  }
  if (!/[.!?]["']?\n?$/.test(text)) yield "its last sentence does not end";
  const sentences = text.split(/[.!?]+["' ]*/).filter(Boolean);
  if (new Set(sentences).size < sentences.length) yield "it has a sentence twice";
  const alone = ONE_WORD.exec(text);
  if (alone) yield `it has a sentence of one word, “${alone[1]}”`;
  const twice = TWICE.exec(text);
  if (twice) yield `it has a word twice in a row, “${twice[0]}”`;
  for (const slot of Object.keys(LISTS)) yield* slotFaults(facts, slot, text, words);
  yield* nameFaults(facts, text);
  if (!keepsOwners(facts, words)) {
    yield "an animal has another name, kind or owner than in the prompt";
  }
  if (!keepsPronouns(facts, words)) yield "“he” and “she” are mixed up";
  for (const word of unheardOf(facts, text)) yield `“${word}” is a word of no prompt or story`;
}

/**
 * Every word of every told phrase, as told and in small letters.
 * @param {Facts} facts
 */
function toldWords({ told }) {
  const words = Object.values(told).flatMap((phrases) =>
    phrases.flatMap((phrase) => phrase.match(WORD) ?? []),
  );
  return new Set([...words, ...words.map((word) => word.toLowerCase())]);
}

/**
 * Whether a phrase is in a text, also in the plural; a name only with its capital.
 * @param {string} phrase
 * @param {string} text
 */
function occurs(phrase, text) {
  const own = phrase.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const flags = /^\p{Ll}/u.test(phrase) ? "iu" : "u";
  return new RegExp(`(?<!${LETTER})${own}(?:e?s)?(?!${LETTER})`, flags).test(text);
}

/**
 * The words of the slot's list in a text, plurals folded.
 * @param {string} slot
 * @param {string[]} words
 */
function listed(slot, words) {
  const known = LISTS[slot] ?? new Set();
  if (slot === "person" || slot === "animal") {
    return new Set(words.filter((word) => known.has(word)));
  }
  const small = words.map((word) => word.toLowerCase());
  const single = small.filter((form) => form.endsWith("s")).map((form) => form.slice(0, -1));
  return new Set([...small, ...single].filter((form) => known.has(form)));
}

/**
 * @param {Facts} facts
 * @param {string} slot
 * @param {string} text
 * @param {string[]} words
 */
function* slotFaults(facts, slot, text, words) {
  const known = toldWords(facts);
  const [first, second] = [...listed(slot, words)].filter((word) => !known.has(word)).sort();
  const phrases = facts.told[slot];
  if (phrases && first) yield `“${first}” is not in the prompt`;
  if (!phrases && second) yield `“${first}” and “${second}” are not in the prompt`;
  for (const phrase of phrases ?? []) {
    if (!occurs(phrase, text)) yield `“${phrase}” of the prompt is missing`;
  }
}

/**
 * A told name misspelt, or inside sentences more new names than the prompt leaves open.
 * @param {Facts} facts
 * @param {string} text
 */
function* nameFaults(facts, text) {
  const { told } = facts;
  const words = toldWords(facts);
  /** @param {string} word */
  const isKnown = (word) => words.has(word) || LISTED_NAMES.has(word) || NO_NAMES.has(word);
  const found = [...new Set(text.match(INNER_CAPITAL)?.filter((word) => !isKnown(word)))];
  const all = [...(told.person ?? []), ...(told.animal ?? [])];
  const names = all.filter((name) => /^\p{Lu}/u.test(name));
  yield* misspelt(names, found, ALIKE);
  const starts = [...text.matchAll(SENTENCE_START)].map(([, word = ""]) => word);
  const unknown = starts.filter((word) => !isKnown(word) && !STARTS.has(word));
  const madeUp = names.filter((name) => !LISTED_NAMES.has(name));
  yield* misspelt(madeUp, unknown, ALIKE_AT_START);
  const numOpen = ["person", "animal", "place"].filter((slot) => !(slot in told)).length;
  const extra = found[numOpen];
  if (extra) yield `“${extra}” is a name too many, not in the prompt`;
}

/**
 * Words that are neither told nor of any story; one that begins a sentence may be a new name, as
 * many times as the prompt leaves one open.
 * @param {Facts} facts
 * @param {string} text
 */
function* unheardOf(facts, text) {
  const phrases = Object.values(facts.told).flat().join(" ");
  const told = phrases.match(new RegExp(`${LETTER}+`, "gu")) ?? [];
  const words = new Set([...told, ...told.map((word) => word.toLowerCase())]);
  yield* (text.match(SMALL_WORD) ?? []).filter((word) => !isOf(words, word));
  const known = toldWords(facts);
  const inside = text.match(INNER_CAPITAL) ?? [];
  const names = new Set([...known, ...LISTED_NAMES, ...NO_NAMES, ...STARTS, ...inside]);
  const starts = new Set([...text.matchAll(SENTENCE_START)].map(([, word = ""]) => word));
  const fresh = [...starts].filter((word) => !names.has(word) && !isOf(known, word.toLowerCase()));
  yield* fresh.slice(["person", "animal"].filter((slot) => !(slot in facts.told)).length);
}

/**
 * Whether a word is told or of stories, be it as a plural.
 * @param {Set<string>} told
 * @param {string} word
 */
function isOf(told, word) {
  const forms = [word, word.replace(/s$/, ""), word.replace(/es$/, "")];
  return forms.some((form) => told.has(form) || VOCABULARY.has(form));
}

/**
 * Words that are nearly one of the names.
 * @param {string[]} names
 * @param {string[]} words
 * @param {number} least
 */
function* misspelt(names, words, least) {
  for (const name of names) {
    const alike = words.filter((word) => likeness(name, word) >= least);
    for (const word of alike) yield `“${word}” looks like “${name}” of the prompt, misspelt`;
  }
}

/**
 * No "cat Rex" or "Rex the cat" or "Tom s cat" against the facts.
 * @param {Facts} facts
 * @param {string[]} words
 */
function keepsOwners(facts, words) {
  const [names, people, kinds] = [
    heads(facts, "animal", words),
    heads(facts, "person", words),
    heads(facts, "species", words),
  ];
  const owns = facts.owns.map((owner) => owner.map((part) => (part ? head(part) : "")));
  /** @type {Map<string, string>} */
  const speciesOf = new Map();
  /** @type {Map<string, string>} */
  const ownerOf = new Map();
  for (const [person = "", species = "", name = ""] of owns) {
    if (name && species) speciesOf.set(name, species);
    if (person && species) ownerOf.set(species, person);
  }
  return words.slice(0, -2).every((first, index) => {
    const [second = "", third = ""] = words.slice(index + 1);
    if (kinds.has(first) && names.has(second)) return agrees(speciesOf, second, first);
    if (names.has(first) && ["the", "a"].includes(second) && kinds.has(third)) {
      return agrees(speciesOf, first, third);
    }
    if (people.has(first) && second === "s" && kinds.has(third)) {
      return agrees(ownerOf, third, first);
    }
    return true;
  });
}

/**
 * Whether a value is the one known of a key; the first said of it is.
 * @param {Map<string, string>} known
 * @param {string} key
 * @param {string} value
 */
function agrees(known, key, value) {
  if (!known.has(key)) known.set(key, value);
  return known.get(key) === value;
}

/**
 * Words that stand for something of the slot: listed ones, and the last of told phrases.
 * @param {Facts} facts
 * @param {string} slot
 * @param {string[]} words
 */
function heads(facts, slot, words) {
  return new Set([...listed(slot, words), ...(facts.told[slot] ?? []).map(head)]);
}

/** @param {string} phrase */
function head(phrase) {
  return phrase.split(" ").at(-1) ?? "";
}

/**
 * No "he" when all people are women, no "she" when all are men, not both for one person.
 * @param {Facts} facts
 * @param {string[]} words
 */
function keepsPronouns(facts, words) {
  const people = heads(facts, "person", words);
  const said = new Set(words.map((word) => word.toLowerCase()));
  const known = new Map(Object.entries(facts.pronouns).map(([name, one]) => [head(name), one]));
  const kinds = new Set([...people].map((name) => known.get(name) || listedPronoun(name)));
  const [saysFemale, saysMale] = [FEMALE, MALE].map((some) => some.some((one) => said.has(one)));
  if (kinds.size === 1 && kinds.has("she")) return !saysMale;
  if (kinds.size === 1 && kinds.has("he")) return !saysFemale;
  return people.size > 1 || !(saysFemale && saysMale);
}

/** @param {string} name */
function listedPronoun(name) {
  return WOMEN.has(name) ? "she" : MEN.has(name) ? "he" : "";
}
