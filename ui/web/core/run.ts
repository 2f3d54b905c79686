// Reads a run from its wire lines, which sbd_core/run_lines.py writes on a server and engine/session.ts in the
// browser: its settings, its lanes of forward passes, and every count that the page shows. A pass is an index into a
// lane's steps, a position an offset in the answer. The first lane is the main one. Knows no DOM.

import constants from "../constants.json" with { type: "json" };
import { BYTE, directionOf, type Joined, joinBytes } from "./letters.ts";
import type { Timing } from "./times.ts";

// Limits on what the page draws, whatever a link or a file asks for: too many elements freeze a tab.
const MAX_POSITIONS = constants.limits.positions;
export const MAX_TILES = constants.limits.block;

/** Smallest probability that is shown: a lower one would read 0.0 %. */
const MIN_SHOWN_PROBABILITY = 0.0005;

export type Solver = {
  name: string;
  gamma?: number;
  [parameter: string]: string | number | undefined;
};
export interface Config {
  strategy: string;
  solver: Solver;
  block_size: number;
  max_new_tokens: number;
  seed: number;
  pinned: [offset: number, id: number][]; // tokens given before decoding
  repetition_penalty: number;
  max_rows?: number; // limit to the rows of a verify pass
  temperature?: number;
}

type MaskedData = [position: number, entropy: number, ids: number[], probabilities: number[]];

/** One forward pass as a line holds it; empty fields may be left out. */
export interface EventData {
  kind: string;
  context: [cached: number, causal: number];
  block: [start: number, size: number];
  masked?: MaskedData[];
  reveals?: [position: number, id: number, rank: number, probability: number][];
  committed?: number[];
  draft?: number[];
  hindsight?: [
    position: number,
    id: number,
    probability: number,
    argmax: number,
    argmaxProbability: number,
  ][];
  seconds: number; // engine time
  predrafts?: [start: number, size: number, ids: number[], isUsed: boolean, alternative?: number][];
}

export type Shape = Record<
  | "hidden_size"
  | "feed_forward_size"
  | "num_heads"
  | "num_kv_heads"
  | "head_size"
  | "num_feed_forward_matrices"
  | "num_layers"
  | "vocabulary_size"
  | "bytes_per_value",
  number
>;

/** on an answer; right is null if it was not checked */
export type Verdict = { right: boolean | null; words: string };

/** tokens: new texts by id */
type LineHead = { run: string; seq: number; tokens?: Record<string, string> };

/** The content of the line that opens a run. */
interface Opening {
  type: "run";
  lanes: [main: Config, ...others: Config[]];
  names?: string[]; // names of the lanes, if they are not their strategies
  prompt?: string;
  model?: string;
  ask?: string; // id of the page's request that this run answers
  about?: string; // sentence on what to look at in a recorded run
  prompt_token_ids?: number[]; // the prompt as the model reads it, chat template included
  end_token_ids?: number[]; // tokens that end an answer
  shape?: Shape;
  versions?: Record<string, string>; // of the software that decodes; for verify also its exactness
  weights?: Record<string, string>; // digests of the weights, by name
  messages?: [role: string, content: string][]; // the conversation; its last message is the prompt
  is_recorded?: boolean;
}
export type RunLine = LineHead & Opening;
export type StepLine = LineHead & EventData & { type: "step"; lane: string };
export type EndLine = LineHead & {
  type: "end";
  lane: string;
  finish: string;
  text?: string;
  verdict?: Verdict;
};
/** times of repeated runs */
type TimingLine = LineHead & { type: "timing"; seconds: number[]; ntpSeconds: number[] };
export type WireLine = RunLine | StepLine | EndLine | TimingLine;

/** One forward pass as the page uses it. */
export type Step = ReturnType<typeof readStep>;
export type Reveal = Step["reveals"][number];
export type Masked = ReturnType<typeof readMasked>;
/** A likely token at a masked position. */
export type Top = Masked["top"][number];
/**
 * A draft made in case the drafted token at `position` is rejected; its tokens follow the exact token that replaces
 * it. With an alternative, which is read causally in place of the drafted token at `position` - 1, it is made in
 * case the alternative is right, and its tokens begin at `position`. size: number of masks. isUsed: whether the
 * case occurred.
 */
