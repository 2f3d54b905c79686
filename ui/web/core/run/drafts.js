// The outcome of drafts: verify checks the tokens that one forward pass drafted in the next, keeps
// those that next-token prediction would have said, and throws the rest away; a predraft may stand
// ready for that, as a branch under the tiles. Knows no DOM.

/** @import { Lane } from "./lane.js" */
/** @import { Block, Predraft } from "./wire.js" */

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
