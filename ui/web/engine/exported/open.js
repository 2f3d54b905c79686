// Opens an exported model: reads what `python -m sbd_core export web` writes into the runtime.

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
const TEMPLATE = "chat_template.jinja";
/** The number of parts fetched at once. */
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
 * @property {number} repetitionPenalty the penalty of a decode that names none
 * @property {Calibration} calibration
 * @property {SamplerHead | null} samplerHead
 * @property {number} numParameters
 * @property {RowCosts | null} rowCosts costs on this device, once they were measured
 * @property {(costs: RowCosts) => void} keepCosts keeps them for a later visit
 */

/**
 * Open an export. Raises EngineError, which says what is wrong with it.
 * @param {Runtime} runtime
 * @param {Manifest} manifest
 * @param {Files} files
 * @param {string} [engine] the engine whose graph is taken
 * @returns {Promise<Checkpoint>}
 */
export async function openExport(runtime, manifest, files, engine = "wasm") {
  const { name, config, tensors, graphs } = manifest;
  const graph = graphs[engine] ?? missing("graph for this engine");
  /** @param {string} file */
  const read = (file) => files.read(file, manifest.files[file] ?? missing(file));
  /** @param {string} file */
  const textOf = async (file) => new TextDecoder().decode(await read(file));
  const settings = jsonOf(await textOf("tokenizer_config.json"), "tokenizer_config.json");
  const own = TEMPLATE in manifest.files ? await textOf(TEMPLATE) : settings.chat_template;
  const vocabulary = jsonOf(await textOf("tokenizer.json"), "tokenizer.json");
  const tokenizer = new Tokenizer(vocabulary, settings, own ?? null);
  const { intermediate_size: width } = jsonOf(await textOf("config.json"), "config.json");
  if (engine === "wasm" && PRODUCTS in manifest.files)
    await tryProducts(runtime, await read(PRODUCTS));
  const code = await read(graph.file);
  const weights = new Weights(tensors, await partsOf(manifest, files));
  const session = await runtime.session(code, { [WEIGHTS_FILE]: weights.fileOf(graph) });
  requireNumber("config.repetition_penalty", config.repetition_penalty, ...PENALTIES);
  const shape = /** @type {Shape} */ ({ ...config, width });
  const model = new Model(runtime, session, shape, 2 * (config.sampler?.width ?? 0));
  return {
    name,
    model,
    tokenizer,
    maskId: config.mask_token_id,
    endIds: new Set(config.end_token_ids),
    repetitionPenalty: config.repetition_penalty,
    calibration: config.calibration,
    samplerHead: config.sampler ? samplerHead(weights, shape.hidden) : null,
    numParameters: numParameters(manifest),
    rowCosts: null,
    keepCosts: () => {},
  };
}

/**
 * Try products of 8-bit integers. Raises EngineError where sums of the largest ones are cut off.
 * @param {Runtime} runtime
 * @param {Uint8Array} graph
 */
async function tryProducts(runtime, graph) {
  const session = await runtime.session(graph, {});
  for (const numRows of [1, 5, 17]) {
    const size = numRows * NUM_PRODUCTS;
    const place = runtime.allocate(size + 4);
    runtime.floats(place, 1).fill(Number.NaN);
    const isLargest = (/** @type {number} */ i) => i < NUM_PRODUCTS || (i * 7919) % 13 < 6;
    const values = Array.from({ length: size }, (_, index) => (isLargest(index) ? 255 : 0));
    runtime.bytes(place + 4, size).set(values);
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
  const waiting = parts.values(); // shared, so that each part is read once
  let next = 0;
  const work = async () => {
    for (const part of waiting) {
      const place = next;
      next += part.size;
      data.set(await files.read(part.file, part), place);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return data;
}

/** The sampler head of the stored tensors. @param {Weights} weights @param {number} hidden */
function samplerHead(weights, hidden) {
  const ofToken = between(weights.matrix("sampler.into"), [hidden, 2 * hidden]).values;
  const out = weights.matrix("sampler.out").values;
  const embedding = weights.rowsOf(EMBEDDING);
  const head = HEAD in weights.tensors ? weights.rowsOf(HEAD) : embedding;
  return new SamplerHead({ ofToken, out, embedding, head }, hidden);
}

/** The size of the model itself, without adapter and sampler head. @param {Manifest} manifest */
function numParameters({ tensors }) {
  const own = Object.entries(tensors).filter(([name]) => /^(model|lm_head)\./.test(name));
  const sizes = own.map(([, { shape }]) => shape.reduce((product, size) => product * size, 1));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** @param {string} file @returns {never} */
function missing(file) {
  throw new EngineError(`The model’s export has no ${file}.`);
}

/** The JSON object that a file holds. @param {string} text @param {string} name @returns {Record<string, any>} */
function jsonOf(text, name) {
  try {
    const found = JSON.parse(text);
    if (typeof found === "object" && found !== null && !Array.isArray(found)) return found;
  } catch {
    // Said below: text that is no JSON is no object either.
  }
  throw new EngineError(`${name} is not a JSON object.`);
}
