// The value that the views draw from, one a frame: the run, the playhead and what is pointed at.
// Also what one position is in it. Knows no DOM.

import { revealedAt } from "../core/budget_layout.js";
import { tokenName } from "../core/letters.js";
import { formatNats } from "../core/numbers.js";
import { draftedAt } from "../core/run.js";

/** @import { FixedItem, Masked, Run } from "../core/run.js" */

/** @typedef {{ isOver: boolean, isQuick: boolean, delay: (rank: number, count: number) => number, progress: (rank: number, count: number) => number, play: (node: HTMLElement, kind: "tile" | "token" | "text", rank: number, count: number) => void }} RevealMotion */

/**
 * The visitor's choices.
 * @typedef {object} PlayerState
 * @property {number} pass where the playhead stands
 * @property {number | null} plainPass where next-token prediction goes on alone once the run is over
 * @property {boolean} isPlaying
 * @property {number} speed
 * @property {number | null} hovered position pointed at
 * @property {number | null} held position held by a click
 * @property {number | null} gammaPreview the dragged gamma
 * @property {number | null} alternative token chosen by hand in the inspector
 * @property {boolean} showsHindsight whether the text marks what hindsight disagrees with
 */

/** State of a new player. @returns {PlayerState} */
export function initialState() {
  return {
    pass: 0,
    plainPass: null,
    isPlaying: false,
    speed: 1,
    hovered: null,
    held: null,
    gammaPreview: null,
    alternative: null,
    showsHindsight: false,
  };
}

/**
 * @typedef {object} ViewParts
 * @property {Run} run
 * @property {RevealMotion} reveals
 * @property {boolean} isDark
 * @property {boolean} isLecture
 * @property {boolean} isStep whether the pass is the next one, so that its reveals settle
 */

/**
 * @typedef {object} ViewFocus
 * @property {boolean} isOver whether the whole run has been
 * @property {number | null} focus position that the inspector shows
 * @property {boolean} showsFocus whether the visitor chose it
 * @property {Set<number> | null} wouldReveal positions that the dragged gamma would reveal
 */

/** @typedef {PlayerState & ViewParts & ViewFocus} View */

/** @typedef {"pinned" | "new" | "accepted" | "fixed" | "draft" | "struck" | "masked" | "beyond" | "empty"} TileKind */
/**
 * Content of a tile.
 * @typedef {object} TileState
 * @property {TileKind} kind
 * @property {number | undefined} token
 * @property {number | null} entropy nats
 * @property {FixedItem} [item]
 * @property {number} [struck] the drafted token that was thrown away for this one
 */

/**
 * The positions that this pass predicted, of those that have a tile.
 * @param {Run} run
 * @param {number} pass
 */
export function predictedTiles(run, pass) {
  const { start, size } = run.windowAt(pass);
  const masked = [...(run.main.steps[pass]?.masked.values() ?? [])];
  return masked.filter(({ position }) => position >= start && position < start + size);
}

/**
 * The ones among them that belong to the answer: none after an end already known.
 * @param {Run} run
 * @param {number} pass
 */
export function openPositions(run, pass) {
  return predictedTiles(run, pass).filter((item) => !run.main.isAfterEnd(item.position, pass));
}

/**
 * The position worth looking at when nobody points: the most uncertain tile in this pass; of those
 * alike the one that the solver took last, if it took them all.
 * @param {Run} run
 * @param {number} pass
 */
function hardestPosition(run, pass) {
  const masked = openPositions(run, pass);
  if (!masked.length) return null;
  const reveals = run.main.steps[pass]?.reveals ?? [];
  const ranks = new Map(reveals.map(({ position, rank }) => [position, rank]));
  /** @param {Masked} item */
  const rankOf = ({ position }) => ranks.get(position) ?? Number.POSITIVE_INFINITY;
  return masked.reduce((most, item) => {
    const isAlike = item.entropy === most.entropy && rankOf(item) > rankOf(most);
    return item.entropy > most.entropy || isAlike ? item : most;
  }).position;
}

