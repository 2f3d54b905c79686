// What config.json says of a model, checked: only Llama-shaped ones run here.

import { ModelError, shown } from "../errors.js";

const MODEL_TYPES = ["llama", "mistral"];
const MAX_PARAMETERS = 100e6;
const DEFAULT_THETA = 10000;

/**
 * @typedef {object} Rotary
 * @property {"default" | "linear" | "llama3"} type
 * @property {number} theta
 * @property {Record<string, number>} parameters of the type
 */

/**
 * Sizes of a Llama-shaped model.
 * @typedef {object} Shape
 * @property {number} numLayers
 * @property {number} hidden
 * @property {number} numHeads
 * @property {number} numKvHeads
 * @property {number} headSize
 * @property {number} width of the feed-forward part
 * @property {number} vocabulary
 * @property {number} maxPositions
 * @property {number} epsilon of the norms
 * @property {boolean} isTied the head is the embedding
 * @property {Rotary} rotary
 * @property {number[]} endIds of config.json
 * @property {[low: number, high: number] | null} blockRange block sizes it was trained on
 */

/**
 * Raises ModelError for a model that cannot run here.
 * @param {Record<string, any>} config
 * @returns {Shape}
 */
export function readShape(config) {
  refuseOthers(config);
  const numHeads = whole(config, "num_attention_heads");
  const hidden = whole(config, "hidden_size");
  const shape = {
    numLayers: whole(config, "num_hidden_layers"),
    hidden,
    numHeads,
    numKvHeads:
      config.num_key_value_heads == null ? numHeads : whole(config, "num_key_value_heads"),
    headSize: config.head_dim == null ? hidden / numHeads : whole(config, "head_dim"),
    width: whole(config, "intermediate_size"),
    vocabulary: whole(config, "vocab_size"),
    maxPositions: whole(config, "max_position_embeddings"),
    epsilon: config.rms_norm_eps ?? 1e-6,
    isTied: config.tie_word_embeddings === true,
    rotary: readRotary(config),
    endIds: [config.eos_token_id ?? []].flat(),
    blockRange: readBlockRange(config.set_block_decoding),
  };
  const isEven = Number.isInteger(shape.headSize) && shape.headSize % 2 === 0;
  if (!isEven || numHeads % shape.numKvHeads)
    throw new ModelError("config.json: its heads do not fit.");
  if (numParameters(shape) > MAX_PARAMETERS) {
    throw new ModelError(
      `The model has ${(numParameters(shape) / 1e6).toFixed(0)} M parameters; at most 100 M run in a browser.`,
    );
  }
  return shape;
}

/** @param {Shape} shape */
export function numParameters({
  numLayers,
  hidden,
  numHeads,
  numKvHeads,
  headSize,
  width,
  vocabulary,
  isTied,
}) {
  const attention = hidden * headSize * (2 * numHeads + 2 * numKvHeads);
  const layer = attention + 3 * hidden * width + 2 * hidden;
  return numLayers * layer + hidden + vocabulary * hidden * (isTied ? 1 : 2);
}

/** @param {Record<string, any>} config */
function refuseOthers(config) {
  if (!MODEL_TYPES.includes(config.model_type)) {
    throw new ModelError(
      `The model is of type ${shown(config.model_type)}; only ${MODEL_TYPES.join(" and ")} run in a browser.`,
    );
  }
  const kinds = config.layer_types ?? ["full_attention"];
  const hasWindow = config.sliding_window != null && config.use_sliding_window !== false;
  if (hasWindow || kinds.some((/** @type {string} */ kind) => kind !== "full_attention")) {
    throw new ModelError(
      "The model has layers that do not attend to everything, which cannot run here.",
    );
  }
  if (config.hidden_act !== "silu" || config.attention_bias || config.mlp_bias) {
    throw new ModelError(
      "The model has biases or another activation than SiLU, which cannot run here.",
    );
  }
}

/**
 * @param {Record<string, any>} config
 * @param {string} name
 */
function whole(config, name) {
  const value = config[name];
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new ModelError(
      `config.json: ${name} must be a whole number above 0; it is ${shown(value)}.`,
    );
  }
  return value;
}

/**
 * @param {Record<string, any>} config of today's transformers, or of those before rope_parameters
 * @returns {Rotary}
 */
function readRotary(config) {
  const parameters = config.rope_parameters ?? config.rope_scaling ?? {};
  const type = parameters.rope_type ?? parameters.type ?? "default";
  if (!["default", "linear", "llama3"].includes(type)) {
    throw new ModelError(
      `The model’s rotary embedding is of type ${shown(type)}, which cannot run here.`,
    );
  }
  const theta = parameters.rope_theta ?? config.rope_theta ?? DEFAULT_THETA;
  return { type, theta, parameters };
}

/**
 * @param {any} found
 * @returns {[number, number] | null}
 */
function readBlockRange(found) {
  if (found == null) return null;
  const { min_block_size: low, max_block_size: high } = found;
  if (!(1 <= low && low <= high))
    throw new ModelError("config.json: set_block_decoding is malformed.");
  return [low, high];
}