export type Predraft = Step["predrafts"][number];
/** Positions of the answer. */
type Block = Step["block"];

export function readStep(event: EventData) {
  const { kind, context, block, committed = [], draft = [], seconds } = event;
  const { masked = [], reveals = [], hindsight = [], predrafts = [] } = event;
  return {
    kind,
    cached: context[0], // tokens in the KV cache before the pass
    causal: context[1], // tokens that the pass reads causally
    block: { start: Math.min(block[0], MAX_POSITIONS), size: Math.min(block[1], MAX_POSITIONS) },
    masked: new Map(masked.map((row) => [row[0], readMasked(row)])),
    // In the order of the solver.
    reveals: reveals
      .map(([position, token, rank, probability]) => ({ position, token, rank, probability }))
      .sort((a, b) => a.rank - b.rank),
    committed,
    draft,
    predrafts: predrafts.map(([position, size, tokens, isUsed, alternative]) => {
      return { position, size, isUsed, tokens, alternative };
    }),
    hindsight: hindsight.map(([position, , probability, argmax, argmaxProbability]) => {
      return { position, probability, argmax, argmaxProbability };
    }),
    seconds, // of the engine
  };
}

/**
 * Convert a masked position, its entropy in nats. Of the tokens, the likeliest first, drop those whose probability
 * would read 0.0 %, except the first.
 */
function readMasked([position, entropy, ids, probabilities]: MaskedData) {
  const top = ids.map((token, rank) => ({ token, probability: probabilities[rank] ?? 0 }));
  const isShown = ({ probability = 0 }, rank: number) =>
    !rank || probability >= MIN_SHOWN_PROBABILITY;
  return { position, entropy, top: top.filter(isShown) };
}

/** A position of the answer whose token is known. */
export interface FixedItem {
  position: number;
  token: number;
  pass: number; // the pass that fixed it
  rank: number; // in the order of the solver
  probability: number | null; // null if no solver revealed the token
  entropy: number | null; // nats, in the pass that revealed the token; null if unknown
  guessEntropy: number | null; // nats, when the position was last masked; null if it never was, or the token was given
  isPinned?: boolean; // whether the token was given before decoding
}
export type LaneStep = Step & { committedBefore: number };

export class Lane {
  /** tokens that end the answer, in the order in which they were fixed */
  endTokens: FixedItem[] = [];
  steps: LaneStep[] = [];
  fixed: Map<number, FixedItem> = new Map();
  hindsight: Map<number, Step["hindsight"][number] & { pass: number }> = new Map();
  numCommitted = 0;
  finish: string | null = null;
  text = "";
  /** null before the end, or if nothing could check the answer */
  verdict: Verdict | null = null;

  constructor(
    readonly name: string,
    readonly pins: Map<number, number>,
    readonly isEnd: (token: number) => boolean = () => false,
  ) {}

