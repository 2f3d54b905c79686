// One line of a run as a value: sbd_core/run_lines.py writes them on a server, engine/session.js in
// the browser. Configs, events and shapes are those of a trace file. Knows no DOM.

import constants from "../../constants.json" with { type: "json" };

// Bounds of what the page shows of any run, whatever a link or a file asks: too many elements freeze a tab.
export const MAX_POSITIONS = constants.limits.positions;
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
