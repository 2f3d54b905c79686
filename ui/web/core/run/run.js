// One run: its settings, its token texts and its lanes, and every count that the page shows; the first
// lane is the main one. A history folds wire lines into the latest run. Knows no DOM.

import { isOffered } from "../models.js";
import { BYTE, joinBytes } from "../text/letters.js";
import { Lane } from "./lane.js";
import { MAX_POSITIONS, readStep } from "./wire.js";

/** @import { Joined } from "../text/letters.js" */
/** @import { Timing } from "./times.js" */
/** @import { Block, RunLine, WireLine } from "./wire.js" */

/**
 * A decode as the form sends it, flat: the solver's parameters stand beside the rest.
 * @typedef {Record<string, unknown> & { pinned: [offset: number, id: number][], prompt: string }} Settings
 */

const MAX_NAME = 40; // letters of the prompt

export class Run {
  /** @param {RunLine} line */
  constructor(line) {
    this.id = line.run;
    this.prompt = line.prompt ?? "";
    this.model = line.model ?? "";
    this.ask = line.ask ?? "";
    this.about = line.about ?? "";
    this.turns = (line.messages ?? []).slice(0, -1); // what was said before the prompt
    this.weights = line.weights ?? {}; // digests of what decoded, by name
    this.exactness = line.versions?.exactness ?? ""; // of verify beside next-token prediction
    this.isRecorded = Boolean(line.is_recorded);
    this.isOfBrowser = line.versions?.engine === "browser";
    this.config = line.lanes[0];
    this.strategy = this.config.strategy;
    this.solver = this.config.solver;
    this.blockSize = this.config.block_size;
    this.shape = line.shape ?? null;
    this.read = line.prompt_token_ids ?? []; // where the run says them
    /** @type {Map<number, string>} by id */
    this.tokens = new Map();
    this.hasBytes = false;
    this.addTokens(line.tokens ?? {});
    this.pins = new Map(this.config.pinned);
    const ends = new Set(line.end_token_ids ?? []);
    /** @param {number} token */
    const isEnd = (token) => ends.has(token);
    const [name = this.strategy, ...names] = line.names ?? [];
    this.main = new Lane(name, this.pins, isEnd);
    const others = line.lanes
      .slice(1)
      .map(
        ({ strategy, pinned }, index) => new Lane(names[index] ?? strategy, new Map(pinned), isEnd),
      );
    this.lanes = new Map([this.main, ...others].map((lane) => [lane.name, lane]));
    this.ntp = this.main.name === "ntp" ? null : (this.lanes.get("ntp") ?? null);
    this.isStopped = false;
    /** @type {Timing | null} of the run made again, which a replay page brings along */
    this.timing = null;
    /** @type {string[]} the wire lines that made it, so that it can be kept */
    this.lines = [];
    this.numCharacters = 0;
  }

  /** @param {string} row a wire line that is folded in */
  remember(row) {
    this.lines.push(row);
    this.numCharacters += row.length;
  }

  /** @param {Record<string, string>} texts by id */
  addTokens(texts) {
    for (const [id, text] of Object.entries(texts)) {
      this.tokens.set(Number(id), text);
      this.hasBytes ||= BYTE.test(text);
    }
  }

  /**
   * Characters that tokens fixed by `pass` spell together, see joinBytes.
   * @param {Lane} lane
   * @param {number} pass
   * @returns {Map<number, Joined>}
   */
  joinedAt(lane, pass) {
    if (!this.hasBytes) return new Map();
    const known = [...lane.fixed.values()]
      .filter((item) => item.pass <= pass)
      .sort((a, b) => a.position - b.position);
    return joinBytes(
      known.map(({ position, token }) => ({ position, text: this.tokenText(token) })),
    );
  }

  /**
   * A token as the page shows it: what ends the answer is "end", whatever the model calls it.
   * @param {number | undefined} token
   */
  shownText(token = -1) {
    return this.main.isEnd(token) ? "end" : this.tokenText(token);
  }

  /** @param {number | undefined} token */
  tokenText(token = -1) {
    return this.tokens.get(token) ?? "";
  }

  /** Tokens of the prompt, as the model read it. */
  get numPrompt() {
    const [first] = this.main.steps;
    return first?.kind === "prefill" ? first.causal : this.read.length;
  }

  /**
   * The settings of this run with some changed, flat, as the form sends them.
   * @param {Record<string, unknown>} changes
   * @returns {Settings}
   */
  settings(changes = {}) {
    const { strategy, solver, pinned, seed, block_size, max_new_tokens, repetition_penalty } =
      this.config;
    const { name, ...parameters } = solver;
    return {
      prompt: this.prompt,
      strategy,
      solver: name,
      ...parameters,
      block_size,
      max_new_tokens,
      seed,
      repetition_penalty,
      ...(isOffered(this.model) ? { model: this.model } : {}),
      ...(strategy === "verify" ? { max_rows: this.config.max_rows ?? 0 } : {}),
      ...(this.isConversation ? { turns: this.turns } : {}),
      ...(!this.isConversation && this.system ? { system: this.system } : {}),
      pinned,
      ...changes,
    };
  }

