// Computes what a forward pass costs from the model's shape and the rows that the pass reads, as sbd_core/cost.py
// does, and the least time that a device needs for it (its roofline). Knows no DOM.

import constants from "../constants.json" with { type: "json" };
import { blocksOf } from "./mask.ts";
import { operationWords, sizeWords } from "./numbers.ts";
import type { Shape, Step } from "./run.ts";

/**
 * flops, attentionFlops: operations per second. bandwidth: bytes per second. valueBytes: bytes of one number. memory:
 * bytes; null if unknown.
 */
export type Device = {
  name: string;
  flops: number;
  attentionFlops: number;
  bandwidth: number;
  valueBytes: number;
  source: string;
  memory: number | null;
};

/** by the key of the device; the page adds the machine that was measured */
export const DEVICES: Map<string, Device> = new Map(Object.entries(constants.devices));

type Cost = ReturnType<typeof costOf>;

export function costOf(shape: Shape, step: Step, strategy: string, numPrompt: number) {
  const { cached, causal } = step;
  const blocks = blocksOf(step, strategy, numPrompt);
  const numBlock = blocks.reduce((sum, { size }) => sum + size, 0);
  const rows = causal + numBlock;
  const numLogitRows = (step.kind === "prefill" ? 1 : causal) + numBlock;
  let pairs = causal * cached + (causal * (causal + 1)) / 2;
  // The causal row of a block, at most one, does not see the block's rows after it.
  for (const { seen, size, numCausal } of blocks)
    pairs += size * (cached + seen + size) - numCausal * (size - 1);
  const { hidden_size: hidden, num_layers: numLayers, bytes_per_value: valueBytes } = shape;
  const queries = shape.num_heads * shape.head_size;
  const keys = shape.num_kv_heads * shape.head_size;
  const feedForward = shape.num_feed_forward_matrices * shape.feed_forward_size;
  const weights = numLayers * hidden * (feedForward + 2 * queries + 2 * keys);
  const outputWeights = hidden * shape.vocabulary_size;
  const pairFlops = 4 * numLayers * queries;
  const [outputFlops, attentionFlops] = [2 * numLogitRows * outputWeights, pairs * pairFlops];
  // Operations, and bytes.
  return {
    rows,
    numLogitRows, // rows for which the output layer computes logits
    flops: 2 * rows * weights + outputFlops + attentionFlops,
    attentionFlops,
    outputFlops,
    ownKeyFlops: attentionFlops - pairFlops * rows * cached, // of attention to the keys of the pass's own rows
    valueBytes, // of one weight
    weightBytes: (weights + outputWeights) * valueBytes, // the output layer's included
    outputBytes: outputWeights * valueBytes,
    cacheBytes: 2 * numLayers * cached * keys * valueBytes,
  };
}

/**
 * Compute the least time that a device needs for a forward pass: the longer of moving its bytes and computing its
 * operations. Bytes are converted to the device's number format.
 */
export function rooflineOf(
  cost: Pick<Cost, "flops" | "attentionFlops" | "valueBytes" | "weightBytes" | "cacheBytes">,
  device: Device,
) {
  const bytes = (cost.weightBytes + cost.cacheBytes) * (device.valueBytes / cost.valueBytes);
  const moving = bytes / device.bandwidth;
  const { flops, attentionFlops } = cost;
  const computing =
    (flops - attentionFlops) / device.flops + attentionFlops / device.attentionFlops;
  const seconds = Math.max(moving, computing);
  return { seconds, isMemoryBound: moving >= computing, moving, computing };
}

/** Describe the costs of a forward pass that the Roofline view leaves out, as the paper does. */
export function leftOutWords({ outputFlops, outputBytes, ownKeyFlops }: Cost) {
  const [layer, bytes] = [operationWords(outputFlops), sizeWords(outputBytes)];
  return `The output layer is ${layer} and ${bytes} of it, attention to the keys of the rows read ${operationWords(ownKeyFlops)}: the Roofline view leaves both out, as the paper does.`;
}

/** Say that a device computes attention at another rate; "" if it does not. */
export function rateWords({ flops, attentionFlops }: Device) {
  const share = +(attentionFlops / flops).toPrecision(2);
  return flops === attentionFlops ? "" : `, attention at ${share} times the rate of the rest`;
}

export function countedWords({ rows, numLogitRows }: Cost) {
  const fewer = numLogitRows < rows ? `, the output layer’s for ${numLogitRows} of the rows` : "";
  return `two a weight and row${fewer}, and attention`;
}
