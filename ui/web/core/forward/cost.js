// What a forward pass costs beside what a device's roofline allows. Counts come with the trace;
// see sbd_core/cost. Knows no DOM.

import constants from "../../constants.json" with { type: "json" };

/** @import { Cost, Step } from "../run/wire.js" */

/** @typedef {{ name: string, flops: number, bandwidth: number, valueBytes: number, source: string }} Device */

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
 */
export function rooflineOf(cost, device, valueBytes) {
  const scale = device.valueBytes / valueBytes;
  const moving = ((cost.weightBytes + cost.cacheBytes) * scale) / device.bandwidth;
  const computing = cost.flops / device.flops;
  return {
    seconds: Math.max(moving, computing),
    isMemoryBound: moving >= computing,
    moving,
    computing,
  };
}

/**
 * What a forward pass's operations are made of. The one that reads the prompt predicts behind its
 * last token and at the masks alone, so the output layer's weights meet fewer rows than the others.
 * @param {Cost} cost
 * @param {Pick<Step, "kind" | "causal">} step
 */
export function operationWords({ rows }, { kind, causal }) {
  const numPredicted = kind === "prefill" ? rows - causal + 1 : rows;
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
