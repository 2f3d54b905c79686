// An exported model, opened: what `python -m sbd_core export web` writes, read into the runtime.

import { USUAL_CALIBRATION } from "../decoding/draft_tree.js";
import { PENALTIES, requireNumber } from "../decoding/settings.js";
import { EngineError } from "../errors.js";
import { Model } from "../model.js";
import { SamplerHead } from "../sampler_head.js";
import { Tokenizer } from "../tokenizer.js";
import { between, Weights } from "./weights.js";

/** @import { Calibration, RowCosts } from "../decoding/draft_tree.js" */
/** @import { Shape } from "../model.js" */
/** @import { Runtime } from "../runtime.js" */
/** @import { Files, Manifest } from "./files.js" */

const WEIGHTS_FILE = "weights.bin";
const EMBEDDING = "model.embed_tokens.weight";
const HEAD = "lm_head.weight";
/** Parts fetched at once. */
const AT_ONCE = 4;
/** The graph of an export in int8 that tries out the products; see build.py. */
const PRODUCTS = "products.onnx";
const NUM_PRODUCTS = 576;
const INEXACT = "This browser’s products of 8-bit integers are not exact, which the model needs.";

/**
 * A model, its tokenizer, and what else decoding needs.
 * @typedef {object} Checkpoint
 * @property {string} name
 * @property {Model} model
 * @property {Tokenizer} tokenizer
 * @property {number | null} maskId
 * @property {Set<number>} endIds
 * @property {number[]} suppressedIds tokens that no answer may hold
 * @property {number} repetitionPenalty what a decode takes that names none
 * @property {Calibration} calibration
 * @property {SamplerHead | null} samplerHead
 * @property {number} numParameters
 * @property {RowCosts | null} rowCosts on this device, once they were measured
 * @property {(costs: RowCosts) => void} keepCosts for a later visit
 */

/**
 * Raises EngineError, which says what is wrong with the export.
 * @param {Runtime} runtime
 * @param {Manifest} manifest
 * @param {Files} files
 * @param {string} [engine] whose graph is taken
 * @returns {Promise<Checkpoint>}
 */
export async function openExport(runtime, manifest, files, engine = "wasm") {
  const { name, config, tensors, graphs } = manifest;
  const graph = graphs[engine] ?? missing("graph for this engine");
  /** @param {string} file */
  const text = async (file) => {
    const promised = manifest.files[file];
    return promised ? new TextDecoder().decode(await files.read(file, promised)) : null;
  };
  const settings = jsonOf(await text("tokenizer_config.json"), "tokenizer_config.json");
  const template = (await text("chat_template.jinja")) ?? settings.chat_template ?? null;
  const vocabulary = jsonOf((await text("tokenizer.json")) ?? missing("tokenizer.json"));
  const tokenizer = new Tokenizer(vocabulary, settings, template);
  const shape = shapeOf(config, jsonOf(await text("config.json"), "config.json"));
  const trial = engine === "wasm" && manifest.files[PRODUCTS];
  if (trial) await tryProducts(runtime, await files.read(PRODUCTS, trial));
  const graphFile = manifest.files[graph.file] ?? missing(graph.file);
  const code = await files.read(graph.file, graphFile);
  const weights = new Weights(tensors, await partsOf(manifest, files));
  const data = { [WEIGHTS_FILE]: weights.fileOf(graph) };
  const session = await runtime.session(code, data);
  const repetitionPenalty = config.repetition_penalty ?? 1;
  requireNumber("config.repetition_penalty", repetitionPenalty, ...PENALTIES);
  const model = new Model(runtime, session, shape, 2 * (config.sampler?.width ?? 0));
  return {
    name,
    model,
    tokenizer,
    maskId: config.mask_token_id ?? null,
    endIds: new Set(config.end_token_ids),
    suppressedIds: config.suppressed_ids ?? [],
    repetitionPenalty,
    calibration: { ...USUAL_CALIBRATION, ...config.calibration },
    samplerHead: config.sampler ? samplerHead(weights, shape) : null,
    numParameters: numParameters(manifest),
    rowCosts: null,
    keepCosts: () => {},
  };
}

