// The cost of a forward pass, from the model's shape and what it read, as sbd_core/cost.py has it;
// and what a device's roofline allows for that. Knows no DOM.

import constants from "../constants.json" with { type: "json" };
import { blocksOf } from "./mask.js";

/** @import { Shape, Step } from "./run.js" */

/** @typedef {{ name: string, flops: number, attentionFlops: number, bandwidth: number, valueBytes: number, source: string }} Device */

/** @type {Map<string, Device>} by key */
export const DEVICES = new Map(Object.entries(constants.devices));

/**
 * A device that only this page knows, as the machine that it was measured on.
 * @param {string} key
 * @param {Device} device
 */
export function addDevice(key, device) {
  DEVICES.set(key, device);
}

/**
 * valueBytes: of a weight. numPredicted: rows for which it predicts, which alone meet the output
 * layer: behind the last token of the prompt and at the masks. attention, output, ownKeys: of flops,
 * those of attention, of the output layer, and of attention to the keys of the rows read.
 * @typedef {object} Cost
 * @property {number} rows
 * @property {number} numPredicted
 * @property {number} flops
 * @property {number} attention
 * @property {number} output
 * @property {number} ownKeys
 * @property {number} valueBytes
 * @property {number} weightBytes
 * @property {number} outputBytes
 * @property {number} cacheBytes
 */

/**
 * @param {Shape} shape
 * @param {Pick<Step, "kind" | "block" | "cached" | "causal" | "predrafts">} step
 * @param {string} strategy
 * @param {number} numPrompt tokens
 * @returns {Cost}
 */
export function costOf(shape, step, strategy, numPrompt) {
  const { cached, causal } = step;
  const blocks = blocksOf(step, strategy, numPrompt);
  const numBlock = blocks.reduce((sum, { size }) => sum + size, 0);
  const rows = causal + numBlock;
  const numPredicted = (step.kind === "prefill" ? 1 : causal) + numBlock;
  let pairs = causal * cached + (causal * (causal + 1)) / 2;
  for (const { seen, size, numCausal } of blocks) {
    pairs += size * (cached + seen + size);
    // The first of its causal rows sees itself alone, the next one more.
    for (let index = 0; index < numCausal; index += 1) pairs -= size - 1 - index;
  }
  const { hidden_size: hidden, num_layers: numLayers, bytes_per_value: valueBytes } = shape;
  const queries = shape.num_heads * shape.head_size;
  const keys = shape.num_kv_heads * shape.head_size;
  const feedForward = shape.num_feed_forward_matrices * shape.feed_forward_size;
  const weights = numLayers * hidden * (feedForward + 2 * queries + 2 * keys);
  const outputWeights = hidden * shape.vocabulary_size;
  const pairFlops = 4 * numLayers * queries;
  const [output, attention] = [2 * numPredicted * outputWeights, pairs * pairFlops];
  return {
    rows,
    numPredicted,
    flops: 2 * rows * weights + output + attention,
    attention,
    output,
    ownKeys: attention - pairFlops * rows * cached,
    valueBytes,
    weightBytes: (weights + outputWeights) * valueBytes,
    outputBytes: outputWeights * valueBytes,
    cacheBytes: 2 * numLayers * cached * keys * valueBytes,
  };
}

/**
 * The least time that a device needs: for moving the bytes or for the operations, the longer. A
 * device with a number format of its own has that.
 * @param {Pick<Cost, "flops" | "attention" | "valueBytes" | "weightBytes" | "cacheBytes">} cost
 * @param {Device} device
 */
export function rooflineOf({ flops, attention, valueBytes, weightBytes, cacheBytes }, device) {
  const scale = device.valueBytes / valueBytes;
  const moving = ((weightBytes + cacheBytes) * scale) / device.bandwidth;
  const computing = (flops - attention) / device.flops + attention / device.attentionFlops;
  return {
    seconds: Math.max(moving, computing),
    isMemoryBound: moving >= computing,
    moving,
    computing,
  };
}

/**
 * Costs of the same forward pass that the roofline view leaves out, as the paper does.
 * @param {Pick<Cost, "output" | "outputBytes" | "ownKeys">} cost
 */
export function leftOutWords({ output, outputBytes, ownKeys }) {
  const [layer, bytes] = [formatLarge(output, "FLOP"), formatLarge(outputBytes, "B")];
  return `The output layer is ${layer} and ${bytes} of it, attention to the keys of the rows read ${formatLarge(ownKeys, "FLOP")}: the Roofline view leaves both out, as the paper does.`;
}

/** Says that a device's attention has a rate of its own. @param {Device} device */
export function rateWords({ flops, attentionFlops }) {
  const share = +(attentionFlops / flops).toPrecision(2);
  return flops === attentionFlops ? "" : `, attention at ${share} times the rate of the rest`;
}

/** Parts of a forward pass's operations. @param {Pick<Cost, "rows" | "numPredicted">} cost */
export function operationWords({ rows, numPredicted }) {
  const fewer = numPredicted < rows ? `, the output layer’s for ${numPredicted} of the rows` : "";
  return `two a weight and row${fewer}, and attention`;
}

const PREFIXES = ["", "k", "M", "G", "T", "P"];

/** A count with three digits and a prefix: 1.27 G. @param {number} count @param {string} unit */
export function formatLarge(count, unit) {
  let power = 0;
  let value = count;
  while (value >= 999.5 && power < PREFIXES.length - 1) {
    value /= 1000;
    power += 1;
  }
  const digits = power === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.max(value, 1))));
  return `${value.toFixed(digits)} ${PREFIXES[power]}${unit}`;
}

/** A short time: 12.3 ms, 4.1 µs. @param {number} seconds */
export function formatShort(seconds) {
  const shown = Number(seconds.toPrecision(3)); // 0.9996 s is a second
  const [value, unit] =
    shown >= 1 ? [shown, "s"] : shown >= 1e-3 ? [shown * 1e3, "ms"] : [shown * 1e6, "µs"];
  return `${value.toPrecision(3)} ${unit}`;
}