  /** The system prompt; "" for none. */
  get system() {
    const [role, content] = this.turns[0] ?? [];
    return role === "system" && content ? content : "";
  }

  /** Whether its prompt answers to something that was said before. */
  get isConversation() {
    return this.turns.length > (this.system ? 1 : 0);
  }

  /** Changes that a follow-up makes to its settings. @param {string} prompt */
  followUp(prompt) {
    const said = [
      ["user", this.prompt],
      ["assistant", this.main.text],
    ];
    return { prompt, turns: [...this.turns, ...said], pinned: [] };
  }

  /** Name of its files: sbd-tara-has-49-pencils */
  get fileStem() {
    const words = this.prompt.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    const short = words.replace(/^-+/, "").slice(0, MAX_NAME).replace(/-+$/, "");
    return [this.strategy, short].filter(Boolean).join("-");
  }

  get isComplete() {
    return this.isStopped || [...this.lanes.values()].every((lane) => lane.finish !== null);
  }

  /**
   * The positions shown as tiles at `pass`: the block predicted, or the one about to be; where all
   * that was left was given, the last one.
   * @param {number} pass
   * @returns {Block}
   */
  windowAt(pass) {
    const step = this.main.steps[pass];
    const size = Math.min(this.blockSize, MAX_POSITIONS);
    if (!step) return { start: 0, size };
    const { block, committed, committedBefore } = step;
    if (this.strategy !== "sbd") return { start: committedBefore, size };
    if (block.size > 0) return block;
    const last = Math.max(committedBefore + committed.length - 1, 0);
    return { start: size ? last - (last % size) : 0, size };
  }

  /** First pass of each block (or of each window, for other strategies none). */
  get blockPasses() {
    /** @type {number[]} */
    const passes = [];
    let last = -1;
    this.main.steps.forEach((step, pass) => {
      if (this.strategy !== "sbd" || step.block.size === 0 || step.block.start === last) return;
      last = step.block.start;
      passes.push(pass);
    });
    return passes;
  }

  /**
   * The numbers of the header: those of `pass`, and those of the whole run, null until it came to its
   * end, however early. ntpPasses are what next-token prediction needs for the tokens of this answer, one
   * each; ntpTokens and ntpSeconds, once it is at its end too, are those of the answer that it wrote itself,
   * which may have another length. Tokens that were given count as tokens of the answer, not as
   * decoded; next-token prediction is given none, so it has other work then and no numbers here.
   * @param {number} pass
   */
  numbersAt(pass) {
    const { main, ntp } = this;
    const isWhole = main.finish !== null;
    const beside = isWhole && ntp?.finish && ntp.numCommitted ? ntp : null;
    const numPasses = Math.min(pass, main.lastPass) + 1;
    const numTokens = main.numTokensAt(pass);
    const numGiven = main.numGivenAt(pass);
    const wholePasses = isWhole ? main.steps.length : null;
    return {
      numPasses,
      numTokens,
      numGiven,
      tokensPerPass: numPasses ? (numTokens - numGiven) / numPasses : 0,
      wholePasses,
      wholeTokens: this.numDecodedWhole,
      ntpPasses: isWhole && ntp && !main.pins.size ? this.numDecodedWhole : null,
      ntpTokens: beside?.numCommitted ?? this.numDecodedWhole,
      seconds: isWhole ? main.secondsAt(main.lastPass) : null,
      ntpSeconds: beside && !main.pins.size ? beside.secondsAt(beside.lastPass) : null,
    };
  }

  /** Tokens of the answer by now that were not given. */
  get numDecodedWhole() {
    const { main } = this;
    return main.numTokensAt(main.lastPass) - main.numGivenAt(main.lastPass);
  }
}

/** Folds wire lines into the latest run; drops what was seen and what belongs to old runs. */
export class History {
  constructor() {
    /** @type {Run | null} the run on the page: the latest, or one of its family */
    this.run = null;
    /** @type {Run | null} */
    this.latest = null;
    this.lastSequence = -1;
  }

  /**
   * Read wire text. Returns "run" when a new run began, "more" for news, else null.
   * @param {string} text
   */
  accept(text) {
    /** @type {"run" | "more" | null} */
    let news = null;
    for (const row of text.split("\n")) {
      if (!row) continue;
      /** @type {WireLine} */
      const line = JSON.parse(row);
      if (line.type === "run" && line.run !== this.latest?.id) {
        this.latest = new Run(line);
        this.run = this.latest;
        news = "run";
      } else {
        if (line.run !== this.latest?.id || line.seq <= this.lastSequence) continue;
        applyLine(this.latest, line);
        news ??= "more";
      }
      this.latest?.remember(row);
      this.lastSequence = line.seq;
    }
    return news;
  }
}

/** @param {Run} run @param {WireLine} line */
function applyLine(run, line) {
  run.addTokens(line.tokens ?? {});
  if (line.type === "timing") run.timing = line;
  if (line.type !== "step" && line.type !== "end") return;
  const lane = run.lanes.get(line.lane);
  if (line.type === "step") lane?.append(readStep(line));
  else lane?.complete(line);
}
