// The entropy budget of a forward pass as it is drawn: on an axis of nats that stands still, what was
// spent, the one revealed entropy that is not counted, then what did not fit; and its words. The
// rules are in gamma_rules.js. Knows no DOM.

import { boundOf, countRevealed, hasBudget, revealCosts, solverOrder } from "./gamma_rules.js";
import { clamp, digitsThatShow, draggedGamma, formatGamma } from "./numbers.js";
import { SOLVER_TITLES } from "./words.js";

/** @import { Masked, Run, Solver } from "./run.js" */

/**
 * A masked position on the axis. isFree: revealed, and outside the sum.
 * @typedef {{ item: Masked, left: number, width: number, isIn: boolean, isFree: boolean }} Segment
 */
/**
 * @typedef {object} BudgetLayout
 * @property {Segment[]} segments from left to right
 * @property {number} spent nats of what is revealed, the free one left out
 * @property {Masked | null} free revealed whatever gamma says
 * @property {boolean} isFreeAfterEnd whether that one is after the end of the answer
 * @property {boolean} isFreeOffAxis whether what comes before it fills the axis
 * @property {boolean} isCut whether gamma or the sum goes beyond the axis
 * @property {number | null} next what would have been spent with one more, nats; null without a sum or a rest
 * @property {number} digits of what is spent, so that one sees why no more was revealed
 * @property {number} count of positions revealed
 * @property {number} numAfterEnd how many of those are after the end of the answer
 * @property {boolean} hasGamma whether the solver has one
 * @property {boolean} isSum whether gamma bounds a sum, and not each entropy
 */

export const AXIS_END = 16; // nats; a longer budget runs out of the picture
export const AXIS_TICKS = [0, 0.01, 0.1, 0.5, 1, 2, 4, 8, AXIS_END];

/** @type {Readonly<Record<string, number>>} */
const GAMMA_KEYS = {
  ArrowRight: 0.01,
  ArrowUp: 0.01,
  ArrowLeft: -0.01,
  ArrowDown: -0.01,
  PageUp: 0.1,
  PageDown: -0.1,
  Home: -Infinity,
  End: Infinity,
};

/**
 * The γ that a key on its line makes of another, on the axis; null for a key that moves nothing.
 * @param {string} key
 * @param {number} gamma
 */
export function keyedGamma(key, gamma) {
  const change = GAMMA_KEYS[key];
  if (change === undefined) return null;
  return draggedGamma(clamp(gamma + change, 0, Math.max(gamma, AXIS_END)));
}

/**
 * The place of a sum of entropies on the axis, 0 to 1; the root gives small ones room.
 * @param {number} nats
 */
export function axisPlace(nats) {
  return Math.cbrt(clamp(nats, 0, AXIS_END) / AXIS_END);
}

/** The sum of entropies at a place of the axis. @param {number} place */
export function axisNats(place) {
  return AXIS_END * clamp(place, 0, 1) ** 3;
}

/**
 * Positions revealed whatever gamma is: the largest entropy or the leftmost mask, outside the sum,
 * or the surest where none is below a threshold.
 * @param {Solver} solver
 * @param {Masked[]} revealed in the solver's order
 * @param {number} gamma
 * @returns {Masked | null}
 */
function freeOf(solver, revealed, gamma) {
  const [first] = revealed;
  if (!first || !hasBudget(solver)) return null;
  const { kind } = boundOf(solver);
  if (kind === "all but the leftmost") return first;
  if (kind === "each") return first.entropy >= gamma ? first : null;
  return revealed.reduce((most, item) => (item.entropy >= most.entropy ? item : most));
}

/**
 * Positions that a pass saw masked, in the solver's order.
 * @param {Run} run
 * @param {number} pass
 */
function orderOf(run, pass) {
  const step = run.main.steps[pass];
  return step ? solverOrder(run.solver, step.masked, step.reveals) : [];
}

/**
 * Nats as a whole number of what the last digit stands for.
 * @param {number} nats
 * @param {number} digits after the point
 */
function inUnits(nats, digits) {
  return Math.round(Number(nats.toFixed(digits)) * 10 ** digits);
}

/**
 * With how many digits what is spent is seen to be within gamma, and with one more outside it.
 * @param {number} spent
 * @param {number | null} next
 * @param {string} gamma as it is shown
 */
function digitsOf(spent, next, gamma) {
  const least = gamma.split(".")[1]?.length ?? 2;
  return digitsThatShow(least, (digits) => {
    const [own, most] = [inUnits(spent, digits), inUnits(Number(gamma), digits)];
    if (spent > 0 && own === 0) return false;
    if (next === null) return true;
    const isOver = own + inUnits(next - spent, digits) > most && inUnits(next, digits) > most;
    return own <= most && isOver;
  });
}

