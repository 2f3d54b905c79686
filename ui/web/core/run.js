// A run, read from the lines that sbd_core/run_lines.py writes on a server and engine/session.js in the
// browser: its settings, its lanes of forward passes, and every count that the page shows. A pass is an index
// into a lane's steps, a position an offset in the answer; the first lane is the main one. Knows no DOM.

import constants from "../constants.json" with { type: "json" };
import { BYTE, joinBytes } from "./letters.js";

/** @import { Timing } from "./times.js" */
/** @import { Joined } from "./letters.js" */

// Bounds of what the page shows of any run, whatever a link or a file asks: too many elements freeze a tab.
const MAX_POSITIONS = constants.limits.positions;
export const MAX_TILES = constants.limits.block;

/** Less than this would read 0.0 %. */
const MIN_SHOWN_PROBABILITY = 0.0005;

/** @typedef {{ name: string, gamma?: number, [parameter: string]: string | number | undefined }} Solver */
/** @typedef {{ token: number, probability: number }} Top one of the best candidates; a token is its id */
/** @typedef {{ position: number, entropy: number, top: Top[] }} Masked entropy in nats */
/** @typedef {{ position: number, token: number, rank: number, probability: number }} Reveal */
/** @typedef {{ position: number, probability: number, argmax: number, argmaxProbability: number }} Hindsight */
/** @typedef {{ start: number, size: number }} Block in positions of the answer */
/**
 * A draft for the case that the drafted token at `position` is thrown away; its tokens
 * stand behind the exact one that comes there instead. size: positions predicted. alternative: another
 * token than the drafted one before `position`, read causally; isUsed then says that it was right, and
 * its tokens begin at `position`.
 * @typedef {{ position: number, size: number, isUsed: boolean, tokens: number[], alternative?: number }} Predraft
 */

/**
 * Request of a lane.
 * @typedef {object} Config
 * @property {string} strategy
 * @property {Solver} solver
 * @property {number} block_size
 * @property {number} max_new_tokens
 * @property {number} seed
 * @property {[offset: number, id: number][]} pinned
 * @property {number} repetition_penalty
 * @property {number | null} [max_rows] none: by the costs of rows on the machine that decoded
 * @property {number} [temperature]
 */

/**
 * One forward pass; empty fields may be left out.
 * @typedef {object} EventData
 * @property {string} kind
 * @property {[cached: number, causal: number]} context
 * @property {[start: number, size: number]} block
 * @property {[position: number, entropy: number, ids: number[], probabilities: number[]][]} [masked]
 * @property {[position: number, id: number, rank: number, probability: number][]} [reveals]
 * @property {number[]} [committed]
 * @property {number[]} [draft]
 * @property {[position: number, id: number, probability: number, argmax: number, argmaxProbability: number][]} [hindsight]
 * @property {number} seconds
 * @property {[start: number, size: number, ids: number[], isUsed: boolean, alternative?: number][]} [predrafts]
 */

/** @typedef {Record<"hidden_size" | "feed_forward_size" | "num_heads" | "num_kv_heads" | "head_size" | "num_feed_forward_matrices" | "num_layers" | "vocabulary_size" | "bytes_per_value", number>} Shape */

/** @typedef {{ right: boolean | null, words: string }} Verdict on a lane's whole answer; null: its checker was not run, the words say why */

/** @typedef {{ run: string, seq: number, tokens?: Record<string, string> }} Head tokens: texts of those first named here */

/**
 * Opening of a decode.
 * @typedef {object} Opening
 * @property {"run"} type
 * @property {[main: Config, ...others: Config[]]} lanes
 * @property {string[]} [names] of the lanes, where those are not their strategies
 * @property {string} [prompt]
 * @property {string} [model]
 * @property {string} [ask]
 * @property {string} [about] what to look at in a recorded run
 * @property {number[]} [prompt_token_ids] as the model reads them
 * @property {number[]} [end_token_ids]
 * @property {Shape} [shape]
 * @property {Record<string, string>} [versions] of what decodes
 * @property {Record<string, string>} [weights] digests
 * @property {[role: string, content: string][]} [messages] the conversation, the prompt last
 * @property {boolean} [is_recorded]
 */
/** @typedef {Head & Opening} RunLine */
/** @typedef {Head & EventData & { type: "step", lane: string }} StepLine */
/** @typedef {Head & { type: "end", lane: string, finish: string, text?: string, verdict?: Verdict }} EndLine */
/** @typedef {Head & { type: "timing", seconds: number[], ntpSeconds: number[] }} TimingLine engine seconds of each time that the run was made again, and next-token prediction */
/** @typedef {RunLine | StepLine | EndLine | TimingLine} WireLine */

