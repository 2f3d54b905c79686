// The answer of the Roofline view: checks what the visitor chose, computes what it says, and puts it into words.

import { DEVICES, type Device } from "../core/cost.ts";
import { parseObject } from "../core/json.ts";
import { listInWords, sizeWords, timeWords, withCommas } from "../core/numbers.ts";
import {
  freeRows,
  measuredSeconds,
  measuredSpeedup,
  memoryOf,
  passTime,
  shapeOfConfig,
  slowdown,
  sortedKeys,
  speedup,
  type Times,
  timeLeftOut,
  widthsOf,
} from "../core/roofline.ts";
import type { Shape } from "../core/run.ts";
import { ArgumentError, shown } from "../engine/errors.ts";

/** what to calculate: values by the names of fields, as the form or an address has them */
export type Query = Record<string, string | number>;

/** A model to choose. published: sizes with which the paper counts, where they are others. */
export type Model = { key: string; name: string; shape: Shape; published?: Partial<Shape> };
/** The initial data of the view, see ui/values.py. measured: this machine. times: of nano on it */
export type Setting = { models: Model[]; measured: Device; times: Times };

export const [MEASURED, BUNDLED, OWN] = ["measured", "bundled", "own"];
const PAPER = "llama-3.1-8b";
export const DEFAULTS: Query = {
  device: "h100-fp8",
  model: PAPER,
  config: "",
  block: 16,
  cache: 1024,
  batch: 1,
  speed: 3.4, // the paper's mean for its model with its higher γ, Table 1
};
/** The whole numbers that a visitor chooses: field, label, and the least that it can be. */
export const COUNTS = [
  ["block", "Block size", 1],
  ["cache", "Tokens in the KV cache", 0],
  ["batch", "Texts at once (batch)", 1],
] as const;
const MAX_TOKENS = 1e12;
const MAX_CONFIG = 100_000; // characters

type Choices = ReturnType<typeof choicesOf>;

/** Read the shape from the text of a config.json. Throws ArgumentError. */
function ownShape(config: unknown) {
  const text = String(config).trim();
  const found = text.length > MAX_CONFIG ? null : parseObject(text);
  if (!found)
    throw new ArgumentError("The config", "must be the text of a config.json", text.slice(0, 40));
  const nested = found.text_config;
  return shapeOfConfig(nested?.constructor === Object ? nested : found);
}

/** Convert a value to a number; NaN for an empty box, or what is no finite number. */
function numberOf(value: unknown) {
  const text = String(value).trim();
  const number = text === "" ? NaN : Number(text);
  return Number.isFinite(number) ? number : NaN;
}

/** Check what the visitor chose; replace what cannot be used by the default. */
export function choicesOf(query: Query, { models, measured }: Setting) {
  const problems: string[] = [];
  const wrong: string[] = [];
  const asked = { ...DEFAULTS, ...query };
  function chosen(field: string, names: Iterable<string>) {
    if ([...names].includes(String(asked[field]))) return String(asked[field]);
    problems.push(`There is no ${field} ${shown(asked[field])} here; shown is the default.`);
    return String(DEFAULTS[field]);
  }
  const known = new Map([...DEVICES, [MEASURED, measured]]);
  const device = chosen("device", known.keys());
  let key = String(asked.model);
  let own: Shape | null = null;
  if (key !== OWN) {
    const keys = models.map((each) => each.key);
    key = chosen("model", keys);
  } else {
    try {
      own = ownShape(asked.config);
    } catch (error) {
      if (!(error instanceof ArgumentError)) throw error;
      key = PAPER;
      problems.push(`${error.words} Shown is ${modelOf(models, key).name}.`);
    }
  }
  const counts = COUNTS.map(([field, label, least]) => {
    const number = numberOf(asked[field]);
    if (Number.isInteger(number) && number >= least && number <= MAX_TOKENS) return number;
    const rule = `must be a whole number from ${least} to 1e+12, not ${shown(asked[field])}`;
    problems.push(`${label} ${rule}; shown is ${DEFAULTS[field]}.`);
    wrong.push(field);
    return Number(DEFAULTS[field]);
  }) as [number, number, number];
  const [block, cache, batch] = counts;
  let speed = numberOf(asked.speed);
  if (!(speed > 0 && speed <= block)) {
    speed = Math.min(speed > 0 ? speed : Number(DEFAULTS.speed), block);
    const rule = `must be above 0 and at most the block size, ${block}, not ${shown(asked.speed)}`;
    problems.push(`Tokens per forward pass ${rule}; shown is ${speed}.`);
    wrong.push("speed");
  }
  const { shape, published } = modelOf(models, key === OWN ? PAPER : key);
  const corrected = own ?? shape;
  return {
    device: known.get(device) as Device,
    isMeasured: device === MEASURED,
    isPapers: key === PAPER && speed === DEFAULTS.speed,
    model: key,
    shapes: { corrected, published: own ?? { ...shape, ...published } },
    block,
    cache,
    batch,
    speed,
    problems, // a sentence for each value that was replaced
    wrong, // fields of the numbers among them
  };
}