  append(step: Step) {
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
      if (position < step.block.start + step.block.size) this.fixUnrevealed(position, token, pass);
    }
    step.committed.forEach((token, offset) => {
      this.fixUnrevealed(this.numCommitted + offset, token, pass);
    });
    this.numCommitted += step.committed.length;
    for (const item of step.hindsight) this.hindsight.set(item.position, { ...item, pass });
  }

  complete({ finish, text, verdict }: Pick<EndLine, "finish" | "text" | "verdict">) {
    this.finish = finish;
    this.text = text ?? "";
    this.verdict = verdict ?? null;
  }

  /** Fix a position that no solver revealed, unless it is fixed already: it is pinned, or first known when committed. */
  fixUnrevealed(position: number, token: number, pass: number) {
    if (this.fixed.has(position)) return;
    const unknown = { rank: 0, probability: null, entropy: null };
    this.fix({ position, token, pass, ...unknown, isPinned: this.pins.has(position) });
  }

  fix(found: Omit<FixedItem, "guessEntropy">) {
    const last = found.isPinned ? undefined : this.entropyHistory(found.position).at(-1);
    const item = { ...found, guessEntropy: last?.entropy ?? null };
    this.fixed.set(item.position, item);
    if (this.isEnd(item.token)) this.endTokens.push(item);
  }

  get lastPass() {
    return this.steps.length - 1;
  }

  /** The end of the answer, exclusive, as far as the last pass shows; Infinity while unknown. */
  get end() {
    return this.endAt(this.lastPass);
  }

  /**
   * Return the end of the answer, exclusive, as far as `pass` shows; Infinity while unknown. A length limit is known
   * from the first pass on, a token that ends the answer from the pass that fixes it on.
   */
  endAt(pass: number) {
    const { finish, numCommitted } = this;
    if (finish !== null && finish !== "end_of_sequence") return numCommitted;
    const least = finish === null ? 0 : numCommitted - 1;
    const isWhole = finish !== null && this.fixedAt(least, pass) !== null;
    const seen = this.endTokens.filter((item) => item.pass <= pass && item.position >= least);
    return isWhole ? numCommitted : Math.min(...seen.map(({ position }) => position)) + 1;
  }

  /** Whether `pass` shows that a position is after the end of the answer. */
  isAfterEnd(position: number, pass: number) {
    const end = this.endAt(pass);
    if (position < end) return false;
    return this.fixedAt(position, pass) !== null || this.fixedAt(end - 1, pass) !== null;
  }

  /** Count the tokens of earlier passes that `pass` cuts off by revealing an earlier end of the answer. */
  numDroppedAt(pass: number) {
    const end = this.endAt(pass);
    return this.knownAt(pass - 1).filter(({ position }) => position >= end).length;
  }

  /** Return the hindsight, known by `pass`, in which next-token prediction prefers another token than the answer's. */
  disagreementsAt(pass: number) {
    return [...this.hindsight.values()].filter((item) => this.disagrees(item.position, pass));
  }

  /** Count the tokens of the answer that have hindsight by `pass`. */
  numWithHindsightAt(pass: number) {
    const known = [...this.hindsight.values()];
    const end = this.endAt(pass);
    return known.filter((item) => item.pass <= pass && item.position < end).length;
  }

  /** Whether hindsight known by `pass` prefers another token. */
  disagrees(position: number, pass: number) {
    const item = this.hindsight.get(position);
    if (!item || item.pass > pass || position >= this.endAt(pass)) return false;
    return item.argmax !== this.fixed.get(position)?.token;
  }

  /** Count the tokens of the answer fixed by the end of `pass`. */
  numTokensAt(pass: number) {
    return this.knownAt(pass).length;
  }

  numPinnedAt(pass: number) {
    return this.knownAt(pass).filter((item) => item.isPinned).length;
  }

  /** Return the positions of the answer fixed by the end of `pass`, from left to right. @param end exclusive */
  knownAt(pass: number, end = this.endAt(pass)) {
    return [...this.fixed.values()]
      .filter((item) => item.pass <= pass && item.position < end)
      .sort((a, b) => a.position - b.position);
  }

  /** Return the engine's seconds up to and including `pass`. */
  secondsAt(pass: number) {
    return this.steps.slice(0, pass + 1).reduce((sum, step) => sum + step.seconds, 0);
  }

  /** Return the last pass that had ended by so many of the engine's seconds; -1 for none. */
  passAt(seconds: number) {
    let end = 0;
    const open = this.steps.findIndex((step) => {
      end += step.seconds;
      return end > seconds;
    });
    return open < 0 ? this.lastPass : open - 1;
  }

  /** Return how `position` was fixed, if that happened by `pass`, else null. */
  fixedAt(position: number, pass: number) {
    const item = this.fixed.get(position);
    return item && item.pass <= pass ? item : null;
  }

  /** Return the entropy of `position` in every pass in which it was masked. */
  entropyHistory(position: number) {
    return this.steps.flatMap((step, pass) => {
      const masked = step.masked.get(position);
      return masked ? [{ pass, entropy: masked.entropy }] : [];
    });
  }
}

