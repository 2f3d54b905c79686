// Byte-level BPE from a tokenizer.json as this repository's recipes train it: single digits, then
// words. Any other kind is refused, as its tokens would be wrong ones.

import { ModelError } from "./errors.js";

const KEPT = [...span(33, 127), ...span(161, 173), ...span(174, 256)];

/** @param {number} start @param {number} stop */
function span(start, stop) {
  return Array.from({ length: stop - start }, (_, index) => start + index);
}

const OTHERS = span(0, 256).filter((byte) => !KEPT.includes(byte));

/** @type {Map<string, number>} */
const BYTE_OF = new Map([
  ...KEPT.map((byte) => /** @type {const} */ ([String.fromCharCode(byte), byte])),
  ...OTHERS.map((byte, index) => /** @type {const} */ ([String.fromCharCode(256 + index), byte])),
]);

const CHARACTER_OF = new Map([...BYTE_OF].map(([character, byte]) => [byte, character]));

/** @param {string} text of any kind */
function toCharacters(text) {
  return [...new TextEncoder().encode(text)].map((byte) => CHARACTER_OF.get(byte)).join("");
}

/**
 * The bytes that a token's piece stands for; those of its text if it is not written in bytes.
 * @param {string} piece
 */
function toBytes(piece) {
  const bytes = [...piece].map((character) => BYTE_OF.get(character));
  return bytes.every((byte) => byte !== undefined)
    ? /** @type {number[]} */ (bytes)
    : [...new TextEncoder().encode(piece)];
}

const CHAT_TEMPLATE =
  "{% for message in messages %}" +
  "{% if message['role'] == 'assistant' %}<assistant>{{ message['content'] }}<eos>" +
  "{% else %}<user>{{ message['content'] }}{% endif %}" +
  "{% endfor %}" +
  "{% if add_generation_prompt %}<assistant>{% endif %}";

/**
 * Token ids of a prompt as the user's turn, or as it is where there is no template.
 * @param {Tokenizer} tokenizer
 * @param {string | null} template
 * @param {string} prompt
 */
export function encodePrompt(tokenizer, template, prompt) {
  const plain = tokenizer.encode(prompt);
  if (template === null) return plain;
  return [special(tokenizer, "<user>"), ...plain, special(tokenizer, "<assistant>")];
}

/**
 * Raises ModelError for a template that is not the one rendered here.
 * @param {Tokenizer} tokenizer
 * @param {string | null} template
 */
export function checkTemplate(tokenizer, template) {
  if (template === null) return;
  if (template.trim() !== CHAT_TEMPLATE) {
    throw new ModelError(
      "The model’s chat template is not the one of this project’s models, the only one that runs in a browser.",
    );
  }
  for (const name of ["<user>", "<assistant>"]) special(tokenizer, name);
}

/** @param {Tokenizer} tokenizer @param {string} name */
function special(tokenizer, name) {
  const id = tokenizer.ids.get(name);
  if (id === undefined)
    throw new ModelError(`The tokenizer lacks ${name}, which the chat template needs.`);
  return id;
}

// GPT-2's words, in the classes of Unicode that the tokenizers library has.
const WORD =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;
const DIGIT_OR_REST = /\p{N}|\P{N}+/gu;
const MAX_KEPT_WORDS = 20_000;
const REPLACEMENT = "\ufffd";

export class Tokenizer {
  /**
   * Raises ModelError for a tokenizer of another kind.
   * @param {Record<string, any>} file the content of tokenizer.json
   */
  constructor(file) {
    refuseOthers(file);
    const { vocab, merges, ignore_merges: ignoresMerges } = file.model;
    this.ignoresMerges = Boolean(ignoresMerges);
    this.splitsDigits = steps(file.pre_tokenizer).some(({ type }) => type === "Digits");
    /** @type {Map<string, number>} */
    this.ids = new Map(Object.entries(vocab));
    /** @type {Map<number, string>} */
    this.pieces = new Map([...this.ids].map(([piece, id]) => [id, piece]));
    /** @type {Map<string, number>} */
    this.ranks = new Map();
    for (const [rank, merge] of merges.entries()) {
      this.ranks.set(Array.isArray(merge) ? merge.join(" ") : merge, rank);
    }
    /** @type {Set<number>} */
    this.specialIds = new Set();
    for (const { id, content, special } of file.added_tokens ?? []) {
      this.ids.set(content, id);
      this.pieces.set(id, content);
      if (special) this.specialIds.add(id);
    }
    /** @type {Map<string, number[]>} */
    this.known = new Map();
  }