function modelOf(models: Model[], key: string) {
  return models.find((each) => each.key === key) as Model;
}

/** Format operations per second, such as "165 TFLOP/s". */
function rateWords(flops: number) {
  const [size, name] = flops >= 1e12 ? [1e12, "TFLOP/s"] : [1e9, "GFLOP/s"];
  return `${withCommas(Number((flops / size).toPrecision(4)), 6)} ${name}`;
}

const boundWords = (isMemoryBound: boolean) =>
  isMemoryBound ? "bound by memory" : "bound by computing";

/** One line of the answer. [word] in a name marks a glossary word; the value is as shown. */
export type Fact = [name: string, value: string, note: string];

export function factsOf(choices: Choices, { times }: Setting): Fact[] {
  const { block, batch, speed, device } = choices;
  const [one, whole, double] = [1, block, 2 * block].map((size) => passTime(size, choices));
  const gain = speedup(block, speed, choices);
  const published = speedup(block, speed, choices, "published");
  const token = batch === 1 ? "a token" : `a token for each of ${batch} texts`;
  const inAll = batch === 1 ? "" : ` a text, ${withCommas(2 * block * batch)} in all`;
  const origin = choices.isPapers
    ? " (the paper’s mean for this model with its higher γ, Table 1)"
    : "";
  let rates = `${rateWords(device.flops)} of matrix products`;
  if (device.attentionFlops !== device.flops)
    rates += `, ${rateWords(device.attentionFlops)} of attention`;
  return [
    [
      "Speed-up",
      `${gain.toFixed(2)}×${gain < 1 ? ", slower" : ""}`,
      `as the paper counts ${published.toFixed(2)}×; Eq. 16`,
    ],
    [
      "[Next-token prediction]",
      timeWords(one.seconds),
      `${token}; ${boundWords(one.isMemoryBound)}`,
    ],
    [
      "Set Block Decoding",
      timeWords(one.seconds / gain),
      `${token}, at ${Number(speed.toPrecision(6))} tokens a forward pass${origin}; the first over a block reads the block before it too, ${2 * block} rows${inAll}: ${timeWords(double.seconds)}`,
    ],
    [
      `A [forward pass] over ${block}`,
      `${slowdown(block, choices).toFixed(2)}×`,
      `as long as over one: ${timeWords(whole.seconds)}; ${boundWords(whole.isMemoryBound)}`,
    ],
    [
      "Bound by",
      whole.isMemoryBound ? "moving bytes" : "computing",
      `${timeWords(whole.moving)} for the bytes of all steps, ${timeWords(whole.computing)} for the operations; of each step the longer counts`,
    ],
    [
      "Free rows",
      withCommas(freeRows(choices)),
      "take at most 1.05 times as long as one: a draft of as many costs no time there",
    ],
    leftOutFact(choices),
    memoryFact(choices),
    [
      "The device",
      `${withCommas(device.bandwidth / 1e9)} GB/s`,
      `of memory, ${rates}; source: ${device.source}`,
    ],
    ...(choices.isMeasured ? [measuredFact(choices, times)] : []),
  ];
}

