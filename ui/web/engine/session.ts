// Decodes for one visitor in this browser: takes a form and returns the lines of a run. Checks the form as
// ui/decode/form.py does, lets lanes take turns as ui/decode/session.py does, and writes the lines of
// sbd_core/run_lines.py. Knows no worker and no page.

import constants from "../constants.json" with { type: "json" };
import { randomId } from "../core/random.ts";
import type { Verdict } from "../core/run.ts";
import { NUM_TIMINGS, type Timing } from "../core/times.ts";
import { mentionedIds } from "../core/trace.ts";
import { KINDS, laneSettingOf, PAPER_SOLVER, strategyOf } from "../core/words.ts";
import { FIRST_VALUES, readSettings, requireNumber, type Settings } from "./decoding/settings.ts";
import type { StepEvent } from "./decoding/state.ts";
import { stream } from "./decoding/stream.ts";
import { ArgumentError, EngineError } from "./errors.ts";
import type { Checkpoint } from "./export.ts";

export interface News {
  about: "decode" | "compare" | "timing";
  text?: string; // a line for the visitor; "" clears the last one
  isError?: boolean;
  isRunning?: boolean;
  wire?: string; // lines for the player; "stop" after the last line of a stopped run
  timing?: Timing;
}

const MS_BETWEEN_NEWS = 60;
const MS_BETWEEN_RECEIVES = 12;
const MAX_REQUEST_ID = 16;
const STOPPED_TEXT = "Stopped.";
const WARM_UP = { prompt: "Write a story.", max_new_tokens: 32, gamma: 0 };
const NUM_WARM_UPS = 8;

export class Session {
  turn = 0;
  receivedAt = 0;

  constructor(
    readonly checkpoint: Checkpoint,
    readonly say: (news: News) => void,
    readonly receiveMessages: () => Promise<void>,
  ) {}

  /** End whatever runs after its current forward pass. */
  stop() {
    this.turn += 1;
  }

  /** Whether a turn still runs; from time to time receives messages first. */
  async isCurrent(turn: number) {
    if (performance.now() - this.receivedAt > MS_BETWEEN_RECEIVES) {
      await this.receiveMessages();
      this.receivedAt = performance.now();
    }
    return turn === this.turn;
  }

  /** Decode a form, and send the page its news. */
  async decode(form: Form) {
    const requestId = String(form.ask ?? "").slice(0, MAX_REQUEST_ID);
    await this.runTurn("decode", () => this.makeLanes(form), requestId);
  }

  /** Decode a prompt in several ways, each in a lane, and send the page their news. */
  async compare(names: string[], form: Form) {
    const laneOf = (name: string, own: Form) =>
      Object.assign(this.makeLanes(own)[0] as Lane, { name });
    const lanes = () => laneForms(names, form).map(([name, own]) => laneOf(name, own));
    await this.runTurn("compare", lanes, "");
  }

  /** Run lanes in a new turn, which ends the one before, and send how it ended. */
  async runTurn(about: "decode" | "compare", makeLanes: () => Lane[], requestId: string) {
    this.stop();
    const { turn } = this;
    let lanes: Lane[] = [];
    try {
      lanes = makeLanes();
      await this.run(about, lanes, requestId, turn);
      const isStopped = turn !== this.turn;
      this.say({ about, text: isStopped ? STOPPED_TEXT : "", isRunning: false });
    } catch (error) {
      if (!(error instanceof EngineError)) console.error(error);
      this.say({ about, text: messageOf(error), isError: true, isRunning: false });
    } finally {
      for (const lane of lanes) await lane.close();
    }
  }

  /** Check a form and return its lanes, not yet started: the requested one, then next-token prediction. */
  makeLanes(form: Form) {
    const { prompt, promptIds, settings } = readRequest(this.checkpoint, form);
    const laneOf = (own: Settings) => new Lane(this.checkpoint, prompt, promptIds, own);
    if (settings.strategy === "ntp") return [laneOf(settings)];
    const others = { solver: { name: PAPER_SOLVER }, pinned: [] };
    const ntp = readSettings({ ...settings, ...others, strategy: "ntp" });
    return [laneOf(settings), laneOf(ntp)];
  }

