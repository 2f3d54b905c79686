// How alike two words are, from 0 to 1: ratio() of Python's difflib.SequenceMatcher.

/**
 * @param {string} left
 * @param {string} right
 */
export function likeness(left, right) {
  const length = left.length + right.length;
  return length ? (2 * numMatching(left, right)) / length : 1;
}

/**
 * Letters of the longest run that both have, and of those to the left and right of it.
 * @param {string} left
 * @param {string} right
 * @returns {number}
 */
function numMatching(left, right) {
  const { at, where, size } = longestRun(left, right);
  if (!size) return 0;
  const before = numMatching(left.slice(0, at), right.slice(0, where));
  return before + size + numMatching(left.slice(at + size), right.slice(where + size));
}

/**
 * The first of the longest, in the left word and then in the right one.
 * @param {string} left
 * @param {string} right
 */
function longestRun(left, right) {
  for (let size = Math.min(left.length, right.length); size > 0; size -= 1) {
    for (let at = 0; at + size <= left.length; at += 1) {
      const where = right.indexOf(left.slice(at, at + size));
      if (where >= 0) return { at, where, size };
    }
  }
  return { at: 0, where: 0, size: 0 };
}
