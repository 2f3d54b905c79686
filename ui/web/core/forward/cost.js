// What a forward pass costs beside what a device's roofline allows. Counts come with the trace;
// see sbd_core/cost. Knows no DOM.

import constants from "../../constants.json" with { type: "json" };

/** @import { Cost, Sizes, Step } from "../run/wire.js" */

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
 * The least time that a device needs: for moving the bytes or for the operations, the longer.
 * @param {Cost} cost
 * @param {Device} device
 * @param {number} valueBytes of a weight in the trace; a device with a format of its own has that
 * @param {number} attention operations that run at the device's rate for attention
 */
export function rooflineOf(cost, device, valueBytes, attention) {
  const scale = device.valueBytes / valueBytes;
  const moving = ((cost.weightBytes + cost.cacheBytes) * scale) / device.bandwidth;
  const computing = (cost.flops - attention) / device.flops + attention / device.attentionFlops;
  return {
    seconds: Math.max(moving, computing),
    isMemoryBound: moving >= computing,
    moving,
    computing,
  };
}

/**
 * Rows for which a forward pass predicts: the one that reads the prompt does behind its last token
 * and at the masks alone.
 * @param {Cost} cost
 * @param {Pick<Step, "kind" | "causal">} step
 */
function predictedRows({ rows }, { kind, causal }) {
  return kind === "prefill" ? rows - causal + 1 : rows;
}

/**
 * Operations of the output layer, of all attention, and of attention to the keys of the rows read.
 * @param {Cost} cost
 * @param {Pick<Step, "kind" | "causal" | "cached">} step
 * @param {Sizes} sizes
 */
export function partsOf(cost, step, { valueBytes, outputWeights, pairFlops }) {
  const output = 2 * predictedRows(cost, step) * outputWeights;
  const layers = 2 * cost.rows * (cost.weightBytes / valueBytes - outputWeights);
  const attention = cost.flops - layers - output;
  return { output, attention, ownKeys: attention - pairFlops * cost.rows * step.cached };
}

/**
 * What Speed limits leaves out of the same forward pass, as the paper does.
 * @param {Cost} cost
 * @param {Pick<Step, "kind" | "causal" | "cached">} step
 * @param {Sizes} sizes
 */
export function leftOutWords(cost, step, sizes) {
  const { output, ownKeys } = partsOf(cost, step, sizes);
  const bytes = formatLarge(sizes.outputWeights * sizes.valueBytes, "B");
  return `The output layer is ${formatLarge(output, "FLOP")} and ${bytes} of it, attention to the keys of the rows read ${formatLarge(ownKeys, "FLOP")}: Speed limits leaves both out, as the paper does.`;
}

/**
 * That a device's attention has a rate of its own.
 * @param {Device} device
 */
export function rateWords({ flops, attentionFlops }) {
  const share = +(attentionFlops / flops).toPrecision(2);
  return flops === attentionFlops ? "" : `, attention at ${share} times the rate of the rest`;
}

/**
 * What a forward pass's operations are made of; the output layer's weights may meet fewer rows
 * than the others.
 * @param {Cost} cost
 * @param {Pick<Step, "kind" | "causal">} step
 */
export function operationWords(cost, step) {
  const { rows } = cost;
  const numPredicted = predictedRows(cost, step);
  const fewer = numPredicted < rows ? `, the output layer’s for ${numPredicted} of the rows` : "";
  return `two a weight and row${fewer}, and attention`;
}

const PREFIXES = ["", "k", "M", "G", "T", "P"];

/**
 * A count with three digits and a prefix: 1.27 G.
 * @param {number} count
 * @param {string} unit
 */
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

/**
 * A short time: 12.3 ms, 4.1 µs.
 * @param {number} seconds
 */
export function formatShort(seconds) {
  const [value, unit] =
    seconds >= 1 ? [seconds, "s"] : seconds >= 1e-3 ? [seconds * 1e3, "ms"] : [seconds * 1e6, "µs"];
  return `${value.toPrecision(3)} ${unit}`;
}
