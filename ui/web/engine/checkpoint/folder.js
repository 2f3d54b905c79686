// A model folder as `sbd train` leaves it, read into the kernel. Knows no network: who calls says
// how a file of the folder is read.

import { PENALTIES, requireNumber } from "../decoding/settings.js";
import { ArgumentError, ModelError } from "../errors.js";
import { Model } from "../model.js";
import { checkTemplate, encodePrompt, Tokenizer } from "../tokenizer.js";
import { SafetensorsFile } from "./safetensors.js";
import { readShape } from "./shape.js";
import { Weights } from "./weights.js";

/** @import { Kernel } from "../kernel.js" */
/** @import { Shape } from "./shape.js" */

const INDEX = "model.safetensors.index.json";
const WEIGHTS = "model.safetensors";

/** @typedef {(name: string) => Promise<ArrayBuffer | null>} ReadFile null where the folder has no such file */

/** A model, its tokenizer, and the special tokens that decoding needs. */
export class Checkpoint {
  /**
   * @param {string} name
   * @param {Model} model
   * @param {Tokenizer} tokenizer
   * @param {{ template: string | null, maskId: number | null, endIds: Set<number>, repetitionPenalty?: number }} rest
   */
  constructor(name, model, tokenizer, { template, maskId, endIds, repetitionPenalty = 1 }) {
    this.name = name;
    this.model = model;
    this.tokenizer = tokenizer;
    this.template = template;
    this.maskId = maskId;
    this.endIds = endIds;
    /** What a decode takes that names none. */
    this.repetitionPenalty = repetitionPenalty;
  }

  /**
   * @param {string} prompt
   * @param {boolean} isRaw without the chat template
   */
  encode(prompt, isRaw) {
    return encodePrompt(this.tokenizer, isRaw ? null : this.template, prompt);
  }
}

/**
 * Raises ModelError, which says what is wrong with the folder.
 * @param {string} name of the model
 * @param {Kernel} kernel
 * @param {ReadFile} read
 */
export async function readCheckpoint(name, kernel, read) {
  const config = await readJson(read, "config.json");
  const shape = readShape(config ?? missing("config.json"));
  const tokenizer = new Tokenizer(
    (await readJson(read, "tokenizer.json")) ?? missing("tokenizer.json"),
  );
  const settings = (await readJson(read, "tokenizer_config.json")) ?? {};
  const generation = (await readJson(read, "generation_config.json")) ?? {};
  const template = (await readText(read, "chat_template.jinja")) ?? settings.chat_template ?? null;
  checkTemplate(tokenizer, template);
  const weights = new Weights(kernel, shape);
  for await (const [file, data] of weightFiles(read)) {
    const found = new SafetensorsFile(data, file);
    for (const key of found.entries.keys()) {
      const tensor = found.tensor(key);
      if (tensor) weights.take(key, tensor);
    }
  }
  weights.finish();
  return new Checkpoint(name, new Model(kernel, shape, weights), tokenizer, {
    template,
    maskId: idOf(tokenizer, settings.mask_token, shape),
    endIds: endIds(generation, shape, idOf(tokenizer, settings.eos_token, shape)),
    repetitionPenalty: ownPenalty(generation.repetition_penalty ?? 1),
  });
}

/**
 * @param {string} file
 * @returns {never}
 */
function missing(file) {
  throw new ModelError(`The model’s folder has no ${file}.`);
}

/**
 * @param {ReadFile} read
 * @param {string} name
 */
async function readText(read, name) {
  const data = await read(name);
  return data ? new TextDecoder().decode(data) : null;
}

/**
 * @param {ReadFile} read
 * @param {string} name
 * @returns {Promise<Record<string, any> | null>}
 */
async function readJson(read, name) {
  const text = await readText(read, name);
  if (text === null) return null;
  try {
    const found = JSON.parse(text);
    if (typeof found === "object" && found !== null && !Array.isArray(found)) return found;
  } catch {
    // Said below: text that is no JSON is no object either.
  }
  throw new ModelError(`${name} is not a JSON object.`);
}

/**
 * The files of weights one by one: the one file, or else those that an index names.
 * @param {ReadFile} read
 * @returns {AsyncGenerator<[name: string, data: ArrayBuffer], void>}
 */
async function* weightFiles(read) {
  const whole = await read(WEIGHTS);
  if (whole) {
    yield [WEIGHTS, whole];
    return;
  }
  const index = (await readJson(read, INDEX)) ?? missing(WEIGHTS);
  const names = new Set(Object.values(index.weight_map ?? {}).map(String));
  for (const name of [...names].sort()) {
    if (!/^[\w.-]+$/.test(name)) throw new ModelError(`${INDEX} names a file outside the folder.`);
    yield [name, (await read(name)) ?? missing(name)];
  }
}

/**
 * @param {Tokenizer} tokenizer
 * @param {unknown} token text, or an object that holds it
 * @param {Shape} shape
 */
function idOf(tokenizer, token, shape) {
  const text =
    typeof token === "object" && token !== null ? /** @type {any} */ (token).content : token;
  const id = tokenizer.ids.get(String(text));
  return id !== undefined && id < shape.vocabulary ? id : null;
}

/** @param {unknown} value of generation_config.json */
function ownPenalty(value) {
  const name = "generation_config.repetition_penalty";
  try {
    requireNumber(name, value, ...PENALTIES);
  } catch (error) {
    throw new ModelError(error instanceof ArgumentError ? error.message : String(error));
  }
  return Number(value);
}

/**
 * Every id that ends an answer: of generation_config, else config, else tokenizer.
 * @param {Record<string, any>} generation
 * @param {Shape} shape
 * @param {number | null} ofTokenizer
 */
function endIds(generation, shape, ofTokenizer) {
  if (generation.eos_token_id != null) return new Set([generation.eos_token_id].flat());
  return new Set(shape.endIds.length ? shape.endIds : [ofTokenizer ?? []].flat());
}
