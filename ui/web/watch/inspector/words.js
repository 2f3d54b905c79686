// What the inspector says of one position, in words. Knows no DOM.

import { formatNats, formatPercent } from "../../core/numbers.js";
import { draftedAt } from "../../core/run/drafts.js";
import { tokenName } from "../../core/text/letters.js";
import { openPositions, predictedTiles, tileState } from "../view.js";

/** @import { FixedItem } from "../../core/run/lane.js" */
/** @import { Run } from "../../core/run/run.js" */
/** @import { View } from "../view.js" */

/** @typedef {"open" | "agrees" | "differs"} Verdict */

/**
 * The pass whose distribution is shown: this one if still masked, else that of the reveal.
 * @param {View} view
 * @param {number} focus
 */
export function inspectedPass({ run, pass }, focus) {
  if (run.main.steps[pass]?.masked.has(focus)) return pass;
  return run.main.entropyHistory(focus).findLast((item) => item.pass <= pass)?.pass ?? null;
}

/**
 * How a strategy without a solver came to a token.
 * @param {Run} run
 * @param {FixedItem} item
 */
function writtenText(run, { position, pass }) {
  const { drafted, isAccepted } = draftedAt(run.main, pass, position);
  if (isAccepted && drafted !== undefined) {
    return `Drafted before, checked and accepted in forward pass ${pass + 1}.`;
  }
  const instead =
    drafted === undefined ? "" : ` for the drafted ${tokenName(run.tokenText(drafted))}`;
  return `Written in forward pass ${pass + 1}${instead}.`;
}

/**
 * Of a position after the end: what was revealed there counts no more.
 * @param {FixedItem | null} item
 */
function afterEndText(item) {
  const came = item && !item.isPinned ? `, though revealed in forward pass ${item.pass + 1}` : "";
  return `After the end of the answer: not part of it${came}.`;
}

/**
 * How the position came to what it holds.
 * @param {View} view
 * @param {number} focus
 */
export function revealText(view, focus) {
  const { run, pass } = view;
  const item = run.main.fixedAt(focus, pass);
  if (run.main.isAfterEnd(focus, pass)) return afterEndText(item);
  if (item?.isPinned) return "Given, not decoded.";
  if (item && run.strategy !== "sbd") return writtenText(run, item);
  if (item) {
    const order = item.rank === 0 ? "first" : `number ${item.rank + 1}`;
    return `Revealed in forward pass ${item.pass + 1}, ${order} in the solver’s order.`;
  }
  const { kind } = tileState(view, focus);
  if (kind === "draft") return "Drafted; the next forward pass checks it.";
  if (kind === "struck") return "Drafted, and thrown away in this forward pass.";
  const masked = run.main.steps[pass]?.masked.get(focus);
  if (masked) return `Still masked, entropy ${formatNats(masked.entropy)} nats.`;
  return "Not predicted yet.";
}

/**
 * Of a position that verify has not decided: only what is drafted will be checked.
 * @param {View} view
 * @param {number} focus
 */
function waitingWords(view, focus) {
  const { kind } = tileState(view, focus);
  if (kind === "draft") return "A draft, until a causal forward pass checks it.";
  if (kind === "struck") return "Thrown away: a causal forward pass gave another token.";
  return "Not drafted: only a causal forward pass decides what stands here.";
}

/**
 * The heading of the guesses. In a run by verify they are what a mask at the position gives, beside
 * which the same forward pass may read the place causally.
 * @param {Run} run
 * @param {number | null} at the pass they are of
 * @param {number} pass where the playhead stands
 */
export function guessTitle({ strategy }, at, pass) {
  const isNow = at === null || at === pass;
  if (strategy === "verify") {
    return `What a mask here gives, ${isNow ? "this forward pass" : `forward pass ${at + 1}`}`;
  }
  return `What the model ${isNow ? "thinks, this forward pass" : `thought, forward pass ${at + 1}`}`;
}

/**
 * How the answer came to its end, before what it never came to.
 * @param {Run} run
 */
function endWords({ main, config }) {
  if (main.finish === "end_of_sequence") return "The answer ends";
  if (main.finish === "stopped") return "The run was stopped";
  return `The limit of ${config.max_new_tokens} tokens cuts the answer off`;
}

/**
 * What the causal check gave, once its pass has been reached.
 * @param {View} view
 * @param {number} focus
 * @returns {[words: string, verdict: Verdict]}
 */
export function hindsightText(view, focus) {
  const { run, pass } = view;
  const item = run.main.hindsight.get(focus);
  if (!item && run.main.finish !== null) {
    return [`${endWords(run)} before a causal forward pass reads this block.`, "open"];
  }
  if (!item || item.pass > pass) {
    if (run.strategy === "ntp") return ["Not decoded yet.", "open"];
    if (run.strategy === "verify") return [waitingWords(view, focus), "open"];
    return ["The next causal forward pass over this block will show it, for free.", "open"];
  }
  const share = formatPercent(item.probability);
  if (run.strategy === "verify") {
    return [
      `Read causally, forward pass ${item.pass + 1} gives this token ${share}: that decides.`,
      "agrees",
    ];
  }
  if (run.strategy !== "sbd") {
    return [`The causal forward pass that this token is from gives it ${share}.`, "agrees"];
  }
  if (item.argmax === run.main.fixed.get(focus)?.token) {
    return [`The causal forward pass gives this token ${share}. It agrees.`, "agrees"];
  }
  const other = `${tokenName(run.tokenText(item.argmax))} (${formatPercent(item.argmaxProbability)})`;
  return [
    `The causal forward pass gives this token ${share}; it would have said ${other}.`,
    "differs",
  ];
}

/**
 * Which position it is, and why it is shown.
 * @param {View} view
 */
export function inspectorKicker({ run, pass, focus, held, showsFocus }) {
  if (focus === null) return "Inspector";
  if (held === focus) return `Position ${focus} · held`;
  if (showsFocus) return `Position ${focus}`;
  if (run.strategy === "ntp") return `Position ${focus} · written in this forward pass`;
  const open = openPositions(run, pass);
  const hasOthers = open.length < predictedTiles(run, pass).length;
  const isAlone = open.length === 1;
  const which = isAlone ? "only mask" : "least sure";
  // Verify predicts further than its tiles go.
  const tiles = isAlone ? "in these tiles" : "of these tiles";
  const where = run.strategy === "verify" ? tiles : "in this forward pass";
  return `Position ${focus} · ${hasOthers ? "the answer’s " : isAlone ? "the " : ""}${which} ${where}`;
}
