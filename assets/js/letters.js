// Text as it is: what cannot be seen (spaces at an edge, line breaks, controls, direction marks,
// lone bytes) becomes a mark; everything else stays as it came. Text enters through textContent.

const MARKS = { " ": "·", "\n": "⏎", "\r": "␍", "\t": "⇥" };
const LETTERS = /\\x[89A-F][0-9A-F]|[^]/gu;

/** Controls, bidirectional marks, zero-width and other characters that cannot be seen. */
function isInvisible(character) {
  return /^[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Co}\p{Cn}\ufffc]$/u.test(character);
}

function codePoint(character) {
  return "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
}

/** The mark for a letter that cannot be seen, else null. */
function markOf(letter) {
  if (letter in MARKS) return MARKS[letter];
  if (BYTE.test(letter)) return letter;
  return isInvisible(letter) ? codePoint(letter) : null;
}

/** Pieces [text, kind] of a text; `kindOf` says the kind of a letter, "" is plain text. */
function piecesOf(text, kindOf) {
  const pieces = [];
  for (const [index, letter] of (text.match(LETTERS) ?? []).entries()) {
    const kind = kindOf(letter, index);
    const shown = kind === "mark" ? markOf(letter) : letter;
    const last = pieces.at(-1);
    if (last && last[1] === kind && kind !== "mark") last[0] += shown;
    else pieces.push([shown, kind]);
  }
  return pieces;
}

/** A token alone: every edge space and line break is a mark; spaces between words stay. */
function tokenPieces(text) {
  if (text === "") return [["∅", "mark"]];
  const isWords = text.trim() !== "" && !/[\n\r\t]/.test(text);
  const keepsSpaces = isWords && text.trim().includes(" ");
  return piecesOf(text, (letter) =>
    markOf(letter) === null || (letter === " " && keepsSpaces) ? "" : "mark");
}

/**
 * A token inside running text, between the letters `before` and `after` ("" where the text starts
 * or breaks off): it keeps its layout, and spaces that are easily missed get a faint dot.
 */
function lanePieces(text, before, after) {
  const letters = text.match(LETTERS) ?? [];
  const isOpen = (letter) => letter === "" || letter === " " || letter === "\n" || letter === "\t";
  return piecesOf(text, (letter, index) => {
    if (letter === "\n") return "break";
    if (letter === "\t") return "tab";
    if (letter !== " ") return markOf(letter) === null ? "" : "mark";
    const isEdge = isOpen(letters[index - 1] ?? before) || isOpen(letters[index + 1] ?? after);
    return isEdge ? "space" : "";
  });
}

/** Show pieces in `node`: kinds become classes, line breaks and tabs carry their mark beside. */
function showPieces(node, pieces) {
  node.replaceChildren(...pieces.map(([text, kind]) => {
    if (!kind) return text;
    const attributes = kind === "break" || kind === "tab" ? { "data-mark": MARKS[text[0]] } : {};
    return make("span", `sbd-${kind}`, attributes, text);
  }));
}

/** Show a token's text in `node`, with a small `note` after it; nothing to do if it does already. */
function showToken(node, text, note = "") {
  if (node.shownToken === text && node.shownNote === note) return;
  node.shownToken = text;
  node.shownNote = note;
  showPieces(node, tokenPieces(text));
  if (note) node.append(make("span", "sbd-part", {}, note));
}

/** The token in words for a title or a screen reader. */
function tokenName(text) {
  return "“" + tokenPieces(text).map(([piece]) => piece).join("") + "”";
}
