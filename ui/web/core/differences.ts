// Compares two answers token by token, by the fewest edits. A token that replaces another counts as a difference in
// both answers, not as one missing and one added. Knows no DOM.

import type { Lane, Run } from "./run.ts";

/**
 * Compute all edit distances: [i][j] is the fewest insertions, deletions and replacements that turn the tokens of left
 * from i on into those of right from j on.
 */
function editCosts(left: number[], right: number[]) {
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

export type Differences = ReturnType<typeof differences>;

export function differences(left: number[], right: number[]) {
  const costs = editCosts(left, right);
  const cost = (i: number, j: number) => costs[i]?.[j] ?? Infinity;
  const onlyLeft = new Set<number>(); // indexes into left of tokens that right lacks or replaces
  const onlyRight = new Set<number>(); // indexes into right of tokens that left lacks or that replace one of left
  const missing = new Map<number, number>(); // by index into right, the number of tokens of left missing before it
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
 * Count differences in words: "34 differ, 5 added, 10 missing"; "" for none. Tokens of right differ if they replace
 * one of left, else they are added; tokens of left without a counterpart are missing.
 */
export function differWords({ onlyLeft, onlyRight, missing }: Differences) {
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

export type AnswerToken = { id: number; text: string; isEnd: boolean };

/** Return the tokens of a lane's answer, left to right. Of tokens joined to one text, the first has all of it. */
export function answerTokens(run: Run, lane: Lane): AnswerToken[] {
  const joined = run.joinedAt(lane, lane.lastPass);
  return lane.knownAt(lane.lastPass).map(({ position, token }) => {
    const part = joined.get(position);
    const isEnd = lane.finish === "end_of_sequence" && position === lane.end - 1;
    const text = part ? (part.index ? "" : part.text) : run.tokenText(token);
    return { id: token, isEnd, text };
  });
}

/**
 * How the main lane's answer differs from next-token prediction's. positions: those of the main answer that differ.
 * words: see differWords(). firstDifference: first position at which the answers differ, null if they are equal.
 */
export type NtpComparison = {
  positions: Set<number>;
  words: string;
  firstDifference: number | null;
};

const MAX_TOKENS = 1000; // of an answer, as editCosts() compares every token of one with every token of the other

const known: WeakMap<Run, NtpComparison | null> = new WeakMap();

/**
 * Compare the main lane's answer with that of next-token prediction. Return null if that is impossible: a lane is
 * incomplete or was stopped, tokens were pinned, or an answer is too long.
 */
export function compareWithNtp(run: Run): NtpComparison | null {
  const { main, ntp } = run;
  if (!ntp || !main.finish || !ntp.finish) return null;
  const made = known.get(run);
  if (made !== undefined) return made;
  const isOpen = main.finish === "stopped" || ntp.finish === "stopped" || run.pins.size > 0;
  const isLong = Math.max(main.numCommitted, ntp.numCommitted) > MAX_TOKENS;
  const comparison = isOpen || isLong ? null : compare(run);
  known.set(run, comparison);
  return comparison;
}

function compare(run: Run) {
  const [left, right] = [run.ntp ?? run.main, run.main].map((lane) =>
    answerTokens(run, lane).map(({ id }) => id),
  );
  const [ntpIds, ids] = [left ?? [], right ?? []];
  const differ = differences(ntpIds, ids);
  const words = differWords(differ);
  const other = ids.findIndex((id, at) => id !== ntpIds[at]);
  const firstDifference = !words ? null : other < 0 ? ids.length : other;
  return { positions: differ.onlyRight, words, firstDifference };
}
