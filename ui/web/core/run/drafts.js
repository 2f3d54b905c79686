// What became of a draft: verify checks the tokens that one forward pass drafted in the next, keeps
// those that next-token prediction would have said, and throws the rest away. Knows no DOM.

/** @import { Lane } from "./lane.js" */

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
 * What `pass` made of a position that may have been drafted.
 * @param {Lane} lane
 * @param {number} pass
 * @param {number} position
 * @returns {{ drafted: number | undefined, isAccepted: boolean }} drafted: the token, if there was one
 */
export function draftedAt(lane, pass, position) {
  const { start, tokens, numAccepted } = checkedDraft(lane, pass);
  return { drafted: tokens[position - start], isAccepted: position - start < numAccepted };
}
