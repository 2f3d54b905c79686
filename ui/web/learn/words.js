// A scene's sentence as pieces: plain text, and [words] of the glossary. Knows no DOM.

import { GLOSSARY } from "../core/glossary.js";

/** @typedef {{ text: string, key: string }} WordPiece key: of the glossary, "" for plain text */

/**
 * The glossary's key of a word as it stands in a sentence, "" if it has none.
 * @param {string} word
 */
export function glossaryKey(word) {
  if (GLOSSARY[word]) return word;
  return Object.entries(GLOSSARY).find(([, { name }]) => name === word)?.[0] ?? "";
}

/**
 * @param {string} sentence
 * @returns {WordPiece[]}
 */
export function wordPieces(sentence) {
  return sentence
    .split(/(\[[^\]]+\])/)
    .filter(Boolean)
    .map((part) => {
      const word = /^\[(.+)\]$/.exec(part)?.[1];
      return word ? { text: word, key: glossaryKey(word) } : { text: part, key: "" };
    });
}
