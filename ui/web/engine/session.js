// Decodes for one visitor in this browser: a form goes in, the lines of a run come out. It is checked as in
// ui/decode/form.py, its lanes take turns as in ui/decode/session.py, their lines are those of
// sbd_core/run_lines.py. Knows no worker and no page.

import constants from "../constants.json" with { type: "json" };
import { NUM_TIMINGS } from "../core/times.js";
import { mentionedIds } from "../core/trace.js";
import { dialOf, FIELD_LABELS, KINDS, PAPER_SOLVER, strategyOf } from "../core/words.js";
import { readSettings } from "./decoding/settings.js";
import { stream } from "./decoding/stream.js";
import { ArgumentError, EngineError, shown } from "./errors.js";
import { rowCostsOf } from "./row_costs.js";

/** @import { Verdict } from "../core/run.js" */
/** @import { Settings } from "./decoding/settings.js" */
/** @import { StepEvent } from "./decoding/state.js" */
/** @import { Checkpoint } from "./export.js" */

/**
 * News for the page.
 * @typedef {object} News
 * @property {"decode" | "compare" | "timing" | "bench"} about
 * @property {string} [text] a line for the visitor; "" clears it
 * @property {boolean} [isError]
 * @property {boolean} [isRunning]
 * @property {string} [wire] lines for the player; "stop" after the last of a run that was stopped
 * @property {{ run: string, seconds: number[], ntpSeconds: number[], error?: string }} [timing]
 */

const MS_BETWEEN_NEWS = 60;
const MS_BETWEEN_BREATHS = 12;
const MAX_ASK = 16;
const STOPPED_TEXT = "Stopped.";
const BENCH_FORM = { prompt: "Write a story about a fox and a hare.", max_new_tokens: 64 };

/** The number to three digits. @param {number} value */
const rounded = (value) => Number(value.toPrecision(3));

export class Session {
  /**
   * @param {Checkpoint} checkpoint
   * @param {(news: News) => void} say
   * @param {() => Promise<void>} breathe a pause in which messages come in
   */
  constructor(checkpoint, say, breathe) {
    this.checkpoint = checkpoint;
    this.say = say;
    this.breathe = breathe;
    this.turn = 0;
    this.breathed = 0;
  }

  /** Let whatever runs end after its forward pass. */
  stop() {
    this.turn += 1;
  }

  /** Whether a turn is still on; messages are let in first if it is time. @param {number} turn */
  async goesOn(turn) {
    if (performance.now() - this.breathed > MS_BETWEEN_BREATHS) {
      await this.breathe();
      this.breathed = performance.now();
    }
    return turn === this.turn;
  }

  /** Decode a form, and tell all that the page shows of it. @param {Form} form */
  async decode(form) {
    const ask = String(form.ask ?? "").slice(0, MAX_ASK);
    await this.tell("decode", () => this.open(form), ask);
  }

  /**
   * Decode a prompt in several ways, each a lane of that name, and tell all that the page shows of them.
   * @param {string[]} names see core/words.js
   * @param {Form} form the fields that they share
   */
  async compare(names, form) {
    const opened = async () => {
      const lanes = [];
      for (const [name, own] of laneForms(names, form)) {
        const [lane] = await this.open(own);
        lanes.push(Object.assign(lane, { name }));
      }
      return lanes;
    };
    await this.tell("compare", opened, "");
  }

  /**
   * Run lanes in a new turn, which ends the one before, and tell how it ended.
   * @param {"decode" | "compare"} about
   * @param {() => Promise<Lane[]>} open
   * @param {string} ask
   */
  async tell(about, open, ask) {
    this.stop();
    const { turn } = this;
    /** @type {Lane[]} */
    let lanes = [];
    try {
      lanes = await open();
      await this.run(about, lanes, ask, turn);
      const isStopped = turn !== this.turn;
      this.say({ about, text: isStopped ? STOPPED_TEXT : "", isRunning: false });
    } catch (error) {
      this.fail(about, error);
    } finally {
      for (const lane of lanes) await lane.close();
    }
  }