function leftOutFact(choices: Choices): Fact {
  const [whole, one] = [choices.block, 1].map((size) => timeLeftOut(size, choices));
  const both = ({ outputLayer, ownKeys }: typeof whole) => timeWords(outputLayer + ownKeys);
  return [
    "Left out",
    both(whole),
    `of the forward pass over ${choices.block}, as in the paper: ${timeWords(whole.outputLayer)} of the output layer, ${timeWords(whole.ownKeys)} of attention to the block’s own keys; of one over a single token ${both(one)}. Under the hood counts both`,
  ];
}

/** The bytes that weights and KV cache need, and whether the device has room for them. */
function memoryFact(choices: Choices): Fact {
  const { weights, cached } = memoryOf(choices);
  const [needed, holds] = [weights + cached, choices.device.memory];
  let [value, note] = [
    sizeWords(needed),
    `at least: ${sizeWords(weights)} of weights, ${sizeWords(cached)} of KV cache`,
  ];
  if (holds !== null && needed > holds) {
    value += `, more than the ${sizeWords(holds)} it has`;
    note +=
      "; the device cannot run this: the times are those of one with its rates and room for it";
  } else if (holds !== null) note += `; the device has ${sizeWords(holds)}`;
  return ["Memory", value, note];
}

/** The speed-up by forward passes of nano that were timed on this machine, or why there is none. */
function measuredFact(choices: Choices, times: Times): Fact {
  const untimed = untimedWords(choices, times);
  if (untimed) return ["Measured", "–", untimed];
  const { block, speed, cache } = choices;
  const slower = measuredSeconds(times, block, cache) / measuredSeconds(times, 1, cache);
  let note = `speed-up by Eq. 16 from timed forward passes; a block takes ${slower.toFixed(2)}× one token`;
  if (!times[cache])
    note += `; worked out between those timed with ${listInWords(Object.keys(times))} tokens in the KV cache`;
  note += ". The roofline bounds times, not their ratio: a measured speed-up may be above it";
  return ["Measured", `${measuredSpeedup(times, block, speed, cache).toFixed(2)}×`, note];
}

function untimedWords({ model, batch, cache, block }: Choices, times: Times) {
  const lengths = sortedKeys(times);
  const most = Math.max(...sortedKeys(Object.values(times)[0] ?? {}));
  if (model !== BUNDLED) return "the times measured are nano’s only";
  if (batch !== 1) return `timed at a batch of 1 only, not ${batch}`;
  if (cache < (lengths[0] ?? 0) || cache > (lengths.at(-1) ?? 0))
    return `timed with ${listInWords(Object.keys(times))} tokens in the KV cache only, not with ${cache}`;
  if (2 * block > most)
    return `timed up to ${most} rows only; a block of ${block} needs ${2 * block}`;
  return "";
}

/** Return the times to mark beside the curve: of a forward pass by its rows, with the timed cache nearest to the chosen. */
export function marksOf({ batch, cache }: Choices, { times }: Setting) {
  const nearest = sortedKeys(times).reduce((best, each) =>
    Math.abs(each - cache) < Math.abs(best - cache) ? each : best,
  );
  const name = `bundled model, timed, KV cache ${nearest}`;
  return { name, seconds: batch === 1 ? (times[nearest] ?? {}) : {} };
}

/** Say how the widths of the model's matrices differ between the paper's count and the corrected one. */
export function widthWords(choices: Choices) {
  const shape = choices.shapes.corrected;
  const { feedForward: wide, keys } = widthsOf(choices, "published");
  const [heads, ownKeys] = [shape.num_heads, shape.num_kv_heads].map((n) => n * shape.head_size);
  const [hidden, own] = [
    shape.hidden_size,
    shape.num_feed_forward_matrices === 3 ? "three" : "two",
  ];
  const sized = (width = 0) => `${withCommas(hidden)} × ${withCommas(width)}`;
  const differs = keys === ownKeys ? "" : `, not ${sized(ownKeys)}`;
  return `As the paper counts, a layer has two feed-forward matrices of ${sized(wide)}: it takes the product ${sized(wide / hidden)} for their width; the model has ${own} of ${sized(shape.feed_forward_size)}. The weights of keys and of values are ${sized(keys)}${differs}. Alike in both counts: those of queries and output, ${sized(heads)}; the [KV cache|cache], ${withCommas(ownKeys ?? 0)} keys and as many values a token.`;
}
