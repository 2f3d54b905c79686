// How large the staircase's grid is. Knows no DOM.

/** @import { Run } from "../../core/run/run.js" */

/**
 * Room for a growing number: in steps of an eighth to a quarter, so that it changes seldom.
 * @param {number} count
 */
function roomFor(count) {
  const step = Math.max(8, 2 ** Math.floor(Math.log2(Math.max(count, 1) / 4)));
  return Math.ceil(count / step) * step;
}

/**
 * The grid's extent: the whole run so far, some room more while it grows.
 * @param {Run} run
 */
export function staircaseExtent(run) {
  const { main } = run;
  let positions = MIN_POSITIONS;
  for (const step of main.steps)
    positions = Math.max(positions, step.block.start + step.block.size);
  positions = Math.max(positions, main.numCommitted);
  const passes = main.steps.length;
  const [width, height] =
    main.finish === null ? [roomFor(positions), roomFor(passes)] : [positions, passes];
  return { positions: width, passes: Math.max(MIN_PASSES, height) };
}

const MIN_POSITIONS = 32;

const MIN_PASSES = 12;

export const MAX_CELL_HEIGHT = 22;