  /**
   * The lanes of a form, checked and not started: the one asked for, then next-token prediction.
   * @param {Form} form
   */
  async open(form) {
    const { prompt, promptIds, settings } = await openForm(this.checkpoint, form);
    /** @param {Settings} own */
    const laneOf = (own) => new Lane(this.checkpoint, prompt, promptIds, own);
    if (settings.strategy === "ntp") return [laneOf(settings)];
    const others = { solver: { name: PAPER_SOLVER }, pinned: [], max_rows: null, row_costs: null };
    const plain = readSettings({ ...settings, ...others, strategy: "ntp" });
    return [laneOf(settings), laneOf(plain)];
  }

  /**
   * Make the forward passes of lanes and tell their lines, until the turn is over.
   * @param {"decode" | "compare"} about
   * @param {Lane[]} lanes
   * @param {string} ask
   * @param {number} turn
   */
  async run(about, lanes, ask, turn) {
    const [main] = lanes;
    const runId = crypto.randomUUID().slice(0, 8);
    const wire = new RunLines(runId, this.checkpoint);
    const { prompt, promptIds } = main;
    const settings = lanes.map((lane) => lane.settings);
    const names = about === "compare" ? lanes.map(({ name }) => name) : [];
    let lines = [wire.start({ prompt, promptIds, lanes: settings, names, ask })];
    let told = performance.now();
    let isAwaited = true; // the first reveal of the main lane
    let isCut = false;
    for await (const [lane, event] of passes(lanes, about === "compare")) {
      lines.push(event ? wire.step(lane.name, event) : wire.end(lane.name, lane.finish, lane.text));
      const isDue = performance.now() - told > MS_BETWEEN_NEWS || (isAwaited && main.hasRevealed);
      if (isDue) {
        isAwaited &&= !main.hasRevealed;
        told = performance.now();
        this.say({ about, wire: lines.join("\n"), text: "Decoding …", isRunning: true });
        lines = [];
      }
      isCut = !(await this.goesOn(turn));
      if (isCut) break;
    }
    if (lines.length) this.say({ about, wire: lines.join("\n"), isRunning: true });
    if (isCut) this.say({ about, wire: "stop", isRunning: true });
  }

  /** Make one decode a few times, for its median and range. @param {Form} form */
  async time(form) {
    this.stop();
    const { turn } = this;
    /** @type {NonNullable<News["timing"]>} */
    const timing = { run: String(form.ask), seconds: [], ntpSeconds: [] };
    try {
      for (let i = 0; i < NUM_TIMINGS; i += 1) {
        const [main, plain = main] = await this.open(form);
        for (const lane of new Set([main, plain])) {
          while (await lane.step()) if (!(await this.goesOn(turn))) return await lane.close();
        }
        timing.seconds.push(main.seconds);
        timing.ntpSeconds.push(plain.seconds);
        this.say({ about: "timing", timing });
      }
    } catch (error) {
      this.say({ about: "timing", timing: { ...timing, error: messageOf(error) } });
    }
  }

  /**
   * Measure decoding here, as one line of JSON: milliseconds by rows, and tokens a second.
   * @param {string} engine the name of what decodes
   */
  async bench(engine) {
    const { checkpoint } = this;
    const { model, name } = checkpoint;
    const { fewestRows, wantedStep } = model;
    /** The tokens a second of a strategy. @param {string} strategy */
    const speed = async (strategy) => {
      const [lane] = await this.open({ ...BENCH_FORM, strategy });
      while (await lane.step());
      return rounded(lane.answer.length / lane.seconds);
    };
    try {
      checkpoint.rowCosts = null; // whoever asks wants them as they are now
      const costs = await rowCostsOf(checkpoint);
      const verify = await speed("verify");
      // Next-token prediction needs no rows that are equal to others: it is told at its best.
      [model.fewestRows, model.wantedStep] = [1, 1];
      const ntp = await speed("ntp");
      const ms = Object.fromEntries(costs.map(([rows, cost]) => [rows, rounded(1000 * cost)]));
      const told = { model: name, engine, fewest_rows: fewestRows, ms_by_rows: ms };
      const text = JSON.stringify({ ...told, tokens_per_second: { ntp, verify } });
      this.say({ about: "bench", text });
    } catch (error) {
      this.fail("bench", error);
    } finally {
      [model.fewestRows, model.wantedStep] = [fewestRows, wantedStep];
    }
  }

