// Tokens that are part of a character: a tokenizer may cut "é" in two bytes, shown as \xC3 and
// \xA9. Joins neighbours that spell whole characters. Knows no DOM.

/** @typedef {{ text: string, index: number, count: number }} Joined part of a whole character */

export const BYTE = /\\x([89A-F][0-9A-F])/;

/**
 * The bytes of a token that is not whole text by itself, else null.
 * @param {string} text
 */
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
