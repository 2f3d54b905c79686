// The roofline of the paper's Sec. 4: how long a forward pass takes by the model's shape and the rates of a device, as
// sbd_core/roofline.py computes it, and by times that were measured. Knows no DOM.

import { requireNumber } from "../engine/decoding/settings.ts";
import { ArgumentError } from "../engine/errors.ts";
import type { Device } from "./cost.ts";
import type { Shape } from "./run.ts";

/** Whose widths of matrices count: the paper's own, or the model's. */
export type Mode = "published" | "corrected";

/** What forward passes run on. cache: tokens in the KV cache of each text. batch: number of texts. */
export type Setup = {
  shapes: Record<Mode, Shape>;
  device: Device;
  cache: number;
  batch: number;
};

/** Seconds that moving the bytes of an operation takes, and computing it; they overlap. */
type Halves = [moving: number, computing: number];

/** Return (input width, output width) of each linear layer in a transformer layer. */
function matricesOf(shape: Shape, mode: Mode): [number, number][] {
  const { hidden_size: hidden, feed_forward_size: wide } = shape;
  const heads = shape.num_heads * shape.head_size;
  const isPublished = mode === "published";
  const keys = shape.num_kv_heads * (isPublished ? shape.num_heads : shape.head_size);
  const count = isPublished ? 2 : shape.num_feed_forward_matrices;
  const feedForward = Array<[number, number]>(count).fill([
    hidden,
    isPublished ? hidden * wide : wide,
  ]);
  return [...feedForward, [hidden, heads], [hidden, keys], [hidden, keys], [heads, hidden]];
}

/** Return the widths of the feed-forward, and of keys as of values. */
export function widthsOf({ shapes }: Setup, mode: Mode) {
  const matrices = matricesOf(shapes[mode], mode);
  return { feedForward: matrices[0]?.[1] ?? 0, keys: matrices.at(-2)?.[1] ?? 0 };
}

function productOf(rows: number, inner: number, outer: number, device: Device): Halves {
  const moved = (rows * inner + inner * outer + rows * outer) * device.valueBytes;
  return [moved / device.bandwidth, (2 * rows * inner * outer) / device.flops];
}

/** Fused attention, which moves queries, keys, values and the output once. @param cache keys of each text */
function attentionOf(rows: number, cache: number, shape: Shape, { device, batch }: Setup): Halves {
  const heads = shape.num_heads * shape.head_size;
  const cached = batch * cache * shape.num_kv_heads * shape.head_size;
  const moved = 2 * (rows * heads + cached) * device.valueBytes;
  return [moved / device.bandwidth, (4 * rows * cache * heads) / device.attentionFlops];
}

/**
 * Compute the time of all layers in a forward pass.
 * @returns seconds, of which each operation takes its longer half; moving, computing: the sums of both halves
 */
export function passTime(size: number, setup: Setup, mode: Mode = "corrected") {
  const shape = setup.shapes[mode];
  const rows = size * setup.batch;
  const operations = [
    ...matricesOf(shape, mode).map(([inner, outer]) => productOf(rows, inner, outer, setup.device)),
    attentionOf(rows, setup.cache, shape, setup),
  ];
  const sum = (part: (halves: Halves) => number) =>
    shape.num_layers * operations.reduce((total, halves) => total + part(halves), 0);
  const [moving, computing] = [sum(([bytes]) => bytes), sum(([, flops]) => flops)];
  const seconds = sum((halves) => Math.max(...halves));
  return { seconds, moving, computing, isMemoryBound: moving >= computing };
}

/** Compute the seconds of a forward pass that passTime() leaves out, as the paper does. */
export function timeLeftOut(size: number, setup: Setup) {
  const { shapes, device, cache, batch } = setup;
  const shape = shapes.corrected;
  const rows = size * batch;
  const outputLayer = Math.max(
    ...productOf(rows, shape.hidden_size, shape.vocabulary_size, device),
  );
  const [short, long] = [cache, cache + size].map((keys) =>
    Math.max(...attentionOf(rows, keys, shape, setup)),
  ) as [number, number];
  return { outputLayer, ownKeys: shape.num_layers * (long - short) };
}

/** Compute how much longer a forward pass over `size` rows of each text takes than one over a single row. */
export function slowdown(size: number, setup: Setup, mode: Mode = "corrected") {
  return passTime(size, setup, mode).seconds / passTime(1, setup, mode).seconds;
}

/**
 * Compute the speed-up over next-token prediction by Eq. 16.
 * @param tokens that a forward pass reveals on average
 * @param seconds of a forward pass over a number of rows
 */
function equation16(block: number, tokens: number, seconds: (size: number) => number) {
  const passes = block / tokens;
  return (block * seconds(1)) / (seconds(2 * block) + (passes - 1) * seconds(block));
}