/**
 * One forward pass.
 * @typedef {object} Step
 * @property {string} kind
 * @property {number} cached tokens in the KV cache before it
 * @property {number} causal tokens it read causally
 * @property {Block} block
 * @property {Map<number, Masked>} masked
 * @property {Reveal[]} reveals in the solver's order
 * @property {number[]} committed
 * @property {number[]} draft
 * @property {Predraft[]} predrafts
 * @property {Hindsight[]} hindsight
 * @property {number} seconds of the engine
 */

/** The forward pass of an event. @param {EventData} event @returns {Step} */
export function readStep(event) {
  const { kind, context, block, committed = [], draft = [], seconds } = event;
  const { masked = [], reveals = [], hindsight = [], predrafts = [] } = event;
  return {
    kind,
    cached: context[0],
    causal: context[1],
    block: readBlock(block),
    masked: new Map(masked.map((row) => [row[0], readMasked(row)])),
    reveals: reveals
      .map(([position, token, rank, probability]) => ({ position, token, rank, probability }))
      .sort((a, b) => a.rank - b.rank),
    committed,
    draft,
    predrafts: predrafts.map(([position, size, tokens, isUsed, alternative]) => ({
      position,
      size,
      isUsed,
      tokens,
      ...(alternative !== undefined && { alternative }),
    })),
    hindsight: hindsight.map(([position, , probability, argmax, argmaxProbability]) => ({
      position,
      probability,
      argmax,
      argmaxProbability,
    })),
    seconds,
  };
}

/**
 * Best first, without what would read 0.0 %.
 * @param {[position: number, entropy: number, ids: number[], probabilities: number[]]} row
 * @returns {Masked}
 */
function readMasked([position, entropy, ids, probabilities]) {
  const top = ids.map((token, rank) => ({ token, probability: probabilities[rank] ?? 0 }));
  const isShown = ({ probability = 0 }, /** @type {number} */ rank) =>
    !rank || probability >= MIN_SHOWN_PROBABILITY;
  return { position, entropy, top: top.filter(isShown) };
}

/** @param {[start: number, size: number]} block @returns {Block} */
function readBlock([start, size]) {
  return { start: Math.min(start, MAX_POSITIONS), size: Math.min(size, MAX_POSITIONS) };
}

/**
 * When, how and as what a position was fixed.
 * @typedef {object} FixedItem
 * @property {number} position
 * @property {number} token
 * @property {number} pass
 * @property {number} rank in the solver's order
 * @property {number | null} probability null where no solver revealed it
 * @property {number | null} entropy at its reveal, nats
 * @property {boolean} [isPinned] whether it was given
 */
/** @typedef {Step & { committedBefore: number }} LaneStep */

export class Lane {
  /**
   * @param {string} name
   * @param {Map<number, number>} pins offset to token, those given
   * @param {(token: number) => boolean} [isEnd] whether a token ends the answer
   */
  constructor(name, pins, isEnd = () => false) {
    this.name = name;
    this.pins = pins;
    this.isEnd = isEnd;
    /** @type {FixedItem[]} tokens that end the answer, in the order in which they came */
    this.ends = [];
    /** @type {LaneStep[]} */
    this.steps = [];
    /** @type {Map<number, FixedItem>} */
    this.fixed = new Map();
    /** @type {Map<number, Hindsight & { pass: number }>} */
    this.hindsight = new Map();
    this.numCommitted = 0;
    /** @type {string | null} */
    this.finish = null;
    this.text = "";
    /** @type {Verdict | null} null where nothing could check the answer */
    this.verdict = null;
    /** @type {{ state: string, counts: number[] }} */
    this.counted = { state: "", counts: [] };
  }

  /** @param {Step} step */
  append(step) {
    const pass = this.steps.length;
    const isLast = step.committed.some((token) => this.isEnd(token));
    this.steps.push({
      ...step,
      committedBefore: this.numCommitted,
      draft: isLast ? [] : step.draft,
      predrafts: step.predrafts.map((each) => (isLast ? { ...each, isUsed: false } : each)),
    });
    for (const reveal of step.reveals) {
      const entropy = step.masked.get(reveal.position)?.entropy ?? null;
      this.fix({ ...reveal, pass, entropy });
    }
    for (const [position, token] of this.pins) {
      if (position < step.block.start + step.block.size) this.give(position, token, pass, true);
    }
    step.committed.forEach((token, offset) => {
      const position = this.numCommitted + offset;
      this.give(position, token, pass, this.pins.has(position));
    });
    this.numCommitted += step.committed.length;
    for (const item of step.hindsight) this.hindsight.set(item.position, { ...item, pass });
  }

