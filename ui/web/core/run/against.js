// What an answer has otherwise than next-token prediction's, once both are whole. Knows no DOM.

import { differences, numMissing } from "../text/diff.js";
import { answerTokens } from "./family.js";

/** @import { Run } from "./run.js" */

/** @typedef {{ positions: Set<number>, count: number }} Against positions of the answer that differ; count: with those that it lacks */

const MAX_TOKENS = 1000; // each of one answer is laid beside each of the other

/** @type {WeakMap<Run, Against | null>} */
const known = new WeakMap();

/**
 * Null where that cannot be said: a lane is not whole or was stopped, tokens were given to one of
 * them alone, or the answers are too long.
 * @param {Run} run
 * @returns {Against | null}
 */
export function againstPlain(run) {
  const { main, ntp } = run;
  if (!ntp || !main.finish || !ntp.finish) return null;
  const made = known.get(run);
  if (made !== undefined) return made;
  const isOpen = main.finish === "stopped" || ntp.finish === "stopped" || run.pins.size > 0;
  const isLong = Math.max(main.numCommitted, ntp.numCommitted) > MAX_TOKENS;
  const against = isOpen || isLong ? null : compare(run);
  known.set(run, against);
  return against;
}

/** @param {Run} run */
function compare(run) {
  const [left, right] = [run.ntp ?? run.main, run.main].map((lane) =>
    answerTokens(run, lane).map(({ id }) => id),
  );
  const differ = differences(left ?? [], right ?? []);
  return { positions: differ.onlyRight, count: differ.onlyRight.size + numMissing(differ) };
}
