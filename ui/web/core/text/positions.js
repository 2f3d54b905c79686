// The content of a lane at each position: its token, or, where one is still masked or drafted, an
// empty place as wide as what will stand there. So no word moves when another lands. Knows no DOM.

import { lanePieces } from "../letters.js";

/** @import { Piece } from "../letters.js" */
/** @import { FixedItem, Lane, Run } from "../run.js" */

/**
 * Content of the lane at a position.
 * @typedef {object} TextPart
 * @property {number} position
 * @property {FixedItem | null} item
 * @property {string} text of a hole or a draft, what will stand there, as far as that is known
 * @property {"token" | "end" | "hole" | "draft"} kind
 */

const UNKNOWN = "   ";

export const LONGEST_CHARACTER = 4; // bytes

/**
 * How many positions the lane shows at `pass`, and how many of them were fixed before it.
 * @param {Run} run
 * @param {Lane} lane
 * @param {number} pass
 */
export function textExtent(run, lane, pass) {
  const settled = lane.steps[pass]?.committedBefore ?? 0;
  if (lane === run.main && run.strategy !== "ntp") {
    const stop = lane.lastPass < 0 ? 0 : Math.min(stopOf(run, pass), lane.endAt(pass));
    return { count: stop, settled: Math.min(settled, stop) };
  }
  let count = settled;
  while (count < lane.numCommitted && lane.fixedAt(count, pass)) count += 1;
  return { count, settled };
}

/**
 * Up to where a forward pass looks: the end of its block; of verify, the last place that it wrote,
 * drafted or guessed among its tiles.
 * @param {Run} run
 * @param {number} pass
 */
function stopOf(run, pass) {
  const { start, size } = run.windowAt(pass);
  const step = run.main.steps[pass];
  if (run.strategy !== "verify" || !step) return start + size;
  const written = step.committedBefore + step.committed.length + step.draft.length;
  return Math.max(written, Math.min(start + size, Math.max(-1, ...step.masked.keys()) + 1));
}

/**
 * Content of the lane at the positions from `from` up to, not including, `to`.
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
    if (!item) {
      parts.push(emptyPart(run, lane, pass, position));
      continue;
    }
    const isEnd = isOver && position === lane.end - 1;
    const whole = joined.get(position);
    const own = !whole ? run.tokenText(item.token) : whole.index === 0 ? whole.text : "";
    parts.push({ position, item, text: isEnd ? "end" : own, kind: isEnd ? "end" : "token" });
  }
  return parts;
}

/**
 * A place without a token: as wide as the one that came later, the draft or the best guess.
 * @param {Run} run
 * @param {Lane} lane
 * @param {number} pass
 * @param {number} position
 * @returns {TextPart}
 */
function emptyPart(run, lane, pass, position) {
  const step = lane.steps[pass];
  const offset = step ? position - step.committedBefore - step.committed.length : -1;
  const draft = step?.draft[offset];
  const later = position < lane.end ? lane.fixed.get(position)?.token : undefined;
  const token = later ?? draft ?? step?.masked.get(position)?.top[0]?.token;
  const isText = token !== undefined && !lane.isEnd(token);
  const kind = draft === undefined ? "hole" : "draft";
  return { position, item: null, text: (isText && run.tokenText(token)) || UNKNOWN, kind };
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
const END_PIECES = [["end", ""]];

/**
 * The pieces of a part between its neighbours; the end mark hides nothing.
 * @param {TextPart[]} parts
 * @param {number} index
 */
export function partPieces(parts, index) {
  const part = parts[index];
  if (!part || part.kind === "end") return END_PIECES;
  const { text, position } = part;
  const [previous, next] = [parts[index - 1], parts[index + 1]];
  const before =
    position === 0 ? "" : (previous && previous.kind !== "end" && previous.text.at(-1)) || "…";
  const after = (next && next.kind !== "end" && next.text[0]) || "…";
  return rememberedPieces(text, before, after);
}

const LEAD = /^\s+$/;

/**
 * Pieces parted into the white space at their beginning and the word after it; white space alone is
 * the word itself, so that it can be seen and pointed at.
 * @param {Piece[]} pieces
 * @returns {{ lead: Piece[], word: Piece[] }}
 */
export function partLead(pieces) {
  const first = pieces.findIndex(([text]) => !LEAD.test(text));
  if (first < 0) return { lead: [], word: pieces };
  const [text = "", kind = ""] = pieces[first] ?? [];
  const space = kind === "" && text.startsWith(" ") ? 1 : 0;
  /** @type {Piece[]} */
  const lead = [...pieces.slice(0, first), ...(space ? [/** @type {Piece} */ ([" ", ""])] : [])];
  return { lead, word: [[text.slice(space), kind], ...pieces.slice(first + 1)] };
}
