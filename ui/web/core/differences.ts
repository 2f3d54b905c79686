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

export type AnswerToken = { position: number; id: number; text: string; isEnd: boolean };

/** Return the tokens of a lane's answer, left to right. Of tokens joined to one text, the first has all of it. */
export function answerTokens(run: Run, lane: Lane): AnswerToken[] {
  const joined = run.joinedAt(lane, lane.lastPass);
  return lane.knownAt(lane.lastPass).map(({ position, token }) => {
    const isEnd = lane.finish === "end_of_sequence" && position === lane.end - 1;
    return { position, id: token, isEnd, text: run.textAt(position, token, joined) };
  });
}

export type NtpComparison = ReturnType<typeof compare>;

const MAX_TOKENS = 1000; // of an answer, as editCosts() compares every token of one with every token of the other

const known: WeakMap<Lane, NtpComparison> = new WeakMap();

/**
 * Compare a lane's answer with that of next-token prediction, as far as one that was stopped goes. Return null if either
 * is incomplete or too long.
 */
export function compareWithNtp(run: Run, lane: Lane): NtpComparison | null {
  const ntp = run.lanes.get("ntp");
  const isLong = Math.max(lane.numCommitted, ntp?.numCommitted ?? 0) > MAX_TOKENS;
  if (!ntp?.finish || !lane.finish || isLong) return null;
  const comparison = known.get(lane) ?? compare(run, lane, ntp);
  known.set(lane, comparison);
  return comparison;
}

/** Compare the main lane's answer; null also if either lane was stopped, or if tokens were pinned. */
export function compareMain(run: Run) {
  const { main, ntp } = run;
  const isOpen = [main, ntp].some((lane) => lane?.finish === "stopped") || run.pins.size > 0;
  return !ntp || isOpen ? null : compareWithNtp(run, main);
}

function compare(run: Run, lane: Lane, ntp: Lane) {
  const idsOf = (own: Lane, other: Lane) => {
    const ids = answerTokens(run, own).map(({ id }) => id);
    return other.finish === "stopped" ? ids.slice(0, other.numCommitted) : ids;
  };
  const [ntpIds, ids] = [idsOf(ntp, lane), idsOf(lane, ntp)];
  const differ = differences(ntpIds, ids);
  const words = differWords(differ);
  const other = ids.findIndex((id, at) => id !== ntpIds[at]);
  const firstDifference = !words ? null : other < 0 ? ids.length : other;
  return {
    differing: differ.onlyRight, // positions whose tokens replace one of next-token prediction's, or are added
    missing: differ.missing, // by position, how many tokens of next-token prediction are missing before it
    words,
    firstDifference, // first position at which the answers differ; null if they are equal
  };
}