/**
 * The budget of a pass in which the positions of `revealed` were, or at a gamma would be, revealed.
 * @param {Run} run
 * @param {number} pass
 * @param {Set<number>} revealed
 * @param {number} [gamma] at which they were or would be
 * @returns {BudgetLayout}
 */
export function layOut(run, pass, revealed, gamma = run.solver.gamma ?? 0) {
  const { solver } = run;
  const order = orderOf(run, pass);
  const chosen = order.filter((item) => revealed.has(item.position));
  const rest = order.filter((item) => !revealed.has(item.position));
  const free = freeOf(solver, chosen, gamma);
  const counted = chosen.filter((item) => item !== free);
  const isSum = boundOf(solver).kind !== "each";
  let end = 0;
  const segments = [...counted, ...(free ? [free] : []), ...rest].map((item) => {
    const left = axisPlace(end);
    end = isSum ? end + item.entropy : Math.max(end, item.entropy);
    const isIn = revealed.has(item.position);
    return { item, left, width: axisPlace(end) - left, isIn, isFree: item === free };
  });
  const spent = counted.reduce((sum, item) => sum + item.entropy, 0);
  const costs = isSum ? revealCosts(solver, order) : null;
  const next = (chosen.length && costs?.[chosen.length]) || null;
  return {
    segments,
    spent,
    free,
    isFreeOffAxis: segments.some(({ isFree, left }) => isFree && left === 1),
    isCut: hasBudget(solver) && Math.max(end, gamma) > AXIS_END,
    next,
    digits: digitsOf(spent, next, formatGamma(gamma)),
    isFreeAfterEnd: free !== null && run.main.isAfterEnd(free.position, pass),
    count: chosen.length,
    numAfterEnd: chosen.filter(({ position }) => run.main.isAfterEnd(position, pass)).length,
    hasGamma: hasBudget(solver),
    isSum,
  };
}

/**
 * Positions that `gamma` would reveal in a pass; none for a rule without gamma.
 * @param {Run} run
 * @param {number} pass
 * @param {number} gamma
 */
export function revealedAt(run, pass, gamma) {
  const order = orderOf(run, pass);
  const costs = revealCosts(run.solver, order);
  const count = costs ? countRevealed(run.solver, costs, gamma) : 0;
  return new Set(order.slice(0, count).map((item) => item.position));
}

/**
 * Names in words the position revealed whatever gamma is.
 * @param {Solver} solver
 * @param {BudgetLayout} layout
 */
export function freeWords(solver, { free, isFreeAfterEnd, isFreeOffAxis, digits }) {
  if (!free) return "";
  const [who, verb] = boundOf(solver).exempt;
  const where = [isFreeAfterEnd ? "after the end" : "", isFreeOffAxis ? "off the axis" : ""];
  const aside = where.filter(Boolean).map((words) => `, ${words}`);
  return `${who}${aside.join("")}${aside.length ? "," : ""} ${verb}: ${free.entropy.toFixed(digits)}`;
}

/**
 * The words beside the bar: what was, or at the dragged gamma would be, revealed.
 * @param {Run} run
 * @param {number} pass
 * @param {number | null} preview the dragged gamma
 * @param {BudgetLayout} layout
 */
export function budgetNote(run, pass, preview, layout) {
  const { segments, spent, digits, hasGamma, isSum, numAfterEnd } = layout;
  const { solver } = run;
  const count = layout.count - numAfterEnd;
  if (!segments.length) {
    return pass === 0 ? "the first forward pass reads the prompt" : "nothing masked";
  }
  const numDropped = preview === null ? run.main.numDroppedAt(pass) : 0;
  const behind = numAfterEnd ? `, ${numAfterEnd} after the end` : "";
  const older = numDropped ? `, ${numDropped} older ${behind ? "too" : "now after the end"}` : "";
  const more = behind + older;
  if (!hasGamma) return `${SOLVER_TITLES[solver.name] ?? solver.name} · ${count} revealed${more}`;
  const gamma = formatGamma(preview ?? solver.gamma ?? 0);
  const verb = preview === null ? "revealed" : "would be revealed";
  if (!isSum) {
    const who = layout.free ? "none" : "each";
    return `${who} below γ ${gamma} nats · ${count} ${verb}${more}`;
  }
  return `${spent.toFixed(digits)} of γ ${gamma} · ${count} ${verb}${more}`;
}
