// A lane's text so far: real line breaks, each token underlined in the colour of its entropy
// when it was revealed; positions still masked inside the current block are small blanks.
// What stands where, and as which pieces. Knows no DOM.

import { lanePieces } from "../../core/text/letters.js";

/** @import { Piece } from "../../core/text/letters.js" */
/** @import { FixedItem, Lane } from "../../core/run/lane.js" */
/** @import { Run } from "../../core/run/run.js" */

/**
 * What the lane shows at a position.
 * @typedef {object} TextPart
 * @property {number} position
 * @property {FixedItem | null} item
 * @property {string} text
 * @property {"token" | "end" | "hole"} kind
 */

const HOLE = " ";

export const LONGEST_CHARACTER = 4; // bytes

/**
 * How many positions the lane shows at `pass`, and how many of them were fixed before it.
 * @param {Run} run
 * @param {Lane} lane
 * @param {number} pass
 */
export function textExtent(run, lane, pass) {
  const settled = lane.steps[pass]?.committedBefore ?? 0;
  if (lane === run.main && run.strategy === "sbd") {
    const window = run.windowAt(pass);
    const stop = lane.lastPass < 0 ? 0 : Math.min(window.start + window.size, lane.endAt(pass));
    return { count: stop, settled: Math.min(settled, stop) };
  }
  let count = settled;
  while (count < lane.numCommitted && lane.fixedAt(count, pass)) count += 1;
  return { count, settled };
}

/**
 * What the lane shows at the positions from `from` up to, not including, `to`.
 * @param {Run} run
 * @param {Lane} lane
 * @param {number} pass
 * @param {number} from
 * @param {number} to
 */
export function textParts(run, lane, pass, from, to) {
  const isOver = lane.finish === "end_of_sequence";
  const joined = run.joinedAt(lane, pass);
  /** @type {TextPart[]} */
  const parts = [];
  for (let position = from; position < to; position += 1) {
    const item = lane.fixedAt(position, pass);
    const isEnd = item !== null && isOver && position === lane.end - 1;
    const whole = joined.get(position);
    const own = item && (!whole ? run.tokenText(item.token) : whole.index === 0 ? whole.text : "");
    parts.push({
      position,
      item,
      text: isEnd ? "end" : (own ?? HOLE),
      kind: isEnd ? "end" : item ? "token" : "hole",
    });
  }
  return parts;
}

/** @type {Map<string, Piece[]>} */
const knownPieces = new Map();

const MAX_KNOWN_PIECES = 1000; // more than an answer has

/**
 * lanePieces, remembered: a lane asks for the same tokens in every frame.
 * @param {string} text
 * @param {string} before
 * @param {string} after
 */
function rememberedPieces(text, before, after) {
  const key = `${before}\u0000${text}\u0000${after}`;
  if (knownPieces.size > MAX_KNOWN_PIECES) knownPieces.clear();
  const known = knownPieces.get(key) ?? lanePieces(text, before, after);
  knownPieces.set(key, known);
  return known;
}

/** @type {Piece[]} */
const NO_PIECES = [];
/** @type {Piece[]} */
const END_PIECES = [["end", ""]];

/**
 * The pieces of a part between its neighbours; a blank or the end mark hides nothing.
 * @param {TextPart[]} parts
 * @param {number} index
 */
export function partPieces(parts, index) {
  const part = parts[index];
  if (part?.kind !== "token") return part?.kind === "end" ? END_PIECES : NO_PIECES;
  const { text, position } = part;
  const previous = parts[index - 1];
  const next = parts[index + 1];
  const before = position === 0 ? "" : (previous?.kind === "token" && previous.text.at(-1)) || "…";
  const after = (next?.kind === "token" && next.text[0]) || "…";
  return rememberedPieces(text, before, after);
}