export function rightAlternative(predrafts: Predraft[]) {
  return predrafts.find(({ isUsed, alternative }) => isUsed && alternative !== undefined);
}

/** Return the draft that `pass` checked; without one, its tokens are empty. */
export function checkedDraft(lane: Lane, pass: number) {
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

/** Return the drafted token at a position, undefined without one, and whether the check in `pass` accepted it. */
export function draftedAt(lane: Lane, pass: number, position: number) {
  const { start, tokens, numAccepted } = checkedDraft(lane, pass);
  const drafted: number | undefined = tokens[position - start];
  return { drafted, isAccepted: position - start < numAccepted };
}

/** numHidden: tokens of the predraft that have no tile. */
export type UsedPredraft = Predraft & { numHidden: number };

/** Return the used predraft, limited to the tokens that have a tile; undefined if none was used. */
export function usedPredraft(predrafts: Predraft[], window: Block): UsedPredraft | undefined {
  const used = predrafts.find(({ isUsed, tokens }) => isUsed && tokens.length);
  if (!used) return undefined;
  const exact = used.position - window.start;
  const isBehind = used.alternative !== undefined;
  const numTiles = Math.max(window.size - exact - (isBehind ? 0 : 1), 0);
  const tokens = used.tokens.slice(0, numTiles);
  return { ...used, tokens, numHidden: used.tokens.length - tokens.length };
}

/** Describe in a sentence what became of the alternatives to drafted tokens. */
export function alternativeWords(predrafts: Predraft[], isAccepted: boolean) {
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

/** A request for a decode as the form sends it: the solver's parameters stand beside the other fields. */
export type Settings = Record<string, unknown> & {
  pinned: [offset: number, id: number][];
  prompt: string;
};

/** Settings of every decode that the page has. */
const SHARED_SETTINGS = constants.settings.flatMap(({ name, link, strategies }) =>
  link !== null && strategies.length !== 1 ? [name] : [],
);
const MAX_NAME = 40; // letters of the prompt in a file name

export class Run {
  id = this.line.run;
  prompt = this.line.prompt ?? "";
  model = this.line.model ?? "";
  requestId = this.line.ask ?? "";
  about = this.line.about ?? "";
  turns = (this.line.messages ?? []).slice(0, -1); // the messages before the prompt
  weights = this.line.weights ?? {}; // digests of the weights, by name
  versions: Record<string, string> = this.line.versions ?? {};
  exactness = this.versions.exactness ?? ""; // how closely verify equals next-token prediction
  isRecorded = Boolean(this.line.is_recorded);
  isOfBrowser = this.versions.engine === "browser";
  config = this.line.lanes[0];
  strategy = this.config.strategy;
  solver = this.config.solver;
  blockSize = this.config.block_size;
  shape = this.line.shape ?? null;
  promptIds = this.line.prompt_token_ids ?? []; // empty if the run does not list them
  /** texts of tokens by id */
  tokens: Map<number, string> = new Map();
  hasBytes = false;
  main: Lane;
  pins: Map<number, number>;
  lanes: Map<string, Lane>;
  ntp: Lane | null;
  isStopped = false;
  /** engine times of repetitions, in the data of a replay page */
  timing: Timing | null = null;
  /** all wire lines read so far, from which the run can be saved */
  lines: string[] = [];

  constructor(readonly line: RunLine) {
    this.addTokens(line.tokens ?? {});
    const ends = new Set(line.end_token_ids ?? []);
    const isEnd = (token: number) => ends.has(token);
    const lanes = line.lanes.map(({ strategy, pinned }, index) => {
      return new Lane(line.names?.[index] ?? strategy, new Map(pinned), isEnd);
    });
    this.main = lanes[0] as Lane;
    this.pins = this.main.pins;
    this.lanes = new Map(lanes.map((lane) => [lane.name, lane]));
    this.ntp = this.main.name === "ntp" ? null : (this.lanes.get("ntp") ?? null);
  }

  /** @param texts by token id */
  addTokens(texts: Record<string, string>) {
    for (const [id, text] of Object.entries(texts)) {
      this.tokens.set(Number(id), text);
      this.hasBytes ||= BYTE.test(text);
    }
  }

  /** Return, by position, the tokens fixed by `pass` that spell a character together; see joinBytes(). */
  joinedAt(lane: Lane, pass: number): Map<number, Joined> {
    if (!this.hasBytes) return new Map();
    const known = lane.knownAt(pass, Infinity);
    return joinBytes(known.map((item) => ({ ...item, text: this.tokenText(item.token) })));
  }

  /** Return the text of a token among others: of tokens joined to one text, the first has all of it. */
  textAt(position: number, token: number | undefined, joined: Map<number, Joined>) {
    const part = joined.get(position);
    return part ? (part.index ? "" : part.text) : this.tokenText(token);
  }

  /** Return the direction in which a lane's answer is read: that of its first letter so far, or else the prompt's. */
  directionOf(lane: Lane) {
    const joined = this.joinedAt(lane, lane.lastPass);
    for (let position = 0; lane.fixed.has(position); position += 1) {
      const token = lane.fixed.get(position)?.token;
      const text = joined.get(position)?.text ?? this.tokenText(token);
      if (BYTE.test(text)) continue;
      if (/\p{L}/u.test(text)) return directionOf(text);
    }
    return directionOf(this.prompt);
  }

  /** Return a token's text to show: "end" for every token that ends the answer. */
  shownText(token: number | undefined = -1) {
    return this.main.isEnd(token) ? "end" : this.tokenText(token);
  }

  tokenText(token: number | undefined = -1) {
    return this.tokens.get(token) ?? "";
  }

  /** The number of tokens of the prompt as the model read it. */
  get numPrompt() {
    const [first] = this.main.steps;
    return first?.kind === "prefill" ? first.causal : this.promptIds.length;
  }

  /** Return this run's settings with `changes`, in the form of Settings; settingsOf() adds the model. */
  settings(changes: Record<string, unknown> = {}): Settings {
    const { strategy, solver, pinned } = this.config;
    const { name, ...parameters } = solver;
    const own = Object.entries(this.config).filter(([field]) => SHARED_SETTINGS.includes(field));
    return {
      prompt: this.prompt,
      ...Object.fromEntries(own),
      solver: name,
      ...parameters,
      ...(strategy === "verify" ? { max_rows: this.formRows } : {}),
      ...(this.system ? { system: this.system } : {}),
      pinned,
      ...changes,
    };
  }

  /** The form's "Rows at most"; 0, the default where it is decoded again, for a recording with the engine's default. */
  get formRows() {
    const { max_rows: rows } = this.config;
    return rows && !(this.isRecorded && rows === constants.usualRows.GPU) ? rows : 0;
  }

  /** The system prompt; "" for none. */
  get system() {
    const [role, content] = this.turns[0] ?? [];
    return role === "system" && content ? content : "";
  }

  /** The name of the run's files without extension: sbd-tara-has-49-pencils. */
  get fileStem() {
    const words = this.prompt.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    const short = words.replace(/^-+/, "").slice(0, MAX_NAME).replace(/-+$/, "");
    return [this.strategy, short].filter(Boolean).join("-");
  }

  get isComplete() {
    return this.isStopped || [...this.lanes.values()].every((lane) => lane.finish !== null);
  }

  /**
   * Return the positions shown as tiles at `pass`: the block that it predicts; at the prefill, the first block; if
   * everything left was pinned, the last block.
   */
  windowAt(pass: number): Block {
    const step = this.main.steps[pass];
    const size = Math.min(this.blockSize, MAX_POSITIONS);
    if (!step) return { start: 0, size };
    const { block, committed, committedBefore } = step;
    if (this.strategy !== "sbd") return { start: committedBefore, size };
    if (block.size > 0) return block;
    const last = Math.max(committedBefore + committed.length - 1, 0);
    return { start: size ? last - (last % size) : 0, size };
  }

  /** The first pass of each block of sbd; empty for other strategies. */
  get blockPasses() {
    if (this.strategy !== "sbd") return [];
    const starts = this.main.steps.map(({ block }) => (block.size ? block.start : null));
    const isFirst = (pass: number) => starts[pass] !== null && starts[pass] !== starts[pass - 1];
    return [...starts.keys()].filter(isFirst);
  }

  /**
   * Return the numbers of the header, up to `pass` and of the whole run. wholePasses, ntpPasses and both times are null
   * until the main lane has ended. ntpPasses: what next-token prediction needs for this answer, one per token.
   * ntpTokens, ntpSeconds: once its lane has ended too, those of its own answer, which may have another length. Pinned
   * tokens count as tokens of the answer but not as decoded. Next-token prediction does not get them, so its work is
   * not comparable: with pinned tokens, ntpPasses and ntpSeconds are null.
   */
  numbersAt(pass: number) {
    const { main, ntp } = this;
    const isWhole = main.finish !== null;
    const beside = isWhole && ntp?.finish && ntp.numCommitted ? ntp : null;
    const numPasses = Math.min(pass, main.lastPass) + 1;
    const numTokens = main.numTokensAt(pass);
    const numPinned = main.numPinnedAt(pass);
    const wholePasses = isWhole ? main.steps.length : null;
    return {
      numPasses,
      numTokens,
      numPinned,
      tokensPerPass: numPasses ? (numTokens - numPinned) / numPasses : 0,
      wholePasses,
      wholeTokens: this.numDecodedWhole,
      ntpPasses: isWhole && ntp && !main.pins.size ? this.numDecodedWhole : null,
      ntpTokens: beside?.numCommitted ?? this.numDecodedWhole,
      seconds: isWhole ? main.secondsAt(main.lastPass) : null,
      ntpSeconds: beside && !main.pins.size ? beside.secondsAt(beside.lastPass) : null,
    };
  }

  /** Return the pass of next-token prediction that had ended when `pass` of the main lane had. */
  ntpPassAt(pass: number) {
    return Math.max(this.ntp?.passAt(this.main.secondsAt(pass)) ?? 0, 0);
  }

  /** The number of tokens of the answer so far that were not pinned. */
  get numDecodedWhole() {
    const { main } = this;
    return main.numTokensAt(main.lastPass) - main.numPinnedAt(main.lastPass);
  }
}

/** Reads wire lines into the latest run; drops lines read before and lines of older runs. */
export class History {
  /** the run that the page shows: the latest one or one related to it */
  run: Run | null = null;
  latest: Run | null = null;
  lastSequence = -1;

  /** Read wire text. Return "run" if a new run began, "more" for other news, null for none. */
  accept(text: string) {
    let news: "run" | "more" | null = null;
    for (const row of text.split("\n")) {
      if (!row) continue;
      const line: WireLine = JSON.parse(row);
      if (line.type === "run" && line.run !== this.latest?.id) {
        this.latest = new Run(line);
        this.run = this.latest;
        news = "run";
      } else {
        if (line.run !== this.latest?.id || line.seq <= this.lastSequence) continue;
        applyLine(this.latest, line);
        news ??= "more";
      }
      this.latest?.lines.push(row);
      this.lastSequence = line.seq;
    }
    return news;
  }
}

function applyLine(run: Run, line: WireLine) {
  run.addTokens(line.tokens ?? {});
  if (line.type === "timing") run.timing = line;
  if (line.type !== "step" && line.type !== "end") return;
  const lane = run.lanes.get(line.lane);
  if (line.type === "step") lane?.append(readStep(line));
  else lane?.complete(line);
}
