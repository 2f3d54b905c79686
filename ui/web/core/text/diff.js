// The differences between two answers, by the fewest edits: a token in another's place differs in
// both, and none is missing there. Knows no DOM.

/**
 * [i][j]: the fewest insertions, deletions and swaps that make left from i into right from j.
 * @param {number[]} left
 * @param {number[]} right
 */
function editCosts(left, right) {
  const width = right.length + 1;
  const costs = Array.from({ length: left.length + 1 }, () => new Uint16Array(width));
  for (let i = left.length; i >= 0; i -= 1) {
    const [row, below] = [costs[i], costs[i + 1]];
    if (!row) continue;
    for (let j = right.length; j >= 0; j -= 1) {
      const [swap, remove, add] = [below?.[j + 1] ?? 0, below?.[j] ?? 0, row[j + 1] ?? 0];
      if (!below || j === right.length) row[j] = left.length - i + right.length - j;
      else if (left[i] === right[j]) row[j] = swap;
      else row[j] = 1 + Math.min(remove, add, swap);
    }
  }
  return costs;
}

/**
 * @typedef {object} Differences
 * @property {Set<number>} onlyLeft indexes of left that right does not have there
 * @property {Set<number>} onlyRight indexes of right that left does not have there
 * @property {Map<number, number>} missing index of right to how many of left are missing before it
 */

/**
 * Compare two lists of token ids.
 * @param {number[]} left
 * @param {number[]} right
 * @returns {Differences}
 */
export function differences(left, right) {
  const costs = editCosts(left, right);
  /** @param {number} i @param {number} j */
  const cost = (i, j) => costs[i]?.[j] ?? Infinity;
  const onlyLeft = new Set();
  const onlyRight = new Set();
  const missing = new Map();
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const hasBoth = i < left.length && j < right.length;
    if (hasBoth && left[i] === right[j]) {
      i += 1;
      j += 1;
    } else if (hasBoth && cost(i, j) === cost(i + 1, j + 1) + 1) {
      onlyLeft.add(i);
      onlyRight.add(j);
      i += 1;
      j += 1;
    } else if (i < left.length && cost(i, j) === cost(i + 1, j) + 1) {
      onlyLeft.add(i);
      missing.set(j, (missing.get(j) ?? 0) + 1);
      i += 1;
    } else {
      onlyRight.add(j);
      j += 1;
    }
  }
  return { onlyLeft, onlyRight, missing };
}

/**
 * "34 differ, 5 added, 10 missing": tokens of the right in another's place, those with none, and those
 * of the left that the right lacks; "" for none.
 * @param {Differences} differences
 */
export function differWords({ onlyLeft, onlyRight, missing }) {
  const numMissing = [...missing.values()].reduce((sum, count) => sum + count, 0);
  const differing = onlyLeft.size - numMissing;
  const parts = [
    [differing, differing === 1 ? "differs" : "differ"],
    [onlyRight.size - differing, "added"],
    [numMissing, "missing"],
  ];
  return parts
    .filter(([count]) => count)
    .map((part) => part.join(" "))
    .join(", ");
}
