// One line of the wire as a value. Python writes the lines, see its view model: token texts travel
// once, everywhere else a token is an index; entropies and probabilities count 1 / WIRE_UNITS, times
// microseconds, and empty fields are left out. Knows no DOM.

import constants from "../../constants.json" with { type: "json" };
import { MAX_POSITIONS } from "../limits.js";

export const WIRE_UNITS = constants.wireUnits;

/** @typedef {{ name: string, gamma?: number, [parameter: string]: string | number | undefined }} Solver */
/** @typedef {{ token: number, probability: number }} Top one of the best candidates */
/** @typedef {{ position: number, entropy: number, top: Top[] }} Masked entropy in nats */
/** @typedef {{ position: number, token: number, rank: number, probability: number }} Reveal */
/** @typedef {{ position: number, probability: number, argmax: number, argmaxProbability: number }} Hindsight */
/** @typedef {{ start: number, size: number }} Block in positions of the answer */
/**
 * A draft made ahead for the case that the drafted token at `position` is thrown away; its tokens
 * stand behind the exact one that comes there instead. size: positions predicted.
 * @typedef {{ position: number, size: number, isUsed: boolean, tokens: number[] }} Predraft
 */
/** @typedef {{ rows: number, flops: number, weightBytes: number, cacheBytes: number }} Cost */

/**
 * What a line may say, by its type.
 * @typedef {object} WireLine
 * @property {string} run
 * @property {number} seq
 * @property {"run" | "step" | "end" | "timing"} type
 * @property {[id: number, text: string][]} [tokens]
 * @property {string} [lane]
 * @property {string} [prompt]
 * @property {string} [model]
 * @property {string[]} [lanes]
 * @property {string} [strategy]
 * @property {Solver} [solver]
 * @property {number} [block_size]
 * @property {number} [max_new_tokens]
 * @property {number} [seed]
 * @property {number} [num_predrafts]
 * @property {number} [draft_threshold]
 * @property {string} [row_policy] fixed where it is not said
 * @property {number} [repetition_penalty] 1 where it is not said
 * @property {string} [ask]
 * @property {number[]} [ends] ids of the tokens that end an answer
 * @property {boolean} [is_recorded]
 * @property {[offset: number, token: number][]} [pinned]
 * @property {number[]} [read] tokens of the prompt as the model reads it
 * @property {number} [value_bytes] of a weight
 * @property {number} [output_weights] of the output layer
 * @property {number} [pair_flops] operations of attention for a query and a key, in all layers
 * @property {string} [kind]
 * @property {[cached: number, causal: number]} [context]
 * @property {[start: number, size: number]} [block]
 * @property {number[][]} [masked]
 * @property {number[][]} [reveals]
 * @property {number[]} [committed]
 * @property {number[]} [draft]
 * @property {number[][]} [predrafts]
 * @property {number[][]} [hindsight]
 * @property {number} [time]
 * @property {[rows: number, flops: number, weights: number, cache: number]} [cost]
 * @property {string} [finish]
 * @property {string} [text]
 * @property {string} [about] what to look at in a recorded run
 * @property {[name: string, digest: string][]} [weights] of the model, then of its base if it is an adapter
 * @property {Verdict} [verdict]
 * @property {number[]} [times] of the whole run, each time that it was made again
 * @property {number[]} [ntp_times] of next-token prediction, likewise
 */

/** @typedef {{ right: boolean | null, words: string }} Verdict on a lane's whole answer; null: its checker was not run, the words say why */

/**
 * One forward pass.
 * @typedef {object} Step
 * @property {string} kind
 * @property {number} cached tokens in the KV cache before it
 * @property {number} causal tokens it read causally
 * @property {Block} block
 * @property {Map<number, Masked>} masked
 * @property {Reveal[]} reveals in the solver's order
 * @property {number[]} committed
 * @property {number[]} draft
 * @property {Predraft[]} predrafts
 * @property {Hindsight[]} hindsight
 * @property {number} seconds of the engine
 * @property {Cost | null} cost null where the model's shape is not known
 */

/**
 * [position, entropy, token, probability, token, ...]
 * @param {number[]} row
 * @returns {Masked}
 */
function readMasked([position = 0, entropy = 0, ...flat]) {
  /** @type {Top[]} */
  const top = [];
  for (let i = 0; i + 1 < flat.length; i += 2) {
    top.push({ token: flat[i] ?? 0, probability: (flat[i + 1] ?? 0) / WIRE_UNITS });
  }
  return { position, entropy: entropy / WIRE_UNITS, top };
}

/**
 * @param {number[]} row
 * @returns {Hindsight}
 */
function readHindsight([position = 0, probability = 0, argmax = 0, argmaxProbability = 0]) {
  return {
    position,
    probability: probability / WIRE_UNITS,
    argmax,
    argmaxProbability: argmaxProbability / WIRE_UNITS,
  };
}

/**
 * @param {[start: number, size: number]} block
 * @returns {Block}
 */
function readBlock([start, size]) {
  return { start: Math.min(start, MAX_POSITIONS), size: Math.min(size, MAX_POSITIONS) };
}

/**
 * @param {WireLine["cost"]} cost
 * @returns {Cost | null}
 */
function readCost(cost) {
  if (!cost) return null;
  const [rows, flops, weightBytes, cacheBytes] = cost;
  return { rows, flops, weightBytes, cacheBytes };
}

/**
 * What a model's costs are made of, null where the run does not say it.
 * @typedef {{ valueBytes: number, outputWeights: number, pairFlops: number }} Sizes
 * @param {Pick<WireLine, "value_bytes" | "output_weights" | "pair_flops">} line
 * @returns {Sizes | null}
 */
export function readSizes({ value_bytes, output_weights, pair_flops }) {
  if (!value_bytes || !output_weights || !pair_flops) return null;
  return { valueBytes: value_bytes, outputWeights: output_weights, pairFlops: pair_flops };
}

/**
 * The forward pass that a line of type "step" describes.
 * @param {WireLine} line
 * @returns {Step}
 */
export function readStep(line) {
  const masked = new Map((line.masked ?? []).map(readMasked).map((item) => [item.position, item]));
  /** @param {number} position @param {number} token */
  const recorded = (position, token) =>
    masked.get(position)?.top.find((entry) => entry.token === token)?.probability ?? 0;
  return {
    kind: line.kind ?? "decode",
    cached: line.context?.[0] ?? 0,
    causal: line.context?.[1] ?? 0,
    block: readBlock(line.block ?? [0, 0]),
    masked,
    reveals: (line.reveals ?? []).map(([position = 0, token = 0, probability], rank) => ({
      position,
      token,
      rank,
      probability: probability === undefined ? recorded(position, token) : probability / WIRE_UNITS,
    })),
    committed: line.committed ?? [],
    draft: line.draft ?? [],
    predrafts: (line.predrafts ?? []).map(([position = 0, size = 0, isUsed = 0, ...tokens]) => ({
      position,
      size,
      isUsed: isUsed === 1,
      tokens,
    })),
    hindsight: (line.hindsight ?? []).map(readHindsight),
    seconds: (line.time ?? 0) / 1e6,
    cost: readCost(line.cost),
  };
}