  /** The lane is complete. @param {Pick<EndLine, "finish" | "text" | "verdict">} line */
  complete({ finish, text, verdict }) {
    this.finish = finish;
    this.text = text ?? "";
    this.verdict = verdict ?? null;
  }

  /**
   * A position that no solver revealed: it was pinned, or came with the commit.
   * @param {number} position
   * @param {number} token
   * @param {number} pass
   * @param {boolean} isPinned
   */
  give(position, token, pass, isPinned) {
    if (this.fixed.has(position)) return;
    const unknown = { rank: 0, probability: null, entropy: null };
    this.fix({ position, token, pass, ...unknown, isPinned });
  }

  /** @param {FixedItem} item */
  fix(item) {
    this.fixed.set(item.position, item);
    if (this.isEnd(item.token)) this.ends.push(item);
  }

  get lastPass() {
    return this.steps.length - 1;
  }

  /** The end of the answer, exclusive; Infinity while that is not known. */
  get end() {
    return this.endAt(this.lastPass);
  }

  /**
   * Where the answer is seen to end at `pass`, exclusive; Infinity while nothing says so. A limit
   * on its length is known from the start, a token that ends it once it is there.
   * @param {number} pass
   */
  endAt(pass) {
    const { finish, numCommitted } = this;
    if (finish !== null && finish !== "end_of_sequence") return numCommitted;
    const least = finish === null ? 0 : numCommitted - 1;
    const isWhole = finish !== null && this.fixedAt(least, pass) !== null;
    const seen = this.ends.filter((item) => item.pass <= pass && item.position >= least);
    return isWhole ? numCommitted : Math.min(...seen.map(({ position }) => position)) + 1;
  }

  /**
   * Whether it can be seen at `pass` that a position is after the end of the answer.
   * @param {number} position
   * @param {number} pass
   */
  isAfterEnd(position, pass) {
    const end = this.endAt(pass);
    if (position < end) return false;
    return this.fixedAt(position, pass) !== null || this.fixedAt(end - 1, pass) !== null;
  }

  /**
   * Tokens of earlier passes that `pass` put after the end of the answer: it revealed an earlier end.
   * @param {number} pass
   */
  numDroppedAt(pass) {
    const [before, end] = [this.endAt(pass - 1), this.endAt(pass)];
    const known = [...this.fixed.values()].filter((item) => item.pass < pass);
    return known.filter(({ position }) => position >= end && position < before).length;
  }

  /**
   * Tokens by `pass` in whose place next-token prediction, asked later, would have had another.
   * @param {number} pass
   */
  disagreementsAt(pass) {
    return [...this.hindsight.values()].filter((item) => this.disagrees(item.position, pass));
  }

  /**
   * Tokens of the answer that were read again by `pass`, so that hindsight knows of them.
   * @param {number} pass
   */
  numReadAgainAt(pass) {
    const known = [...this.hindsight.values()];
    const end = this.endAt(pass);
    return known.filter((item) => item.pass <= pass && item.position < end).length;
  }

  /** @param {number} position @param {number} pass */
  disagrees(position, pass) {
    const item = this.hindsight.get(position);
    if (!item || item.pass > pass || position >= this.endAt(pass)) return false;
    return item.argmax !== this.fixed.get(position)?.token;
  }

  /** Tokens fixed by the end of each pass that were not seen then to be after the end. */
  get tokensByPass() {
    const state = `${this.steps.length}/${this.finish}`;
    if (this.counted.state === state) return this.counted.counts;
    const { end: last } = this;
    const late = [...this.fixed.values()].filter(({ position }) => position >= last);
    const added = new Array(this.steps.length).fill(0);
    for (const item of this.fixed.values()) added[item.pass] += 1;
    let sum = 0;
    const counts = added.map((count, pass) => {
      sum += count;
      const end = this.endAt(pass);
      return sum - late.filter((item) => item.pass <= pass && item.position >= end).length;
    });
    this.counted = { state, counts };
    return counts;
  }

  /** Tokens fixed by the end of `pass` that belong to the answer. @param {number} pass */
  numTokensAt(pass) {
    return this.tokensByPass[Math.min(pass, this.lastPass)] ?? 0;
  }

