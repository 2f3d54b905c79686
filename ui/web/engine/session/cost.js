// What a forward pass costs, from the model's sizes and what it read: sbd_core/cost/forward_cost.py.

/** @import { Shape } from "../checkpoint/shape.js" */
/** @import { StepEvent } from "../decoding/state.js" */

export const BYTES_PER_VALUE = 4;

/**
 * The model's sizes as a trace holds them.
 * @param {Shape} shape
 */
export function shapeData(shape) {
  return {
    hidden_size: shape.hidden,
    feed_forward_size: shape.width,
    num_heads: shape.numHeads,
    num_kv_heads: shape.numKvHeads,
    head_size: shape.headSize,
    num_feed_forward_matrices: 3,
    num_layers: shape.numLayers,
    vocabulary_size: shape.vocabulary,
    bytes_per_value: BYTES_PER_VALUE,
  };
}

/**
 * Weights of the output layer, and operations of attention for a query and a key in all layers.
 * @param {Shape} shape
 */
export function costParts({ hidden, vocabulary, numLayers, numHeads, headSize }) {
  return {
    output_weights: hidden * vocabulary,
    pair_flops: 4 * numLayers * numHeads * headSize,
  };
}

/**
 * Rows, floating-point operations, bytes of weights and bytes of the cache.
 * @param {Shape} shape
 * @param {StepEvent} event
 * @param {string} strategy
 * @param {number} numPrompt tokens
 */
export function eventCost(shape, event, strategy, numPrompt) {
  const { numCached, numCausal } = event;
  const blocks = blocksOf(event, strategy, numPrompt);
  const numBlock = blocks.reduce((sum, { size }) => sum + size, 0);
  const rows = numCausal + numBlock;
  let pairs = numCausal * numCached + (numCausal * (numCausal + 1)) / 2;
  for (const { seen, size } of blocks) pairs += size * (numCached + seen + size);
  const { hidden, width, numLayers, vocabulary } = shape;
  const queries = shape.numHeads * shape.headSize;
  const keys = shape.numKvHeads * shape.headSize;
  const layer = hidden * (3 * width + 2 * queries + 2 * keys);
  const numLogits = (event.kind === "prefill" ? 1 : numCausal) + numBlock;
  const products =
    numLayers * (rows * layer + 2 * pairs * queries) + numLogits * hidden * vocabulary;
  const weights = numLayers * layer + vocabulary * hidden;
  const cached = 2 * numLayers * numCached * keys;
  return [rows, 2 * products, weights * BYTES_PER_VALUE, cached * BYTES_PER_VALUE];
}

/**
 * Causal tokens seen and size of every block that the forward pass read.
 * @param {StepEvent} event
 * @param {string} strategy
 * @param {number} numPrompt
 */
function blocksOf({ block, predrafts, numCausal, numCached }, strategy, numPrompt) {
  if (strategy === "ntp") return [];
  const known = numPrompt - numCached;
  const early = predrafts.map(({ block: span }) => ({ seen: known + span.start, size: span.size }));
  return block.size ? [{ seen: numCausal, size: block.size }, ...early] : early;
}
