// The order in which the server said things: order of arrival is not order of meaning.

/** @typedef {[turn: number, count: number]} Order of a thing said among all others */

/**
 * Whether a thing was said after another.
 * @param {Order} order
 * @param {Order} last
 */
export function isLater([turn, count], [lastTurn, lastCount]) {
  return turn > lastTurn || (turn === lastTurn && count > lastCount);
}
