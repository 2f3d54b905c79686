// Opens the visitor's GPU for the runtime, and tries it: the numbers of a row of a forward pass must not
// depend on the rows beside it.

import { EngineError } from "./errors.js";
import { Cache, MOST_ROWS, ROW_COUNTS } from "./model.js";

/** @import { Graph } from "./exported/files.js" */
/** @import { Checkpoint } from "./exported/open.js" */

/** @typedef {{ device: GPUDevice, name: string }} Gpu */

const LIMITS = /** @type {const} */ ([
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxStorageBuffersPerShaderStage",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
  "maxComputeWorkgroupSizeY",
  "maxComputeWorkgroupSizeZ",
  "maxComputeWorkgroupsPerDimension",
]);
/** The number of keys that the runtime's code for subgroups reads at once, whatever their size. */
const LEAST_SUBGROUP = 8;
/** The number of tokens of the trial in an export; see TRIAL of sbd_core/hf/export_web.py. */
const NUM_TRIED = 24;
/** The share of the largest logit by which weights of 8 bits may move one. */
const NEAR = 0.1;
/** The most rows to fill passes up to: with more, padding would cost what a GPU gains. */
const MOST_ROWS_AT_LEAST = 32;

/** The name of an adapter. @param {Partial<GPUAdapterInfo>} [info] older browsers have none */
function nameOf({ description, vendor, architecture } = {}) {
  return description || [vendor, architecture].filter(Boolean).join(" ") || "unnamed";
}

/**
 * The GPU of this machine; null where there is none.
 * @param {boolean} takesSoftware whether a processor that plays a GPU is one
 */
export async function findAdapter(takesSoftware) {
  const asked = navigator.gpu?.requestAdapter({ powerPreference: "high-performance" });
  const adapter = await asked?.catch(() => null);
  return adapter && (takesSoftware || !adapter.info?.isFallbackAdapter) ? adapter : null;
}

/**
 * Open the GPU, with all limits of its adapter; null where there is none.
 * @param {boolean} takesSoftware whether a processor that plays a GPU is one
 * @returns {Promise<Gpu | null>}
 */
export async function openGpu(takesSoftware) {
  const adapter = await findAdapter(takesSoftware);
  if (!adapter) return null;
  const requiredLimits = Object.fromEntries(LIMITS.map((name) => [name, adapter.limits[name]]));
  const hasSubgroups = adapter.features.has("subgroups");
  const isWide = hasSubgroups && adapter.info?.subgroupMinSize >= LEAST_SUBGROUP;
  /** @type {GPUFeatureName[]} */
  const requiredFeatures = isWide ? ["subgroups"] : [];
  const device = await adapter.requestDevice({ requiredFeatures, requiredLimits });
  // As where no memory is left: all that is computed from then on is wrong.
  device.addEventListener("uncapturederror", () => device.destroy());
  return { device, name: nameOf(adapter.info) };
}

/**
 * Make passes of every number of rows, so that their shaders are compiled; see whether they give the
 * right logits, and from how many rows on a row is the same to the bit whatever stands beside it.
 * Raises EngineError where that is never so.
 * @param {Checkpoint} checkpoint
 * @param {Graph["trial"]} trial
 */
export async function tryRows({ model, maskId }, trial) {
  const ids = Array.from({ length: NUM_TRIED }, (_, index) => index);
  const cache = new Cache(model, NUM_TRIED + MOST_ROWS);
  const request = { cache, causalIds: ids.slice(-2), blockIds: [], numCausalLogits: 1 };
  /** The logits of the last causal row and a masked one of a pass. @param {number} numRows */
  const rowsOf = async (numRows) => {
    cache.truncate(NUM_TRIED - 2);
    const other = { numCausal: 1, tokenIds: [maskId ?? 0], isAlternative: false };
    const logits = await model.forward({
      ...request,
      blockIds: [maskId ?? 0],
      predraftBlocks: new Array(numRows - 3).fill(other),
    });
    return [...logits.row(0), ...logits.row(1)];
  };
  try {
    await model.forward({ ...request, causalIds: ids.slice(0, -2), predraftBlocks: [] });
    const found = await rowsOf(MOST_ROWS);
    const most = Math.abs(trial[0]?.[1] ?? 0);
    if (!trial.every(([id, logit]) => Math.abs(found[id] - logit) < NEAR * most)) {
      throw new EngineError("Your GPU computes other numbers than it should.");
    }
    let [fewest, isSame] = [MOST_ROWS, true];
    for (const count of ROW_COUNTS.slice(0, -1).toReversed()) {
      const rows = await rowsOf(count);
      isSame &&= rows.every((value, index) => value === found[index]);
      if (isSame) fewest = count;
    }
    model.fewestRows = fewest;
    cache.truncate(NUM_TRIED - 2);
    const alone = (await model.forward({ ...request, predraftBlocks: [] })).row(0);
    if (fewest > MOST_ROWS_AT_LEAST || !alone.every((value, index) => value === found[index])) {
      throw new EngineError("On your GPU a row’s numbers depend on the rows beside it.");
    }
  } finally {
    cache.release();
  }
}
