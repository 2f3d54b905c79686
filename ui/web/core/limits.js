// How much of a run the page shows at once, whatever a link or a trace file asks for: a page of
// too many elements freezes the tab. The rest is there, in fewer elements. Knows no DOM.

import constants from "../constants.json" with { type: "json" };

/** Positions that a run may have. */
export const MAX_POSITIONS = constants.limits.positions;
/** Tiles of a block, and segments of its budget. */
export const MAX_TILES = constants.limits.block;
/** Tokens of a lane's text that can be pointed at, the newest ones. */
export const MAX_TEXT_TOKENS = 300;
/** Marked stretches of one token. */
export const MAX_MARKS = 3;
/** Ticks of the scrubber. */
export const MAX_TICKS = 100;
/** Frames of an animation; more would make a file too large for a slide. */
export const MAX_FRAMES = 240;

/**
 * Some of the items, evenly spread, the first among them.
 * @template Item
 * @param {Item[]} items
 * @param {number} most
 */
export function evenly(items, most) {
  const step = Math.ceil(items.length / most);
  return step > 1 ? items.filter((_, index) => index % step === 0) : items;
}

/**
 * The forward passes that an animation shows: all of them, or some evenly spread, the first and
 * the last among them.
 * @param {number} lastPass
 */
export function framePasses(lastPass) {
  const step = Math.ceil(lastPass / (MAX_FRAMES - 1)); // the last one has a frame besides
  const passes = [];
  for (let pass = 0; pass < lastPass; pass += step) passes.push(pass);
  return [...passes, Math.max(lastPass, 0)];
}