  /** Make the forward passes of lanes and send their lines, until all lanes or the turn have ended. */
  async run(about: "decode" | "compare", lanes: Lane[], requestId: string, turn: number) {
    const [main] = lanes;
    const wire = new RunLines(randomId(8), this.checkpoint);
    const settings = lanes.map((lane) => lane.settings);
    const names = about === "compare" ? lanes.map(({ name }) => name) : [];
    let lines = [wire.start(main, settings, names, requestId)];
    let sentAt = performance.now();
    let isAwaited = true; // until the main lane's first reveal, which is sent without delay
    let isCut = false;
    for await (const [lane, event] of passes(lanes, about === "compare")) {
      lines.push(event ? wire.step(lane.name, event) : wire.end(lane.name, lane.finish, lane.text));
      const isDue = performance.now() - sentAt > MS_BETWEEN_NEWS || (isAwaited && main.hasRevealed);
      if (isDue) {
        isAwaited &&= !main.hasRevealed;
        sentAt = performance.now();
        this.say({ about, wire: lines.join("\n"), text: "Decoding …", isRunning: true });
        lines = [];
      }
      isCut = !(await this.isCurrent(turn));
      if (isCut) break;
    }
    if (lines.length) this.say({ about, wire: lines.join("\n"), isRunning: true });
    if (isCut) this.say({ about, wire: "stop", isRunning: true });
  }

  /** Decode a little that nobody sees and times: a browser is slow at what it has not yet compiled for speed. */
  async warmUp() {
    const strategy = this.checkpoint.maskId === null ? "ntp" : "sbd";
    for (const lane of await this.makeLanes({ ...WARM_UP, strategy })) {
      for (let i = 0; i < NUM_WARM_UPS; i += 1) await lane.step();
      await lane.close();
    }
  }

  /** Repeat a decode a few times and send the engine times. */
  async time(form: Form) {
    this.stop();
    const { turn } = this;
    const timing: Timing = { run: String(form.ask), seconds: [], ntpSeconds: [] };
    try {
      for (let i = 0; i < NUM_TIMINGS; i += 1) {
        const [main, ntp = main] = this.makeLanes(form);
        for (const lane of new Set([main, ntp])) {
          while (await lane.step()) if (!(await this.isCurrent(turn))) return await lane.close();
        }
        timing.seconds.push(main.seconds);
        timing.ntpSeconds.push(ntp.seconds);
        this.say({ about: "timing", timing });
      }
    } catch (error) {
      this.say({ about: "timing", timing: { ...timing, error: messageOf(error) } });
    }
  }
}

const { promptCharacters, newTokens, templateCharacters, block: shownBlock } = constants.limits;
const TOP_RECORDED = 5;
const BLANK = /_{3,}(?:\((\d+)\)|(\d+))?/g;

/** The fields of a decode by name, unchecked. */
export type Form = Record<string, unknown>;

const DEFAULTS: Form = {
  ...FIRST_VALUES,
  ...constants.formDefaults,
  strategy: "sbd",
  template: "",
};
/** What a form cannot choose. */
const GIVEN = { temperature: 0, top_k_recorded: TOP_RECORDED, is_raw_prompt: false };

