// Text as it is: what cannot be seen (spaces at an edge, line breaks, controls, direction marks,
// lone bytes) becomes a mark; tokens that are parts of one character are joined to it (a tokenizer
// may cut "é" in \xC3 and \xA9); everything else stays as it came. Knows no DOM.

/** @typedef {{ text: string, index: number, count: number }} Joined part of a whole character */

export const BYTE = /\\x([89A-F][0-9A-F])/;

/** The bytes of a token that is not whole text by itself, else null. @param {string} text */
export function tokenBytes(text) {
  if (!BYTE.test(text)) return null;
  const bytes = [];
  for (const part of text.split(/(\\x[89A-F][0-9A-F])/)) {
    const match = BYTE.exec(part);
    if (match?.[1]) bytes.push(parseInt(match[1], 16));
    else bytes.push(...new TextEncoder().encode(part));
  }
  return bytes;
}

/** @param {number[]} bytes */
function decodeBytes(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(bytes));
  } catch {
    return null;
  }
}

/**
 * Join tokens in order of position: a map from each position that is part of a character now
 * complete to its part. Positions that stay byte parts are not in it.
 * @param {{ position: number, text: string }[]} items
 */
export function joinBytes(items) {
  /** @type {Map<number, Joined>} */
  const joined = new Map();
  /** @type {number[]} */
  let open = [];
  /** @type {number[]} */
  let bytes = [];
  for (const { position, text } of items) {
    const own = tokenBytes(text);
    const isContinued = own !== null && ((own[0] ?? 0) & 0xc0) === 0x80;
    const isNext = isContinued && position === (open.at(-1) ?? Infinity) + 1;
    if (!isNext) [open, bytes] = [[], []];
    if (!own || (isContinued && !isNext)) continue;
    open.push(position);
    bytes.push(...own);
    const whole = decodeBytes(bytes);
    if (whole === null) continue;
    const count = open.length;
    open.forEach((each, index) => {
      joined.set(each, { text: whole, index, count });
    });
    [open, bytes] = [[], []];
  }
  return joined;
}

/** @typedef {[text: string, kind: string]} Piece a stretch of letters; kind "" is plain text */

/** @type {Readonly<Record<string, string>>} */
export const MARKS = { " ": "·", "\n": "⏎", "\r": "␍", "\t": "⇥" };
const MAX_MARKS = 3; // marked stretches of one token
const LETTERS = /\\x[89A-F][0-9A-F]|./gsu;

/**
 * Controls, bidirectional marks, zero-width and other characters that cannot be seen.
 * @param {string} character
 */
function isInvisible(character) {
  return /^[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Co}\p{Cn}\ufffc]$/u.test(character);
}

/** @param {string} character */
function codePoint(character) {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The mark for a letter that cannot be seen, else null. @param {string} letter */
export function markOf(letter) {
  const mark = MARKS[letter];
  if (mark !== undefined) return mark;
  if (BYTE.test(letter)) return letter;
  return isInvisible(letter) ? codePoint(letter) : null;
}

/**
 * Pieces of a text; `kindOf` says the kind of a letter.
 * @param {string} text
 * @param {(letter: string, index: number) => string} kindOf
 */
function piecesOf(text, kindOf) {
  /** @type {Piece[]} */
  const pieces = [];
  let numMarked = 0;
  for (const [index, letter] of (text.match(LETTERS) ?? []).entries()) {
    const kind = kindOf(letter, index);
    const shown = kind === "mark" ? (markOf(letter) ?? letter) : letter;
    const last = pieces.at(-1);
    const isFull = kind !== "" && numMarked >= MAX_MARKS;
    const shownKind = isFull && last?.[1] !== kind ? "" : kind;
    if (last && last[1] === shownKind && (kind !== "mark" || isFull)) last[0] += shown;
    else pieces.push([shown, shownKind]);
    if (shownKind !== "" && pieces.at(-1) !== last) numMarked += 1;
  }
  return pieces;
}

/**
 * A token alone: every edge space and line break is a mark; spaces between words stay.
 * @param {string} text
 * @returns {Piece[]}
 */
export function tokenPieces(text) {
  if (text === "") return [["∅", "mark"]];
  const isWords = text.trim() !== "" && !/[\n\r\t]/.test(text);
  const keepsSpaces = isWords && text.trim().includes(" ");
  return piecesOf(text, (letter) =>
    markOf(letter) === null || (letter === " " && keepsSpaces) ? "" : "mark",
  );
}

/**
 * A token inside running text: it keeps its layout, and spaces that are easily missed get a
 * faint dot.
 * @param {string} text
 * @param {string} before the letter before it, "" where the text starts
 * @param {string} after the letter after it, "" where the text breaks off
 */
export function lanePieces(text, before, after) {
  const letters = text.match(LETTERS) ?? [];
  /** @param {string} letter */
  const isOpen = (letter) => letter === "" || letter === " " || letter === "\n" || letter === "\t";
  return piecesOf(text, (letter, index) => {
    if (letter === "\n") return "break";
    if (letter === "\t") return "tab";
    if (letter !== " ") return markOf(letter) === null ? "" : "mark";
    const isEdge = isOpen(letters[index - 1] ?? before) || isOpen(letters[index + 1] ?? after);
    return isEdge ? "space" : "";
  });
}

/** A token alone as its marks and letters. @param {string} text */
export function tokenMarks(text) {
  return tokenPieces(text)
    .map(([piece]) => piece)
    .join("");
}

/** The token in words for a title or a screen reader. @param {string} text */
export function tokenName(text) {
  return `“${tokenMarks(text)}”`;
}

/** With a capital at its beginning. @param {string} text */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