  /** How many of those the model did not decode: they were pinned. @param {number} pass */
  numGivenAt(pass) {
    if (!this.pins.size) return 0;
    return this.knownAt(pass).filter((item) => item.isPinned).length;
  }

  /**
   * Positions of the answer fixed by the end of `pass`, from left to right.
   * @param {number} pass
   */
  knownAt(pass) {
    const end = this.endAt(pass);
    return [...this.fixed.values()]
      .filter((item) => item.pass <= pass && item.position < end)
      .sort((a, b) => a.position - b.position);
  }

  /** Engine seconds up to and including `pass`. @param {number} pass */
  secondsAt(pass) {
    return this.steps.slice(0, pass + 1).reduce((sum, step) => sum + step.seconds, 0);
  }

  /**
   * The reveal of `position` if it happened by `pass`.
   * @param {number} position
   * @param {number} pass
   */
  fixedAt(position, pass) {
    const item = this.fixed.get(position);
    return item && item.pass <= pass ? item : null;
  }

  /** Entropy of `position` at every pass that saw it masked. @param {number} position */
  entropyHistory(position) {
    return this.steps.flatMap((step, pass) => {
      const masked = step.masked.get(position);
      return masked ? [{ pass, entropy: masked.entropy }] : [];
    });
  }
}

/** The alternative that was right where the draft was not. @param {Predraft[]} predrafts */
export function rightAlternative(predrafts) {
  return predrafts.find(({ isUsed, alternative }) => isUsed && alternative !== undefined);
}

/**
 * The draft that `pass` checked.
 * @param {Lane} lane
 * @param {number} pass
 * @returns {{ start: number, tokens: number[], numAccepted: number }}
 */
export function checkedDraft(lane, pass) {
  const [before, step] = [lane.steps[pass - 1], lane.steps[pass]];
  if (!before?.draft.length || !step) return { start: 0, tokens: [], numAccepted: 0 };
  const tokens = before.draft;
  const firstOther = tokens.findIndex((token, index) => step.committed[index] !== token);
  return {
    start: before.committedBefore + before.committed.length,
    tokens,
    numAccepted: firstOther < 0 ? tokens.length : firstOther,
  };
}

/**
 * Outcome at `pass` of a position that may have been drafted.
 * @param {Lane} lane
 * @param {number} pass
 * @param {number} position
 * @returns {{ drafted: number | undefined, isAccepted: boolean }} drafted: the token, if there was one
 */
export function draftedAt(lane, pass, position) {
  const { start, tokens, numAccepted } = checkedDraft(lane, pass);
  return { drafted: tokens[position - start], isAccepted: position - start < numAccepted };
}

/** numHidden: tokens behind the last tile. @typedef {Predraft & { numHidden: number }} Branch */

/**
 * The predraft that was used, if one was.
 * @param {Predraft[]} predrafts
 * @param {Block} window the positions that the tiles show
 * @returns {Branch | undefined}
 */
export function branchOf(predrafts, window) {
  const used = predrafts.find(({ isUsed, tokens }) => isUsed && tokens.length);
  if (!used) return undefined;
  const exact = used.position - window.start;
  const isBehind = used.alternative !== undefined;
  const room = Math.max(window.size - exact - (isBehind ? 0 : 1), 0);
  const tokens = used.tokens.slice(0, room);
  return { ...used, tokens, numHidden: used.tokens.length - tokens.length };
}

/**
 * Describes what became of the alternatives to drafted tokens, in a sentence.
 * @param {Predraft[]} predrafts
 * @param {boolean} isAccepted whether the check threw no drafted token away
 */
export function alternativeWords(predrafts, isAccepted) {
  const right = rightAlternative(predrafts);
  const isReady = !right && predrafts.some(({ isUsed }) => isUsed);
  const count = predrafts.filter(({ alternative }) => alternative !== undefined).length;
  const ready = isReady ? ", but the next draft was ready" : "";
  if (!count) return isReady ? "A draft for this case was ready." : "";
  const [read, one, none] =
    count === 1
      ? ["1 other token was tried beside the draft", "it was", "it was not"]
      : [`${count} other tokens were tried beside the draft`, "one of them was", "none was"];
  const became = right ? `${one} right` : `${none} ${isAccepted ? "needed" : "right"}${ready}`;
  return `${read}; ${became}.`;
}

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
   * The settings of this run with some changed, flat, as the form sends them; askFor() adds the model.
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