/** Check a form and return its prompt and settings. Raises ArgumentError naming field, rule and value. */
function readRequest(checkpoint: Checkpoint, form: Form) {
  const fields = { ...DEFAULTS, ...form, ...GIVEN } as Form;
  const { prompt } = fields;
  if (typeof prompt !== "string" || !prompt.trim())
    throw new ArgumentError("prompt", "must not be empty", "");
  requireAtMost("prompt", prompt.length, promptCharacters, "characters");
  const settings = readSettings({
    ...Object.fromEntries(Object.keys(FIRST_VALUES).map((name) => [name, fields[name]])),
    solver: { ...fields, name: fields.solver },
    allows_untrained_block_size: Number(fields.block_size) >= 2,
    // 0 stands for the model's own, and for the engine's default.
    repetition_penalty: fields.repetition_penalty || checkpoint.repetitionPenalty,
    max_rows: fields.max_rows || checkpoint.usualRows,
  });
  const { max_new_tokens: longest, block_size: blockSize } = settings;
  requireAtMost("max_new_tokens", longest, newTokens, "tokens on this page");
  // The form's pins replace those of its template at the same offset.
  const pins = new Map([
    ...templatePins(checkpoint, fields.template, settings),
    ...settings.pinned,
  ]);
  settings.pinned = [...pins].sort(([a], [b]) => a - b);
  const promptIds = checkpoint.tokenizer.encodePrompt(prompt, false);
  checkFits(checkpoint, promptIds, settings);
  requireAtMost("block_size", blockSize, shownBlock, "positions on this page");
  return { prompt, promptIds, settings };
}

/** Raise ArgumentError naming what does not fit the model. */
function checkFits({ model, name, maskId }: Checkpoint, promptIds: number[], settings: Settings) {
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
    requireNumber(`pinned[${offset}]`, id, 0, vocabulary - 1, "whole");
    if (id === maskId)
      throw new ArgumentError(`pinned[${offset}]`, "must not be the mask token", id);
  }
}

/** Return the form of each lane with the lane's name, without duplicates. Raises ArgumentError. */
export function laneForms(lanes: string[], form: Form): [lane: string, form: Form][] {
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
    const dial = laneSettingOf(kind);
    if (value !== undefined && !dial)
      throw new ArgumentError("lanes", `${kind} takes no value`, lane);
    const strategy = strategyOf(lane);
    const solver = strategy === "sbd" ? { solver: kind === "sbd" ? PAPER_SOLVER : kind } : {};
    const setting = value === undefined || !dial ? {} : { [dial[0]]: Number(value) };
    return [lane, { ...form, strategy, ...solver, ...setting }];
  });
}

function requireAtMost(argument: string, value: number, most: number, unit: string) {
  const rule = `must be at most ${most.toLocaleString("en")} ${unit}`;
  if (value > most) throw new ArgumentError(argument, rule, value);
}

/**
 * Return the pinned tokens of a template.
 * @param template an answer with blanks, as in "The ___ sat"; "" for none
 */
function templatePins(
  { tokenizer, endIds }: Checkpoint,
  template: unknown,
  settings: Settings,
): [number, number][] {
  if (typeof template !== "string") throw new ArgumentError("template", "must be text", template);
  if (!template.trim()) return [];
  requireAtMost("template", template.length, templateCharacters, "characters");
  if (settings.strategy !== "sbd") {
    throw new ArgumentError("template", "needs the strategy Set Block Decoding", settings.strategy);
  }
  const tokens: (number | null)[] = [];
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
  const pins = [...tokens.entries()] as [number, number][];
  return pins.filter(([, id]) => id !== null);
}

/** Return the number of tokens that a blank stands for. */
function blankLength(blank: RegExpMatchArray) {
  const digits = blank[1] ?? blank[2] ?? "1";
  const length = digits.length <= 4 ? Number(digits) : 0;
  if (length >= 1 && length <= templateCharacters) return length;
  const rule = `must have blanks of 1 to ${templateCharacters.toLocaleString("en")} tokens`;
  throw new ArgumentError("template", rule, blank[0]);
}

/** Return a line for the visitor, of an ArgumentError with its field, rule and value. */
function messageOf(error: unknown) {
  if (!(error instanceof EngineError))
    return "The decode failed inside this browser; its console says where.";
  return error instanceof ArgumentError ? error.words : error.message;
}

/** One decode in progress: its request, and the events so far. */
export class Lane {
  name = this.settings.strategy;
  events: StepEvent[] = [];
  hasRevealed = false;
  stream = stream(this.checkpoint, this.promptIds, this.settings);