  /**
   * Token ids of a text; what looks like a special token in it is plain text.
   * @param {string} text
   */
  encode(text) {
    const parts = this.splitsDigits ? (text.match(DIGIT_OR_REST) ?? []) : [text];
    return parts.flatMap((part) => (part.match(WORD) ?? []).flatMap((word) => this.word(word)));
  }

  /** @param {string} text */
  word(text) {
    const kept = this.known.get(text);
    if (kept) return kept;
    const ids = this.merged(toCharacters(text));
    if (this.known.size >= MAX_KEPT_WORDS) this.known.clear();
    this.known.set(text, ids);
    return ids;
  }

  /** @param {string} characters */
  merged(characters) {
    const whole = this.ids.get(characters);
    if (this.ignoresMerges && whole !== undefined) return [whole];
    const parts = [...characters];
    for (;;) {
      let [best, place] = [Infinity, -1];
      for (let i = 0; i + 1 < parts.length; i += 1) {
        const rank = this.ranks.get(`${parts[i]} ${parts[i + 1]}`) ?? Infinity;
        if (rank < best) [best, place] = [rank, i];
      }
      if (place < 0) break;
      parts.splice(place, 2, `${parts[place]}${parts[place + 1]}`);
    }
    return parts.map((part) => {
      const id = this.ids.get(part);
      if (id === undefined) throw new ModelError("tokenizer.json: its vocabulary lacks a byte.");
      return id;
    });
  }

  /**
   * The text of an answer, special tokens left out.
   * @param {number[]} ids
   */
  decode(ids) {
    return this.textOf(ids.filter((id) => !this.specialIds.has(id)));
  }

  /** @param {number[]} ids */
  textOf(ids) {
    const bytes = ids.flatMap((id) => toBytes(this.pieces.get(id) ?? ""));
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array(bytes));
  }

  /**
   * One token on its own, for showing: lone bytes as \xE2, an id without a piece as [id].
   * @param {number} id
   */
  tokenText(id) {
    const piece = this.pieces.get(id);
    if (piece === undefined) return `[${id}]`;
    const text = this.textOf([id]);
    if (!text.includes(REPLACEMENT)) return text || piece;
    const isBytes = [...piece].every((character) => BYTE_OF.has(character));
    return isBytes ? toBytes(piece).map(shownByte).join("") : piece;
  }
}

/** @param {number} byte */
function shownByte(byte) {
  const isPlain = byte >= 32 && byte < 127;
  return isPlain
    ? String.fromCharCode(byte)
    : `\\x${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}

/**
 * The pre-tokenizers one after the other.
 * @param {any} preTokenizer
 * @returns {Record<string, any>[]}
 */
function steps(preTokenizer) {
  return preTokenizer?.type === "Sequence" ? preTokenizer.pretokenizers : [preTokenizer ?? {}];
}

/** @param {Record<string, any>} file */
function refuseOthers({
  model,
  normalizer,
  pre_tokenizer: before,
  post_processor: after,
  decoder,
  added_tokens: added,
}) {
  const first = steps(before);
  const last = first.at(-1);
  const isPlainModel =
    model?.type === "BPE" &&
    !model.byte_fallback &&
    !model.continuing_subword_prefix &&
    !model.end_of_word_suffix &&
    !model.dropout;
  const isByteLevel =
    last?.type === "ByteLevel" && !last.add_prefix_space && last.use_regex !== false;
  const hasDigits =
    first.length === 1 ||
    (first.length === 2 && first[0]?.type === "Digits" && first[0].individual_digits);
  const addsNothing =
    !after ||
    after.type === "ByteLevel" ||
    Object.keys(after.special_tokens ?? { x: 0 }).length === 0;
  const isPlainAdded = (added ?? []).every(
    (/** @type {any} */ token) => !token.lstrip && !token.rstrip,
  );
  if (
    isPlainModel &&
    !normalizer &&
    isByteLevel &&
    hasDigits &&
    addsNothing &&
    isPlainAdded &&
    decoder?.type === "ByteLevel"
  )
    return;
  throw new ModelError(
    "The tokenizer is not byte-level BPE as this project’s recipes train it, the only kind that runs in a browser.",
  );
}