export function speedup(block: number, tokens: number, setup: Setup, mode: Mode = "corrected") {
  return equation16(block, tokens, (size) => passTime(size, setup, mode).seconds);
}

const [FREE_SLOWDOWN, MOST_FREE] = [1.05, 4096];

/** Return the largest number of rows that take at most 5 % longer than one. */
export function freeRows(setup: Setup) {
  let free = 1;
  while (free < MOST_FREE && slowdown(free + 1, setup) <= FREE_SLOWDOWN) free += 1;
  return free;
}

/** Return the bytes of the weights, and of the keys and values of all texts. */
export function memoryOf({ shapes: { corrected: shape }, device, cache, batch }: Setup) {
  const sizes = matricesOf(shape, "corrected").map(([inner, outer]) => inner * outer);
  const layer = sizes.reduce((sum, size) => sum + size, 0);
  const weights = shape.num_layers * layer + shape.vocabulary_size * shape.hidden_size;
  const keys = shape.num_kv_heads * shape.head_size;
  return {
    weights: weights * device.valueBytes,
    cached: 2 * shape.num_layers * keys * cache * batch * device.valueBytes,
  };
}

/** Seconds of forward passes that were timed, by tokens in the KV cache and by rows. */
export type Times = Record<string, Record<string, number>>;

/** Return the keys as numbers, the smallest first. */
export function sortedKeys(known: object) {
  return Object.keys(known)
    .map(Number)
    .sort((a, b) => a - b);
}

/** Interpolate linearly; `at` is between the smallest and the largest key. */
function between(known: Record<string, number>, at: number) {
  const places = sortedKeys(known);
  const above = places.find((place) => place >= at) ?? at;
  const below = places.findLast((place) => place <= at) ?? at;
  const share = above === below ? 0 : (at - below) / (above - below);
  return (1 - share) * (known[below] ?? NaN) + share * (known[above] ?? NaN);
}

/** Return the measured seconds of a forward pass; both numbers must be in the range that was timed. */
export function measuredSeconds(times: Times, size: number, cache: number) {
  const rows = Object.entries(times).map(([length, row]) => [length, between(row, size)]);
  return between(Object.fromEntries(rows), cache);
}

export function measuredSpeedup(times: Times, block: number, tokens: number, cache: number) {
  return equation16(block, tokens, (size) => measuredSeconds(times, size, cache));
}

const MAX_SIZE = 1e9;
/** Families with two feed-forward matrices, 4 times the hidden size wide if the config does not say. */
const WITHOUT_GATE = "gpt2 gpt_neox gptj opt bloom phi starcoder2 nemotron".split(" ");
const EXPERTS = ["num_local_experts", "num_experts", "n_routed_experts"];

/** Read a model's shape from its config. Throws ArgumentError unless it is of a decoder of equal dense layers. */
export function shapeOfConfig(config: Record<string, unknown>): Shape {
  const get = (...names: string[]) =>
    names.map((name) => config[name]).find((value) => value != null);
  const wrong = (why: string) => {
    const rule = `must be the config of a decoder of dense layers; this one ${why}`;
    return new ArgumentError("model", rule, get("model_type") ?? "?");
  };
  function whole(name: string, value: unknown) {
    requireNumber(name, value, 1, MAX_SIZE, "whole");
    return Number(value);
  }
  function size(...names: [string, ...string[]]) {
    const value = get(...names);
    if (value === undefined) throw wrong(`has no ${names[0]}`);
    return whole(names[0], value);
  }
  if (get("is_encoder_decoder")) throw wrong("is of an encoder and a decoder");
  if (EXPERTS.some((name) => config[name]))
    throw wrong("has several experts, of which a token uses some");
  const hidden = size("hidden_size", "n_embd", "d_model");
  const heads = size("num_attention_heads", "n_head", "num_heads");
  const hasGate = !WITHOUT_GATE.includes(String(get("model_type")));
  const wide = get("intermediate_size", "n_inner", "ffn_dim");
  if (wide === undefined && hasGate) throw wrong("has no intermediate_size");
  return {
    hidden_size: hidden,
    feed_forward_size: whole("intermediate_size", wide ?? 4 * hidden),
    num_heads: heads,
    num_kv_heads: whole("num_key_value_heads", get("num_key_value_heads") ?? heads),
    head_size: whole("head_dim", get("head_dim") || Math.floor(hidden / heads)),
    num_feed_forward_matrices: hasGate ? 3 : 2,
    num_layers: size("num_hidden_layers", "n_layer", "num_layers"),
    vocabulary_size: size("vocab_size"),
    bytes_per_value: 2,
  };
}