  constructor(
    readonly checkpoint: Checkpoint,
    readonly prompt: string,
    readonly promptIds: number[],
    readonly settings: Settings,
  ) {}

  /** Make the next forward pass and return its event; null if the lane is complete or closed. */
  async step() {
    const { value, done } = await this.stream.next();
    if (done || !value) return null;
    this.events.push(value);
    this.hasRevealed ||= value.reveals.length > 0;
    return value;
  }

  /** Free the KV cache; the events stay. */
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

  get finish() {
    const { answer } = this;
    if (this.checkpoint.endIds.has(answer.at(-1) ?? -1)) return "end_of_sequence";
    return answer.length >= this.settings.max_new_tokens ? "length" : "stopped";
  }
}

/**
 * Make all forward passes of all lanes; null follows a lane's last event. In a race the lanes take turns, one forward
 * pass each. Otherwise lane follows lane, so that the first need not wait for one that it is only compared with. All of
 * a lane's forward passes up to its first reveal are one turn, as those before it only read the prompt.
 */
async function* passes(
  lanes: Lane[],
  isRace: boolean,
): AsyncGenerator<[Lane, StepEvent | null], void> {
  for (const group of isRace ? [lanes] : lanes.map((lane) => [lane])) {
    const running = new Set(group);
    while (running.size) {
      for (const lane of running) {
        let event: StepEvent | null;
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

/** The verdict on every answer, as answers are checked on a server only. */
const NOT_CHECKED: Verdict = {
  right: null,
  words: "Not checked in the browser: the checks of answers are Python’s, on a server.",
};

/** Writes the lines of one run; see sbd_core/run_lines.py. */
export class RunLines {
  /** Ids of the tokens whose texts have been written. */
  sent: Set<number> = new Set();
  sequence = 0;

  constructor(
    readonly runId: string,
    readonly checkpoint: Checkpoint,
  ) {}

  /** Return the line that begins a run. @param lanes their settings @param names empty if these are their strategies */
  start(
    { prompt, promptIds }: Pick<Lane, "prompt" | "promptIds">,
    lanes: Settings[],
    names: string[],
    requestId: string,
  ) {
    const { name, endIds, model } = this.checkpoint;
    const { shape } = model;
    const pinned = lanes.flatMap((lane) => lane.pinned.map(([, id]) => id));
    return this.line("run", {
      prompt,
      model: name,
      lanes,
      names,
      ask: requestId,
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

  step(lane: string, event: StepEvent) {
    return this.line("step", { lane, tokens: this.texts(mentionedIds(event)), ...event });
  }

  /** Return the line that says that a lane is complete. @param text the whole answer */
  end(lane: string, finish: string, text: string) {
    return this.line("end", { lane, finish, text, verdict: NOT_CHECKED });
  }

  /** Return the texts of the tokens that no line has mentioned yet, by id. */
  texts(ids: number[]) {
    const fresh = [...new Set(ids)].filter((id) => !this.sent.has(id));
    for (const id of fresh) this.sent.add(id);
    return Object.fromEntries(fresh.map((id) => [id, this.checkpoint.tokenizer.tokenText(id)]));
  }

  /** Return a line of JSON that is safe inside markup and scripts. Empty fields are left out. */
  line(type: string, fields: Record<string, unknown>) {
    const written = Object.entries(fields).filter(([, value]) => !isEmpty(value));
    const body = { run: this.runId, seq: this.sequence, type, ...Object.fromEntries(written) };
    this.sequence += 1;
    return JSON.stringify(body).replace(/[<>&\u2028\u2029]/g, escaped);
  }
}

/** Whether a field is an empty text, list or record, or null. */
function isEmpty(value: unknown) {
  if (typeof value === "object") return !Object.keys(value ?? {}).length;
  return value === "";
}

/** Return a character as a JSON escape, so that it cannot act as markup. */
function escaped(character: string) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
