// Tokens that are part of a character: a tokenizer may cut "é" in two bytes, shown as \xC3 and
// \xA9. Joins neighbours that spell whole characters. Knows no DOM.

const BYTE = /\\x([89A-F][0-9A-F])/;

/** The bytes of a token that is not whole text by itself, else null. */
function tokenBytes(text) {
  if (!BYTE.test(text)) return null;
  const bytes = [];
  for (const part of text.split(/(\\x[89A-F][0-9A-F])/)) {
    const match = BYTE.exec(part);
    if (match) bytes.push(parseInt(match[1], 16));
    else bytes.push(...new TextEncoder().encode(part));
  }
  return bytes;
}

function decodeBytes(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(bytes));
  } catch {
    return null;
  }
}

/**
 * Join [{position, text}] in order of position: a map from each position that is part of a
 * character now complete to {text, index, count}. Positions that stay byte parts are not in it.
 */
function joinBytes(items) {
  const joined = new Map();
  let open = [];
  let bytes = [];
  for (const { position, text } of items) {
    const own = tokenBytes(text);
    const isContinued = own !== null && (own[0] & 0xc0) === 0x80;
    const isNext = isContinued && position === open.at(-1) + 1;
    if (!isNext) [open, bytes] = [[], []];
    if (!own || (isContinued && !isNext)) continue;
    open.push(position);
    bytes.push(...own);
    const whole = decodeBytes(bytes);
    if (whole === null) continue;
    open.forEach((each, index) =>
      joined.set(each, { text: whole, index, count: open.length }));
    [open, bytes] = [[], []];
  }
  return joined;
}
