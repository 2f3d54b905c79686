// Text to token ids and back, and the chat template: sbd_core/models/chat.py, by
// Hugging Face's own libraries for JavaScript. Text that people typed is plain text: control tokens
// are the template's alone.

import { Template } from "@huggingface/jinja";
import { Tokenizer as Encoder } from "@huggingface/tokenizers";
import { EngineError } from "./errors.js";

/** An added token that is no word, emoji or run of spaces: <tool_call>, [INST], <|fim_prefix|>. */
const CONTROL = /^[^\p{L}\p{N}_\s].*[\p{L}\p{N}_].*[^\p{L}\p{N}_\s]$/su;
const REPLACEMENT = "\ufffd";
const NAMES = ["bos_token", "eos_token", "unk_token", "pad_token", "mask_token"];

const KEPT = [...span(33, 127), ...span(161, 173), ...span(174, 256)];

/** @param {number} start @param {number} stop */
function span(start, stop) {
  return Array.from({ length: stop - start }, (_, index) => start + index);
}

/** @type {Map<string, number>} the printable alphabet in which byte-level BPE writes bytes */
const BYTE_OF = new Map([
  ...KEPT.map((byte) => /** @type {const} */ ([String.fromCharCode(byte), byte])),
  ...span(0, 256)
    .filter((byte) => !KEPT.includes(byte))
    .map((byte, index) => /** @type {const} */ ([String.fromCharCode(256 + index), byte])),
]);

export class Tokenizer {
  /**
   * Raises EngineError for a tokenizer that cannot be read.
   * @param {Record<string, any>} file the content of tokenizer.json
   * @param {Record<string, any>} settings the content of tokenizer_config.json
   * @param {string | null} template
   */
  constructor(file, settings, template) {
    const added = /** @type {{ content: string, special: boolean }[]} */ (file.added_tokens ?? []);
    this.special = added.filter(({ special }) => special).map(({ content }) => content);
    this.controls = added
      .map(({ content }) => content)
      .filter((content) => this.special.includes(content) || CONTROL.test(content));
    const letters = added.filter(({ content }) => !this.controls.includes(content));
    try {
      this.encoder = new Encoder(file, settings);
      this.plain = new Encoder({ ...file, added_tokens: letters }, settings);
      this.template = template === null ? null : new Template(template);
    } catch (error) {
      throw new EngineError(`The model’s tokenizer cannot be read: ${wordsOf(error)}`);
    }
    this.tokens = Object.fromEntries(
      NAMES.flatMap((name) => {
        const token = settings[name]?.content ?? settings[name];
        return typeof token === "string" ? [[name, token]] : [];
      }),
    );
  }

  /**
   * Token ids of a text; what looks like a control token in it is plain text.
   * @param {string} text
   */
  encode(text) {
    return this.plain.encode(text, { add_special_tokens: false }).ids;
  }

  /**
   * Token ids of a prompt as the user's turn; isRaw, or without a template, as it stands. Raises
   * EngineError for a template that cannot be used.
   * @param {string} prompt
   * @param {boolean} isRaw
   */
  encodePrompt(prompt, isRaw) {
    if (isRaw || !this.template) return [...this.beginning(), ...this.encode(prompt)];
    const words = prompt.trim();
    const isHeld = this.controls.some((control) => prompt.includes(control));
    const mark = isHeld ? crypto.randomUUID().replaceAll("-", "") : words;
    const text = this.rendered(prompt.replace(words, () => mark));
    if (!text.includes(mark)) {
      throw new EngineError("The model’s chat template leaves out what the user says.");
    }
    if (!isHeld) return this.encoder.encode(text, { add_special_tokens: false }).ids;
    // The space around the content stays around its mark, as a template may trim it.
    const lead = prompt.slice(0, prompt.indexOf(words));
    const trail = prompt.slice(lead.length + words.length);
    const parts = text.split(mark);
    return parts.flatMap((part, index) => {
      const isAfter = index > 0 && part.startsWith(trail);
      const isBefore = index + 1 < parts.length && part.endsWith(lead);
      const rest = part.slice(
        isAfter ? trail.length : 0,
        isBefore ? part.length - lead.length : undefined,
      );
      const ids = rest ? this.encoder.encode(rest, { add_special_tokens: false }).ids : [];
      if (index + 1 === parts.length) return ids;
      const isTrailing = parts[index + 1]?.startsWith(trail);
      const content = `${isBefore ? lead : ""}${words}${isTrailing ? trail : ""}`;
      return [...ids, ...this.encode(content)];
    });
  }

  /** The tokens that begin a text; an end token among them is left out. */
  beginning() {
    const { ids } = this.encoder.encode("", { add_special_tokens: true });
    const end = this.encoder.token_to_id(this.tokens.eos_token ?? "");
    return ids.at(-1) === end ? ids.slice(0, -1) : ids;
  }

  /** @param {string} content */
  rendered(content) {
    try {
      const messages = [{ role: "user", content }];
      return this.template?.render({ messages, add_generation_prompt: true, ...this.tokens }) ?? "";
    } catch (error) {
      throw new EngineError(`The model’s chat template cannot be used: ${wordsOf(error)}`);
    }
  }

  /** The text of an answer, special tokens left out. @param {number[]} ids */
  decode(ids) {
    if (!ids.length) return "";
    const options = { skip_special_tokens: true, clean_up_tokenization_spaces: false };
    return this.encoder.decode(ids, options);
  }

  /**
   * One token on its own, for showing: lone bytes as \xE2, an id without a piece as [id].
   * @param {number} id
   */
  tokenText(id) {
    const piece = this.encoder.id_to_token(id);
    if (piece === undefined) return `[${id}]`;
    const options = { skip_special_tokens: false, clean_up_tokenization_spaces: false };
    let text = this.encoder.decode([id], options);
    // SentencePiece's pieces lose their leading space when decoded alone.
    if (piece.startsWith("\u2581") && !text.startsWith(" ")) text = ` ${text}`;
    if (!text.includes(REPLACEMENT)) return text || piece;
    if (/^<0x[0-9A-F]{2}>$/.test(piece)) return `\\x${piece.slice(3, 5)}`;
    const bytes = [...piece].map((character) => BYTE_OF.get(character));
    if (bytes.includes(undefined)) return piece;
    return bytes.map((byte) => shownByte(byte ?? 0)).join("");
  }
}

/** @param {unknown} error on one line */
function wordsOf(error) {
  return String(error instanceof Error ? error.message : error).replace(/\s+/g, " ");
}

/** @param {number} byte */
function shownByte(byte) {
  const isPlain = byte >= 32 && byte < 127;
  return isPlain
    ? String.fromCharCode(byte)
    : `\\x${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}
