// Tokens on the page: pieces of text as nodes. Text enters through textContent.

import { MARKS, tokenPieces } from "../core/text/letters.js";
import { make } from "./elements.js";

/** @import { Piece } from "../core/text/letters.js" */

/** @type {WeakMap<Element, string>} what a node shows now */
const shown = new WeakMap();

/**
 * Pieces as nodes: kinds become classes, line breaks and tabs carry their mark beside.
 * @param {Piece[]} pieces
 */
export function pieceNodes(pieces) {
  return pieces.map(([text, kind]) => {
    if (!kind) return text;
    const mark = kind === "break" || kind === "tab" ? MARKS[text[0] ?? ""] : undefined;
    return make("span", `sbd-${kind}`, mark ? { "data-mark": mark } : {}, text);
  });
}

/** Show pieces in `node`. @param {HTMLElement} node @param {Piece[]} pieces */
export function showPieces(node, pieces) {
  node.replaceChildren(...pieceNodes(pieces));
}

/**
 * Show a token's text in `node`, with a small `note` after it; nothing to do if it does already.
 * @param {HTMLElement} node
 * @param {string} text
 * @param {string} [note]
 */
export function showToken(node, text, note = "") {
  const key = `${text}\n${note}`;
  if (shown.get(node) === key) return;
  shown.set(node, key);
  showPieces(node, tokenPieces(text));
  if (note) node.append(make("span", "sbd-part", note));
}
