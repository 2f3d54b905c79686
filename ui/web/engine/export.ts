// Opens a model that `python -m sbd_core export web` wrote: its tokenizer, and the graph and weights of one engine.

import constants from "../constants.json" with { type: "json" };
import { parseObject } from "../core/json.ts";
import { requireSetting } from "./decoding/settings.ts";
import type { Calibration } from "./decoding/verify_rows.ts";
import { EngineError } from "./errors.ts";
import {
  decompress,
  type Engine,
  type Files,
  type Graph,
  type Manifest,
  type Rows,
} from "./files.ts";
import { Model, type Shape } from "./model.ts";
import type { Runtime } from "./runtime.ts";
import { SamplerHead } from "./sampling.ts";
import { Tokenizer } from "./tokenizer.ts";

const WEIGHTS_FILE = "weights.bin";
const TEMPLATE = "chat_template.jinja";
/** Number of parts to fetch at the same time. */
const AT_ONCE = 4;
/** Number of successive values of a row that share a scale. */
const BLOCK = 32;
/** Graph that tests products of 8-bit integers; see products_graph() in sbd_core/models/backends/onnx/build.py. */
const PRODUCTS = "products.onnx";
const NUM_PRODUCTS = 576;
const INEXACT = "This browser’s products of 8-bit integers are not exact, which the model needs.";

/** A model, its tokenizer, and what else decoding needs. */
export type Checkpoint = Awaited<ReturnType<typeof openExport>>;

/** Open an export. Raises EngineError with what is wrong. */
export async function openExport(
  runtime: Runtime,
  manifest: Manifest,
  files: Files,
  engine: Engine = "wasm",
) {
  const { name, config, graphs } = manifest;
  const graph = graphs[engine] ?? missing("graph for this engine");
  const read = (file: string) => files.read(file, manifest.files[file] ?? missing(file));
  const textOf = async (file: string) => new TextDecoder().decode(await read(file));
  const settings = jsonOf(await textOf("tokenizer_config.json"), "tokenizer_config.json");
  const own = TEMPLATE in manifest.files ? await textOf(TEMPLATE) : settings.chat_template;
  const vocabulary = jsonOf(await textOf("tokenizer.json"), "tokenizer.json");
  const tokenizer = new Tokenizer(vocabulary, settings, own ?? null);
  if (engine === "wasm" && PRODUCTS in manifest.files)
    await testProducts(runtime, await read(PRODUCTS));
  const code = await read(graph.file);
  const weights = await weightsOf(graph, manifest.part_bytes, read);
  const session = await runtime.session(code, { [WEIGHTS_FILE]: weights });
  requireSetting("repetition_penalty", config.repetition_penalty, "config.repetition_penalty");
  const shape = config as Shape & typeof config;
  const samplerSize = 2 * (config.sampler?.width ?? 0);
  const model = new Model(runtime, session, shape, samplerSize);
  return {
    name,
    model,
    tokenizer,
    maskId: config.mask_token_id as number | null, // null if the tokenizer has no mask token
    endIds: new Set<number>(config.end_token_ids), // tokens that end an answer
    repetitionPenalty: config.repetition_penalty as number, // for decodes that set none
    calibration: config.calibration as Calibration,
    samplerHead: graph.sampler && samplerHead(graph.sampler, weights, shape, samplerSize),
    numParameters: config.num_parameters as number,
    // Largest number of rows of a verify pass, unless the form says otherwise.
    usualRows: constants.usualRows[engine === "webgpu" ? "GPU" : "WebAssembly"],
  };
}

/** Test products of 8-bit integers. Raises EngineError if sums of the largest ones are not exact. */
async function testProducts(runtime: Runtime, graph: Uint8Array) {
  const session = await runtime.session(graph, {});
  for (const numRows of [1, 5, 17]) {
    const size = numRows * NUM_PRODUCTS;
    const address = runtime.allocate(size + 4);
    const isLargest = (i: number) => i < NUM_PRODUCTS || (i * 7919) % 13 < 6;
    const values = Array.from({ length: size }, (_, index) => (isLargest(index) ? 255 : 0));
    const x = runtime.tensor("uint8", [numRows, NUM_PRODUCTS], address + 4);
    const error = runtime.tensor("float32", [], address);
    x.values<Uint8Array>().set(values);
    error.values().fill(Number.NaN);
    await runtime.run(session, { x }, { error });
    const isExact = error.values()[0] === 0;
    for (const tensor of [x, error]) tensor.release();
    runtime.release(address);
    if (!isExact) throw new EngineError(INEXACT);
  }
}

/** Fetch the parts of a graph's weights, a few at a time, and join them. @param partBytes of each but the last */
async function weightsOf(
  { parts, bytes }: Graph,
  partBytes: number,
  read: (file: string) => Promise<Uint8Array<ArrayBuffer>>,
) {
  const weights = new Uint8Array(bytes);
  const waiting = parts.entries(); // one iterator for all workers, so that each part is read once
  const work = async () => {
    for (const [index, file] of waiting) {
      const place = index * partBytes;
      const part = new Uint8Array(await decompress(await read(file), file));
      if (part.length !== Math.min(partBytes, bytes - place)) missing(`whole ${file}`);
      weights.set(part, place);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return weights;
}

/** Make the sampler head from its tables beside a graph's weights. @param size rows of `ofToken` */
function samplerHead(
  tables: NonNullable<Graph["sampler"]>,
  weights: Uint8Array<ArrayBuffer>,
  { hidden, vocabulary }: Shape,
  size: number,
) {
  const floats = (place: number, count: number) =>
    new Float32Array(weights.slice(place, place + 4 * count).buffer);
  /** Return a function that returns the row of a token. */
  const rowsOf = ({ values, integers, scales }: Rows) => {
    if (values !== undefined) {
      const table = floats(values, vocabulary * hidden);
      return (id: number) => table.subarray(id * hidden, (id + 1) * hidden);
    }
    const table = new Int8Array(weights.slice(integers, integers + vocabulary * hidden).buffer);
    const steps = floats(scales, (vocabulary * hidden) / BLOCK);
    return (id: number) => {
      const row = new Float32Array(table.subarray(id * hidden, (id + 1) * hidden));
      return row.map((value, index) => value * steps[Math.floor((id * hidden + index) / BLOCK)]);
    };
  };
  const ofToken = floats(tables.of_token, size * hidden);
  const out = floats(tables.out, (size / 2) * hidden);
  const embedding = rowsOf(tables.embedding);
  return new SamplerHead({ ofToken, out, embedding, head: rowsOf(tables.head) }, hidden);
}

function missing(file: string): never {
  throw new EngineError(`The model’s export has no ${file}.`);
}

function jsonOf(text: string, name: string) {
  const found = parseObject(text);
  if (found) return found;
  throw new EngineError(`${name} is not a JSON object.`);
}
