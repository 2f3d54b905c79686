// Converts text to token ids and back, and fills in the chat template, as sbd_core/models/chat.py does, with Hugging
// Face's libraries for JavaScript. What people type is plain text: only the template gives control tokens.

import { Template } from "@huggingface/jinja";
import { Tokenizer as Encoder } from "@huggingface/tokenizers";
import { randomId } from "../core/random.ts";
import { EngineError } from "./errors.ts";

/** Matches an added token that is no word, emoji or run of spaces: <tool_call>, [INST], <|fim_prefix|>. */
const CONTROL = /^[^\p{L}\p{N}_\s].*[\p{L}\p{N}_].*[^\p{L}\p{N}_\s]$/su;
const REPLACEMENT = "\ufffd";
const NAMES = ["bos_token", "eos_token", "unk_token", "pad_token", "mask_token"];
const NO_CONTROLS = { add_special_tokens: false };

/** Bytes by the printable letters that byte-level BPE writes for them. */
const BYTE_OF: Map<string, number> = new Map();
for (let byte = 0, next = 256; byte < 256; byte += 1) {
  const isPrintable = /[!-~¡-¬®-ÿ]/.test(String.fromCharCode(byte));
  BYTE_OF.set(String.fromCharCode(isPrintable ? byte : next), byte);
  if (!isPrintable) next += 1;
}

export class Tokenizer {
  encoder: Encoder;
  withoutControls: Encoder;
  template: Template | null;
  special: string[];
  controls: string[];
  tokens: { [k: string]: string };

  /** Read a tokenizer. Raises EngineError if that fails. */
  constructor(file: Record<string, any>, settings: Record<string, any>, template: string | null) {
    const added = (file.added_tokens ?? []) as { content: string; special: boolean }[];
    this.special = added.filter(({ special }) => special).map(({ content }) => content);
    this.controls = added
      .map(({ content }) => content)
      .filter((content) => this.special.includes(content) || CONTROL.test(content));
    const letters = added.filter(({ content }) => !this.controls.includes(content));
    try {
      this.encoder = new Encoder(file, settings);
      this.withoutControls = new Encoder({ ...file, added_tokens: letters }, settings);
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

  /** Return the token ids of a text. What looks like a control token in it is plain text. */
  encode(text: string) {
    return this.withoutControls.encode(text, NO_CONTROLS).ids;
  }

  /** Return the token ids of a prompt as the user's turn. Raises EngineError if the chat template cannot be used. */
  encodePrompt(prompt: string, isRaw: boolean) {
    if (isRaw || !this.template) return [...this.beginning(), ...this.encode(prompt)];
    const words = prompt.trim();
    const isHeld = this.controls.some((control) => prompt.includes(control));
    // Text that looks like a control token is kept out of the template and encoded separately.
    const mark = isHeld ? randomId(32) : words;
    const text = this.rendered(prompt.replace(words, () => mark));
    if (!text.includes(mark)) {
      throw new EngineError("The model’s chat template leaves out what the user says.");
    }
    const own = (part: string) => this.encoder.encode(part, NO_CONTROLS).ids;
    if (!isHeld) return own(text);
    // Spaces around the words belong to the prompt, unless the template has removed them.
    const [lead, trail] = prompt.split(words);
    const ids: number[] = [];
    let place = 0;
    for (const { 0: held, index } of text.matchAll(RegExp(`(${lead})?${mark}(${trail})?`, "g"))) {
      const content = held.replace(mark, () => words);
      ids.push(...own(text.slice(place, index)), ...this.encode(content));
      place = index + held.length;
    }
    return [...ids, ...own(text.slice(place))];
  }

  /** Return the tokens that begin every text, without an end token. */
  beginning() {
    const { ids } = this.encoder.encode("", { add_special_tokens: true });
    const end = this.encoder.token_to_id(this.tokens.eos_token ?? "");
    return ids.at(-1) === end ? ids.slice(0, -1) : ids;
  }

  /** Return the chat template filled in with the user's turn. */
  rendered(content: string) {
    try {
      const messages = [{ role: "user", content }];
      return this.template?.render({ messages, add_generation_prompt: true, ...this.tokens }) ?? "";
    } catch (error) {
      throw new EngineError(`The model’s chat template cannot be used: ${wordsOf(error)}`);
    }
  }

  /** Return the text of an answer, without special tokens. */
  decode(ids: number[]) {
    if (!ids.length) return "";
    const options = { skip_special_tokens: true, clean_up_tokenization_spaces: false };
    return this.encoder.decode(ids, options);
  }

  /** Return the text of one token for display: a byte that is no whole character as \xE2, an unknown id as [id]. */
  tokenText(id: number) {
    const piece = this.encoder.id_to_token(id);
    if (piece === undefined) return `[${id}]`;
    const options = { skip_special_tokens: false, clean_up_tokenization_spaces: false };
    let text = this.encoder.decode([id], options);
    // Pieces of SentencePiece lose their leading space when decoded alone.
    if (piece.startsWith("\u2581") && !text.startsWith(" ")) text = ` ${text}`;
    if (!text.includes(REPLACEMENT)) return text || piece;
    if (/^<0x[0-9A-F]{2}>$/.test(piece)) return `\\x${piece.slice(3, 5)}`;
    const letters = [...piece];
    if (!letters.every((letter) => BYTE_OF.has(letter))) return piece;
    return letters.map((letter) => shownByte(Number(BYTE_OF.get(letter)))).join("");
  }
}

function wordsOf(error: unknown) {
  return String(error instanceof Error ? error.message : error).replace(/\s+/g, " ");
}

/** Return a byte as its ASCII character, or as \xE2. */
function shownByte(byte: number) {
  if (byte >= 32 && byte < 127) return String.fromCharCode(byte);
  return `\\x${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}
