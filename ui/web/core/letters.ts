// Prepares text for display. Characters that cannot be seen (spaces at an edge, line breaks, controls, direction
// marks, lone bytes) become marks. Tokens that each hold a part of a character's bytes (a tokenizer may split "é" into
// \xC3 and \xA9) are joined to the whole character. Everything else stays as it is. Knows no DOM.

/** One of the tokens that spell `text` together. */
export type Joined = { text: string; index: number; count: number };

export const BYTE = /\\x([89A-F][0-9A-F])/;

/** Return the bytes of a token whose text has bytes written as \xE2; null for other tokens. */
export function tokenBytes(text: string) {
  if (!BYTE.test(text)) return null;
  const bytes = [];
  for (const part of text.split(/(\\x[89A-F][0-9A-F])/)) {
    const match = BYTE.exec(part);
    if (match?.[1]) bytes.push(parseInt(match[1], 16));
    else bytes.push(...new TextEncoder().encode(part));
  }
  return bytes;
}

/** Decode UTF-8; return null if the bytes are not whole characters. */
function decodeBytes(bytes: number[]) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(bytes));
  } catch {
    return null;
  }
}

/**
 * Join tokens that hold parts of the same character. Return the joined ones by position, without those whose
 * character is incomplete.
 * @param items in order of position
 */
export function joinBytes(items: { position: number; text: string }[]) {
  const joined: Map<number, Joined> = new Map();
  let open: number[] = [];
  let bytes: number[] = [];
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

/** letters of one kind, such as "mark" or "space"; "" is plain text */
export type Piece = [text: string, kind: string];

export const MARKS: Readonly<Record<string, string>> = {
  " ": "·",
  "\n": "⏎",
  "\r": "␍",
  "\t": "⇥",
};
const MAX_MARKS = 3; // largest number of marked pieces in a token
const LETTERS = /\\x[89A-F][0-9A-F]|./gsu;

const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/** Return the direction in which a text is read: that of its first letter. */
export function directionOf(text: string) {
  return RIGHT_TO_LEFT.test(text.match(/\p{L}/u)?.[0] ?? "") ? "rtl" : "ltr";
}

/** A character that cannot be seen: a control, a direction mark, a zero-width space or the like. */
const INVISIBLE = /^[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Co}\p{Cn}\ufffc]$/u;

/** Return the mark for a letter that cannot be seen, else null. */
export function markOf(letter: string) {
  const mark = MARKS[letter];
  if (mark !== undefined) return mark;
  if (BYTE.test(letter)) return letter;
  if (!INVISIBLE.test(letter)) return null;
  return `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Split a text into pieces by the kind that `kindOf` gives each letter. */
function piecesOf(text: string, kindOf: (letter: string, index: number) => string) {
  const pieces: Piece[] = [];
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
 * Split a token that is shown alone into pieces. Letters that cannot be seen become marks; so do spaces, unless it
 * holds several words.
 */
export function tokenPieces(text: string): Piece[] {
  if (text === "") return [["∅", "mark"]];
  const isWords = text.trim() !== "" && !/[\n\r\t]/.test(text);
  const keepsSpaces = isWords && text.trim().includes(" ");
  return piecesOf(text, (letter) =>
    markOf(letter) === null || (letter === " " && keepsSpaces) ? "" : "mark",
  );
}

/**
 * Split a token inside running text into pieces. Line breaks and tabs keep their effect. A space that is easily
 * missed, beside white space or at an end of the text, is of the kind "space".
 * @param before the letter before the token, "" at the start of the text
 * @param after the letter after the token, "" if the text ends or is not known there
 */
export function lanePieces(text: string, before: string, after: string) {
  const letters = text.match(LETTERS) ?? [];
  const isOpen = (letter: string) =>
    letter === "" || letter === " " || letter === "\n" || letter === "\t";
  return piecesOf(text, (letter, index) => {
    if (letter === "\n") return "break";
    if (letter === "\t") return "tab";
    if (letter !== " ") return markOf(letter) === null ? "" : "mark";
    const isEdge = isOpen(letters[index - 1] ?? before) || isOpen(letters[index + 1] ?? after);
    return isEdge ? "space" : "";
  });
}

/** Return a token as it is shown alone, in one string. */
export function tokenMarks(text: string) {
  return tokenPieces(text)
    .map(([piece]) => piece)
    .join("");
}

/** Return the token in quotation marks, for a title or a screen reader. */
export function tokenName(text: string) {
  return `“${tokenMarks(text)}”`;
}

export function capital(text: string) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
