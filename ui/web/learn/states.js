// The states that scenes show of their runs: who may look at whom, what a forward pass does with a
// block, which words clash. Knows no DOM.

import { formatGamma, gammaDigits, raceSeconds } from "../core/numbers.js";
import { Lane } from "../core/run.js";

/** @import { BudgetLayout } from "../watch/budget.js" */
/** @import { Run } from "../core/run.js" */
/** @import { Edge, Machine } from "./lesson.js" */

const DIGITS = 4; // after the point, of an entropy and a sum of them at least
const MOST_DIGITS = 9;

/**
 * The amount that an entropy adds to a sum as shown: the shown terms come to the shown sum.
 * @param {number} before the sum without it, nats
 * @param {number} entropy nats
 * @param {number} digits after the point
 */
function addedTo(before, entropy, digits) {
  const after = (before + entropy).toFixed(digits);
  return (Number(after) - Number(before.toFixed(digits))).toFixed(digits);
}

/**
 * Digits after the point with which more than γ is seen to be more.
 * @param {number} sum nats
 * @param {number} gamma
 * @param {number} least
 */
function digitsAbove(sum, gamma, least) {
  for (let digits = least; digits < MOST_DIGITS; digits += 1)
    if (Number(sum.toFixed(digits)) > gamma) return digits;
  return MOST_DIGITS;
}

/**
 * The sum that a γ bounds, the entropy that it leaves out, and why one more guess does not fit: what
 * was left out counts too then.
 * @param {BudgetLayout} layout
 * @param {number} gamma
 */
export function sumWords({ segments, spent, free }, gamma) {
  const counted = segments.filter(({ isIn, isFree }) => isIn && !isFree);
  const digits = Math.max(DIGITS, gammaDigits(gamma)); // no fewer, or the sum may round above γ
  let before = 0;
  const terms = counted.map(({ item }) => {
    const term = addedTo(before, item.entropy, digits);
    before += item.entropy;
    return term;
  });
  const total =
    terms.length > 1 ? `${terms.join(" + ")} = ${spent.toFixed(digits)}` : (terms[0] ?? "0");
  if (!free) return { total, free: "", more: "All are kept." };
  const own = addedTo(spent, free.entropy, digits);
  if (segments.every(({ isIn }) => isIn)) return { total, free: own, more: "All are kept." };
  const sum = spent + free.entropy;
  const fine = digitsAbove(sum, gamma, digits);
  const added = addedTo(spent, free.entropy, fine);
  const more = `One more, and ${added} counts too: ${sum.toFixed(fine)}, more than ${formatGamma(gamma)}.`;
  return { total, free: own, more };
}

/**
 * A run as it would be after a forward pass that keeps other guesses than it did.
 * @param {Run} run
 * @param {number} pass
 * @param {Set<number>} kept positions, in the solver's order
 * @returns {Run}
 */
export function withKept(run, pass, kept) {
  const lane = new Lane(run.main.name, run.main.pins);
  for (const step of run.main.steps.slice(0, pass)) lane.append(step);
  const step = run.main.steps[pass];
  if (!step) return run;
  const reveals = [...kept].flatMap((position, rank) => {
    const [best] = step.masked.get(position)?.top ?? [];
    return best ? [{ position, rank, ...best }] : [];
  });
  lane.append({ ...step, reveals, committed: [], hindsight: [] });
  return Object.create(run, { main: { value: lane } });
}

/**
 * The forward pass that filled a cell of a sudoku; others after the last that fills one write the
 * end.
 * @param {number} pass
 * @param {number} last
 */
export function fillWords(pass, last) {
  const rest =
    pass === last ? "the last that fills a cell" : `forward pass ${last} fills the last cell`;
  return `forward pass ${pass} (${rest})`;
}

const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];

/**
 * The tokens of a draft as they are spoken of: which one, where some are alike.
 * @param {string[]} names
 */
export function apart(names) {
  return names.map((name, at) => {
    if (names.filter((other) => other === name).length === 1) return name;
    const which = names.slice(0, at).filter((other) => other === name).length;
    return `the ${ORDINALS[which] ?? `${which + 1}th`} ${name.replace(/^an? /, "")}`;
  });
}

