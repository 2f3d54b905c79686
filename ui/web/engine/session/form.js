// Checks a visitor's request by the rules it must keep: ui/decode/form.py.

import constants from "../../constants.json" with { type: "json" };
import { dialOf, FIELD_LABELS, KINDS, PAPER, strategyOf } from "../../core/names.js";
import { rowCostsOf } from "../decoding/row_costs.js";
import { readSettings } from "../decoding/settings.js";
import { checkFits } from "../decoding/stream.js";
import { ArgumentError, EngineError, shown } from "../errors.js";

/** @import { Checkpoint } from "../exported/open.js" */
/** @import { Settings } from "../decoding/settings.js" */

const { promptCharacters, newTokens, templateCharacters, block: shownBlock } = constants.limits;
const TOP_RECORDED = 5;
const BLANK = /_{3,}(?:\((\d+)\)|(\d+))?/g;

/** The fields of a decode by their names, unchecked. @typedef {Record<string, unknown>} Form */

/** @type {Form} */
const DEFAULTS = {
  strategy: "sbd",
  solver: "entropy-bound",
  block_size: 16,
  max_new_tokens: 128,
  seed: 0,
  pinned: [],
  template: "",
  repetition_penalty: 0, // the model’s own
  max_rows: 0, // by this browser’s costs
};

/**
 * The prompt and settings to decode. Raises ArgumentError naming field, rule and value.
 * @param {Checkpoint} checkpoint
 * @param {Form} form
 * @returns {Promise<{ prompt: string, promptIds: number[], settings: Settings }>}
 */
export async function openForm(checkpoint, form) {
  const fields = { ...DEFAULTS, ...form };
  const { prompt, strategy } = fields;
  if (typeof prompt !== "string" || !prompt.trim())
    throw new ArgumentError("prompt", "must not be empty", "");
  requireAtMost("prompt", prompt.length, promptCharacters, "characters");
  const needsCosts = strategy === "verify" && !fields.max_rows;
  const settings = readSettings({
    strategy,
    solver: { ...fields, name: fields.solver },
    block_size: fields.block_size,
    allows_untrained_block_size: Number(fields.block_size) >= 2,
    max_new_tokens: fields.max_new_tokens,
    temperature: 0,
    seed: fields.seed,
    top_k_recorded: TOP_RECORDED,
    is_raw_prompt: false,
    repetition_penalty: fields.repetition_penalty || checkpoint.repetitionPenalty,
    max_rows: fields.max_rows || null,
    row_costs: needsCosts ? await rowCostsOf(checkpoint) : null,
    pinned: pairs(fields.pinned),
  });
  const { max_new_tokens: longest, block_size: blockSize } = settings;
  requireAtMost("max_new_tokens", longest, newTokens, "tokens on this page");
  // A pin of the form goes before one of the template.
  const pins = new Map([...pinsOf(checkpoint, fields.template, settings), ...settings.pinned]);
  settings.pinned = [...pins].sort(([a], [b]) => a - b);
  const promptIds = checkpoint.tokenizer.encodePrompt(prompt, false);
  checkFits(checkpoint, promptIds, settings);
  requireAtMost("block_size", blockSize, shownBlock, "positions on this page");
  return { prompt, promptIds, settings };
}

/**
 * The form of each lane by its name, none twice. Raises ArgumentError.
 * @param {string[]} lanes
 * @param {Form} form what they share
 * @returns {[lane: string, form: Form][]}
 */
export function laneForms(lanes, form) {
  if (!lanes.length || lanes.length > constants.maxLanes) {
    const rule = `must be 1 to ${constants.maxLanes}; choose one`;
    throw new ArgumentError("Ways to decode", rule, null);
  }
  return [...new Set(lanes)].map((lane) => {
    const [kind = "", value] = lane.split(":");
    if (!KINDS.includes(kind) && kind !== PAPER) {
      const rule = `must each be one of ${KINDS.join(", ")}, as in sbd:0.1`;
      throw new ArgumentError("lanes", rule, lane);
    }
    const dial = dialOf(kind);
    if (value !== undefined && !dial)
      throw new ArgumentError("lanes", `${kind} takes no value`, lane);
    const strategy = strategyOf(lane);
    const solver = strategy === "sbd" ? { solver: kind === "sbd" ? PAPER : kind } : {};
    const own = value === undefined || !dial ? {} : { [dial[0]]: Number(value) };
    return [lane, { ...form, strategy, ...solver, ...own }];
  });
}

/** @param {string} argument @param {number} value @param {number} most @param {string} unit */
function requireAtMost(argument, value, most, unit) {
  const rule = `must be at most ${most.toLocaleString("en")} ${unit}`;
  if (value > most) throw new ArgumentError(argument, rule, value);
}

/** The pins of a form, if they are pairs. @param {unknown} value [[offset, token id], ...] */
function pairs(value) {
  const isList =
    Array.isArray(value) && value.every((item) => Array.isArray(item) && item.length === 2);
  if (isList) return value;
  throw new ArgumentError("pinned", "must be a list of offsets and token ids", value);
}

/**
 * The pinned tokens that an answer with blanks asks for.
 * @param {Checkpoint} checkpoint
 * @param {unknown} template
 * @param {Settings} settings
 * @returns {[number, number][]}
 */
function pinsOf({ tokenizer, endIds }, template, settings) {
  if (typeof template !== "string") throw new ArgumentError("template", "must be text", template);
  if (!template.trim()) return [];
  requireAtMost("template", template.length, templateCharacters, "characters");
  if (settings.strategy !== "sbd") {
    throw new ArgumentError("template", "needs the strategy Set Block Decoding", settings.strategy);
  }
  /** @type {(number | null)[]} */
  const tokens = [];
  let place = 0;
  for (const blank of template.matchAll(BLANK)) {
    tokens.push(...tokenizer.encode(template.slice(place, blank.index)));
    tokens.push(...new Array(blankLength(blank)).fill(null));
    place = blank.index + blank[0].length;
  }
  if (!place) throw new ArgumentError("template", "must hold a blank, ___", template);
  const end = [...endIds].sort((a, b) => a - b).slice(0, 1);
  tokens.push(...tokenizer.encode(template.slice(place)), ...end);
  const unit = "tokens with its end, the longest answer";
  requireAtMost("template", tokens.length, settings.max_new_tokens, unit);
  const pins = /** @type {[number, number][]} */ ([...tokens.entries()]);
  return pins.filter(([, id]) => id !== null);
}

/** The number of tokens that a blank holds. @param {RegExpMatchArray} blank */
function blankLength(blank) {
  const digits = blank[1] ?? blank[2] ?? "1";
  const length = digits.length <= 4 ? Number(digits) : 0;
  if (length >= 1 && length <= templateCharacters) return length;
  const rule = `must have blanks of 1 to ${templateCharacters.toLocaleString("en")} tokens`;
  throw new ArgumentError("template", rule, blank[0]);
}

/** A line for the visitor that names field, rule and value. @param {unknown} error */
export function messageOf(error) {
  if (!(error instanceof EngineError))
    return "The decode failed inside this browser; its console says where.";
  if (!(error instanceof ArgumentError)) return error.message;
  const label = FIELD_LABELS[error.argument] ?? error.argument;
  const isNothing = ["", null, undefined].some((nothing) => nothing === error.value);
  return `${label} ${error.rule}${isNothing ? "" : `; got ${shown(error.value)}`}.`;
}