/**
 * Raises EngineError where sums of the largest products of uint8 and int8 are cut off.
 * @param {Runtime} runtime
 * @param {Uint8Array} graph
 */
async function tryProducts(runtime, graph) {
  const session = await runtime.session(graph, {});
  for (const numRows of [1, 5, 17]) {
    const size = numRows * NUM_PRODUCTS;
    const place = runtime.allocate(size + 4);
    runtime.floats(place, 1).fill(Number.NaN);
    const values = runtime.bytes(place + 4, size);
    values.forEach((_, index) => {
      values[index] = index < NUM_PRODUCTS || (index * 7919) % 13 < 6 ? 255 : 0;
    });
    const x = runtime.tensor("uint8", [numRows, NUM_PRODUCTS], place + 4);
    const told = runtime.tensor("float32", [], place);
    await runtime.run(session, { x }, { error: told });
    const isExact = runtime.floats(place, 1)[0] === 0;
    for (const tensor of [x, told]) runtime.releaseTensor(tensor);
    runtime.release(place);
    if (!isExact) throw new EngineError(INEXACT);
  }
}

/**
 * The parts put together, a few fetched at once.
 * @param {Manifest} manifest
 * @param {Files} files
 */
async function partsOf({ parts }, files) {
  const data = new Uint8Array(parts.reduce((sum, { size }) => sum + size, 0));
  let place = 0;
  const waiting = parts.map((part) => {
    const own = { part, place };
    place += part.size;
    return own;
  });
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      data.set(await files.read(next.part.file, next.part), next.place);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return data;
}

/** @param {Weights} weights @param {Shape} shape */
function samplerHead(weights, { hidden }) {
  const headName = weights.has(HEAD) ? HEAD : EMBEDDING;
  const tables = weights.only([...new Set([EMBEDDING, headName])]);
  const rows = (/** @type {string} */ name) => (/** @type {number} */ id) =>
    tables.matrix(name, id, 1).values;
  return new SamplerHead(
    {
      ofToken: between(weights.matrix("sampler.into"), [hidden, 2 * hidden]).values,
      out: weights.matrix("sampler.out").values,
      embedding: rows(EMBEDDING),
      head: rows(headName),
    },
    hidden,
  );
}

/**
 * @param {Record<string, any>} config of the manifest
 * @param {Record<string, any>} own of the model's folder
 * @returns {Shape}
 */
function shapeOf(config, own) {
  return {
    numLayers: config.num_layers,
    hidden: config.hidden,
    numHeads: config.num_heads,
    numKvHeads: config.num_kv_heads,
    headSize: config.head_size,
    width: own.intermediate_size,
    vocabulary: config.vocabulary,
    maxPositions: config.max_positions,
    rotary: {
      frequencies: config.rotary.inverse_frequencies,
      scaling: config.rotary.scaling,
    },
    hasAdapter: config.has_adapter,
    blockRange: config.block_range ?? null,
  };
}

/** Facts of the model itself, without adapter and sampler head. @param {Manifest} manifest */
function numParameters({ tensors }) {
  const own = Object.entries(tensors).filter(([name]) => /^(model|lm_head)\./.test(name));
  const sizes = own.map(([, { shape }]) => shape.reduce((product, size) => product * size, 1));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** @param {string} file @returns {never} */
function missing(file) {
  throw new EngineError(`The model’s export has no ${file}.`);
}

/** @param {string | null} text @param {string} [name] @returns {Record<string, any>} */
function jsonOf(text, name = "tokenizer.json") {
  if (text === null) return {};
  try {
    const found = JSON.parse(text);
    if (typeof found === "object" && found !== null && !Array.isArray(found)) return found;
  } catch {
    // Said below: text that is no JSON is no object either.
  }
  throw new EngineError(`${name} is not a JSON object.`);
}