/**
 * Whether the token that a reader would throw away first is the one that the check does.
 * @param {string} chosen as it is spoken of
 * @param {number} index of it in the draft
 * @param {number} numAccepted of the draft's tokens
 */
export function choiceWords(chosen, index, numAccepted) {
  if (index === numAccepted) return `Right: you would throw away ${chosen} first. `;
  if (index < numAccepted) return `Not ${chosen}, which is accepted. `;
  return `Not ${chosen} first: it goes too, but one before it goes first. `;
}

/**
 * Whether a place may look at another; the first `numWritten` are text, the others a block.
 * @param {number} row who looks
 * @param {number} column at whom
 * @param {number} numWritten
 */
export function mayLook(row, column, numWritten) {
  return row < numWritten ? column <= row : true;
}

/**
 * The state of a block of the answer in a forward pass.
 * @param {Run} run
 * @param {number} pass
 * @param {number} start of the block
 * @returns {"ahead" | "block" | "riding" | "cached"}
 */
export function blockState(run, pass, start) {
  const step = run.main.steps[pass];
  const prompt = run.main.steps[0]?.causal ?? 0;
  if (!step || (step.kind === "prefill" && pass === 0)) return "ahead";
  const cached = step.cached - prompt;
  if (start < cached) return "cached";
  if (start < cached + step.causal) return "riding";
  return step.block.start === start ? "block" : "ahead";
}

/**
 * The verdict on a story, with the meaning of the underline where it failed.
 * @param {Pick<Edge, "is_right" | "fault" | "has_facts" | "fault_tokens">} edge
 */
export function verdictWords({ is_right: isRight, fault, has_facts: hasFacts, fault_tokens: at }) {
  if (!isRight) {
    const that = at.length ? "that, and " : "";
    return `Broken: ${fault}. Underlined: ${that}neighbours from one forward pass (small number) that clash.`;
  }
  const facts = hasFacts ? "it keeps to the prompt, and " : "";
  return `Holds by our check: ${facts}no word is doubled or unknown. Grammar and sense are not checked.`;
}

/**
 * A note on what the seconds cover, and on whose peak rates, as sources differ.
 * @param {Pick<Machine, "name" | "rates">} machine
 * @param {number} numTexts decoded at the same time
 */
export function timeTitle({ name, rates }, numTexts) {
  const who = numTexts === 1 ? "one text" : `${numTexts} such texts at once`;
  return `Time for ${who} by Llama-3.1-8B on ${name}, 2 bytes a weight, worked out from ${rates}`;
}

/** With digits enough to check a ratio. @param {number} seconds */
export function secondsWords(seconds) {
  return seconds < 1 ? `${(seconds * 1000).toFixed(2)} ms` : raceSeconds(seconds);
}

/**
 * How many times as fast, by the times as they are shown.
 * @param {number} slow seconds
 * @param {number} fast seconds
 */
export function timesWords(slow, fast) {
  const shown = (/** @type {string} */ words) =>
    Number.parseFloat(words) / (words.endsWith("ms") ? 1000 : 1);
  return `${(shown(secondsWords(slow)) / shown(secondsWords(fast))).toFixed(2)} times as fast`;
}

/**
 * How much longer a forward pass takes that reads a block.
 * @param {{ ntp: number, sbd: number }} seconds
 * @param {{ ntp: number, sbd: number }} numPasses
 */
export function passCostWords({ ntp, sbd }, numPasses) {
  const ratio = sbd / numPasses.sbd / (ntp / numPasses.ntp);
  return `a forward pass with a block takes ${ratio.toFixed(2)} times as long`;
}

/**
 * Tokens of an answer as they are shown, the end-of-sequence left out; what clashes has its forward pass,
 * what the check found is underlined too.
 * @param {Edge} edge
 * @returns {{ text: string, isClash: boolean, isTogether: boolean, pass: number }[]}
 */
export function storyPieces({ tokens, clashes, fault_tokens: faulty }) {
  return tokens
    .filter(([text]) => !/^<.*>$/.test(text))
    .map(([text, pass], at) => {
      const here = clashes.filter(({ start, end }) => at >= start && at < end);
      const isTogether = here.some((clash) => clash.forward_pass === pass);
      return { text, isClash: here.length > 0 || faulty.includes(at), isTogether, pass: pass + 1 };
    });
}