  /** Tell why something failed. @param {News["about"]} about @param {unknown} error */
  fail(about, error) {
    if (!(error instanceof EngineError)) console.error(error);
    this.say({ about, text: messageOf(error), isError: true, isRunning: false });
  }
}

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
async function openForm(checkpoint, form) {
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
 * Raises ArgumentError naming what does not fit the model.
 * @param {Checkpoint} checkpoint
 * @param {number[]} promptIds
 * @param {Settings} settings
 */
function checkFits({ model, name, maskId }, promptIds, settings) {
  const { vocabulary, max_positions: maxPositions, block_range: blockRange } = model.shape;
  if (!promptIds.length) throw new ArgumentError("prompt", "must hold at least one token", "[]");
  if (promptIds.length + settings.max_new_tokens > maxPositions) {
    const most = `must leave room: its tokens and max_new_tokens together must be at most ${maxPositions}, the reach of ${name}`;
    throw new ArgumentError("prompt", most, `${promptIds.length} + ${settings.max_new_tokens}`);
  }
  if (settings.strategy === "ntp") return;
  if (maskId === null) {
    const rule = `must be ntp, as the tokenizer of ${name} has no mask token`;
    throw new ArgumentError("strategy", rule, settings.strategy);
  }
  const [low, high] = blockRange ?? [1, Infinity];
  const isIn = low <= settings.block_size && settings.block_size <= high;
  if (!isIn && !settings.allows_untrained_block_size) {
    const sizes = `must be from ${low} to ${high}, the sizes ${name} was trained on`;
    throw new ArgumentError("block_size", sizes, settings.block_size);
  }
  for (const [offset, id] of settings.pinned) {
    if (!(Number.isInteger(id) && id >= 0 && id < vocabulary)) {
      const rule = `must hold token ids from 0 to ${vocabulary - 1}`;
      throw new ArgumentError(`pinned[${offset}]`, rule, id);
    }
    if (id === maskId)
      throw new ArgumentError(`pinned[${offset}]`, "must not be the mask token", id);
  }
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
    if (!KINDS.includes(kind) && kind !== PAPER_SOLVER) {
      const rule = `must each be one of ${KINDS.join(", ")}, as in sbd:0.1`;
      throw new ArgumentError("lanes", rule, lane);
    }
    const dial = dialOf(kind);
    if (value !== undefined && !dial)
      throw new ArgumentError("lanes", `${kind} takes no value`, lane);
    const strategy = strategyOf(lane);
    const solver = strategy === "sbd" ? { solver: kind === "sbd" ? PAPER_SOLVER : kind } : {};
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
function messageOf(error) {
  if (!(error instanceof EngineError))
    return "The decode failed inside this browser; its console says where.";
  if (!(error instanceof ArgumentError)) return error.message;
  const label = FIELD_LABELS[error.argument] ?? error.argument;
  const isNothing = ["", null, undefined].some((nothing) => nothing === error.value);
  return `${label} ${error.rule}${isNothing ? "" : `; got ${shown(error.value)}`}.`;
}

/** @typedef {"end_of_sequence" | "length" | "stopped"} Finish */

/** One decode at work: its request, and the events so far. */
export class Lane {
  /**
   * @param {Checkpoint} checkpoint
   * @param {string} prompt
   * @param {number[]} promptIds
   * @param {Settings} settings
   */
  constructor(checkpoint, prompt, promptIds, settings) {
    this.checkpoint = checkpoint;
    this.prompt = prompt;
    this.promptIds = promptIds;
    this.settings = settings;
    this.name = settings.strategy;
    /** @type {StepEvent[]} */
    this.events = [];
    this.hasRevealed = false;
    this.stream = stream(checkpoint, promptIds, settings);
  }

  /** Make the next forward pass; null when the lane is complete or closed. */
  async step() {
    const { value, done } = await this.stream.next();
    if (done || !value) return null;
    this.events.push(value);
    this.hasRevealed ||= value.reveals.length > 0;
    return value;
  }

  /** Let go of the KV cache; the events stay. */
  async close() {
    await this.stream.return();
  }

  get answer() {
    return this.events.flatMap((event) => event.committed);
  }

  get text() {
    return this.checkpoint.tokenizer.decode(this.answer);
  }

  get seconds() {
    return this.events.reduce((sum, event) => sum + event.seconds, 0);
  }

  /** @returns {Finish} */
  get finish() {
    const { answer } = this;
    const last = answer.at(-1);
    if (last !== undefined && this.checkpoint.endIds.has(last)) return "end_of_sequence";
    return answer.length >= this.settings.max_new_tokens ? "length" : "stopped";
  }
}

/**
 * Makes every forward pass of every lane; null for its end. In a race it makes one of each lane in turn,
 * else lane after lane, so that nobody waits for a lane that the first is only compared with. Forward
 * passes before a lane's first reveal are no turn: they only read the prompt.
 * @param {Lane[]} lanes
 * @param {boolean} isRace
 * @returns {AsyncGenerator<[Lane, StepEvent | null], void>}
 */
async function* passes(lanes, isRace) {
  for (const group of isRace ? [lanes] : lanes.map((lane) => [lane])) {
    const running = new Set(group);
    while (running.size) {
      for (const lane of running) {
        let event;
        do {
          event = await lane.step();
          yield [lane, event];
        } while (event && !lane.hasRevealed);
        if (!event) running.delete(lane);
      }
    }
  }
}

const BYTES_PER_VALUE = 4;

/** The verdict on every answer: this engine decodes, only the server checks. @type {Verdict} */
const NOT_CHECKED = {
  right: null,
  words: "Not checked in the browser: the checks of answers are Python’s, on a server.",
};

export class RunLines {
  /** @param {string} runId @param {Checkpoint} checkpoint */
  constructor(runId, checkpoint) {
    this.runId = runId;
    this.checkpoint = checkpoint;
    /** Ids of the tokens whose texts were sent. @type {Set<number>} */
    this.sent = new Set();
    this.sequence = 0;
  }

  /**
   * The line that opens the run.
   * @param {{ prompt: string, promptIds: number[], lanes: Settings[], names: string[], ask: string }} run names: those of the lanes, unless they are their strategies
   */
  start({ prompt, promptIds, lanes, names, ask }) {
    const { name, endIds, model } = this.checkpoint;
    const { shape } = model;
    const pinned = lanes.flatMap((lane) => lane.pinned.map(([, id]) => id));
    return this.line("run", {
      prompt,
      model: name,
      lanes,
      names,
      ask,
      prompt_token_ids: promptIds,
      end_token_ids: [...endIds].sort((a, b) => a - b),
      shape: {
        hidden_size: shape.hidden,
        feed_forward_size: shape.width,
        num_heads: shape.num_heads,
        num_kv_heads: shape.num_kv_heads,
        head_size: shape.head_size,
        num_feed_forward_matrices: 3,
        num_layers: shape.num_layers,
        vocabulary_size: shape.vocabulary,
        bytes_per_value: BYTES_PER_VALUE,
      },
      versions: { engine: "browser" },
      tokens: this.texts([...promptIds, ...pinned]),
      is_recorded: false,
    });
  }

  /** The line of one forward pass of a lane. @param {string} lane @param {StepEvent} event */
  step(lane, event) {
    return this.line("step", { lane, tokens: this.texts(mentionedIds(event)), ...event });
  }

  /**
   * The line that says that a lane is complete.
   * @param {string} lane
   * @param {string} finish
   * @param {string} text the whole decoded answer
   */
  end(lane, finish, text) {
    return this.line("end", { lane, finish, text, verdict: NOT_CHECKED });
  }

  /** The texts of the tokens that no line has named yet. @param {number[]} ids */
  texts(ids) {
    const fresh = [...new Set(ids)].filter((id) => !this.sent.has(id));
    for (const id of fresh) this.sent.add(id);
    return Object.fromEntries(fresh.map((id) => [id, this.checkpoint.tokenizer.tokenText(id)]));
  }

  /**
   * One line of JSON, safe inside markup and scripts; empty fields are left out.
   * @param {string} type
   * @param {Record<string, unknown>} fields
   */
  line(type, fields) {
    const said = Object.entries(fields).filter(([, value]) => !isEmpty(value));
    const body = { run: this.runId, seq: this.sequence, type, ...Object.fromEntries(said) };
    this.sequence += 1;
    return JSON.stringify(body).replace(/[<>&\u2028\u2029]/g, escaped);
  }
}

/** Whether a field is an empty text, list or record, or null. @param {unknown} value */
function isEmpty(value) {
  if (typeof value === "object") return !Object.keys(value ?? {}).length;
  return value === "";
}

/** A character as JSON may write it, so that no markup mistakes it for its own. @param {string} character */
function escaped(character) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