/** The view of a frame. @param {PlayerState} state @param {ViewParts} parts @returns {View} */
export function viewOf(state, parts) {
  const chosen = state.hovered ?? state.held;
  const { pass, gammaPreview } = state;
  const isOver = parts.run.main.finish !== null && pass >= parts.run.main.lastPass;
  return {
    ...state,
    ...parts,
    plainPass: isOver ? state.plainPass : null,
    focus: chosen ?? hardestPosition(parts.run, pass),
    showsFocus: chosen !== null,
    isOver,
    wouldReveal: gammaPreview === null ? null : revealedAt(parts.run, pass, gammaPreview),
  };
}

/**
 * A token that verify just made final: drafted and accepted, or its own, if in the place of a draft.
 * @param {View} view
 * @param {TileState & { item: FixedItem }} state
 * @returns {TileState}
 */
function checkedState({ run, pass }, state) {
  const { drafted, isAccepted } = draftedAt(run.main, pass, state.item.position);
  if (drafted === undefined) return state;
  return isAccepted ? { ...state, kind: "accepted" } : { ...state, struck: drafted };
}

/**
 * Content of one tile at the view's pass.
 * @param {View} view
 * @param {number} position
 * @returns {TileState}
 */
export function tileState(view, position) {
  const { run, pass } = view;
  const step = run.main.steps[pass];
  const item = run.main.fixedAt(position, pass);
  const masked = step?.masked.get(position) ?? null;
  if (run.main.isAfterEnd(position, pass)) {
    const token = item?.token ?? masked?.top[0]?.token;
    return { kind: "beyond", token, entropy: null, ...(item && { item }) };
  }
  if (item) {
    const kind = item.isPinned ? "pinned" : item.pass === pass ? "new" : "fixed";
    /** @type {TileState & { item: FixedItem }} */
    const known = { kind, token: item.token, entropy: item.entropy, item };
    return kind === "new" && run.strategy === "verify" ? checkedState(view, known) : known;
  }
  const draft = step?.draft[position - step.committedBefore - step.committed.length];
  if (draft !== undefined) return { kind: "draft", token: draft, entropy: masked?.entropy ?? null };
  const { drafted } = draftedAt(run.main, pass, position);
  if (drafted !== undefined) return { kind: "struck", token: drafted, entropy: null };
  if (masked) return { kind: "masked", token: masked.top[0]?.token, entropy: masked.entropy };
  return {
    kind: position >= run.main.endAt(pass) ? "beyond" : "empty",
    token: undefined,
    entropy: null,
  };
}

/**
 * How a position came to the token it holds, in a word: the forward pass, "set" if it was given, or nothing.
 * @param {Pick<TileState, "item">} state
 */
export function passMark({ item }) {
  if (item?.isPinned) return "set";
  return item ? `#${item.pass + 1}` : "";
}

/**
 * A position in words, as its tile shows it.
 * @param {View} view
 * @param {number} position
 * @param {TileState} [state]
 */
export function positionTitle(view, position, state = tileState(view, position)) {
  const text = state.token === undefined ? "" : `, ${tokenName(view.run.shownText(state.token))}`;
  const entropy = state.entropy === null ? "" : `, entropy ${formatNats(state.entropy)} nats`;
  const isPlain = view.run.strategy === "ntp";
  const got = isPlain ? "written" : "revealed";
  const came = `${got} in forward pass ${(state.item?.pass ?? 0) + 1}`;
  const isLost = state.item !== undefined && !state.item.isPinned;
  const kinds = {
    new: `${got} in this forward pass${text}`,
    pinned: `given, not decoded${text}`,
    fixed: `${came}${text}`,
    masked: `masked, best guess${text}`,
    accepted: `drafted, checked and accepted${text}`,
    draft: `drafted, not checked yet${text}`,
    struck: `drafted and thrown away${text}`,
    beyond: `after the end of the answer, not part of it${isLost ? `, ${came}` : ""}${text}`,
    empty: isPlain ? "not written yet" : "masked",
  };
  const name = state.struck === undefined ? "" : tokenName(view.run.shownText(state.struck));
  const struck = name && `, in the place of the drafted ${name}`;
  return `Position ${position}: ${kinds[state.kind]}${struck}${entropy}`;
}
