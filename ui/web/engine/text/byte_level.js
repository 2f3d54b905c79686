// Bytes as printable characters, as byte-level BPE writes them (GPT-2's alphabet).

const KEPT = [...span(33, 127), ...span(161, 173), ...span(174, 256)];

/** @param {number} start @param {number} stop */
function span(start, stop) {
  return Array.from({ length: stop - start }, (_, index) => start + index);
}

const OTHERS = span(0, 256).filter((byte) => !KEPT.includes(byte));

/** @type {Map<string, number>} */
export const BYTE_OF = new Map([
  ...KEPT.map((byte) => /** @type {const} */ ([String.fromCharCode(byte), byte])),
  ...OTHERS.map((byte, index) => /** @type {const} */ ([String.fromCharCode(256 + index), byte])),
]);

const CHARACTER_OF = new Map([...BYTE_OF].map(([character, byte]) => [byte, character]));

/** @param {string} text of any kind */
export function toCharacters(text) {
  return [...new TextEncoder().encode(text)].map((byte) => CHARACTER_OF.get(byte)).join("");
}

/**
 * The bytes that a token's piece stands for; those of its text if it is not written in bytes.
 * @param {string} piece
 */
export function toBytes(piece) {
  const bytes = [...piece].map((character) => BYTE_OF.get(character));
  return bytes.every((byte) => byte !== undefined)
    ? /** @type {number[]} */ (bytes)
    : [...new TextEncoder().encode(piece)];
}
