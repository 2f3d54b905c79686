// The bound: the player's own tiles and budget at one forward pass; the reader drags gamma.

import { axisNats, axisPlace, layOut } from "../../core/budget.js";
import { draggedGamma, formatGamma } from "../../core/numbers.js";
import { make, setText } from "../../dom/elements.js";
import { makeLegend } from "../../dom/legend.js";
import { Budget } from "../../watch/budget.js";
import { Tiles } from "../../watch/tiles.js";
import { Figure } from "../figure.js";
import { makeCallWords } from "../parts/calls.js";
import { sweep } from "../parts/motion.js";
import { sumWords, withKept } from "../states.js";

/** @import { Run } from "../../core/run/run.js" */
/** @import { View } from "../../watch/view.js" */
/** @import { MakeScene } from "../view.js" */

const POUR_MS = 3600;
const HIGHEST = 4; // nats, where the pouring turns
const TURN = 0.6; // the part of the pouring after which it turns
const AXIS = "The axis is uneven; thin pieces have no label. ";

/**
 * How many guesses a γ keeps, and the sum of entropies that says so.
 * @param {Run} run
 * @param {Budget} budget its label gets the digits of the sum, or an entropy may look like a γ
 */
function makeSum(run, budget) {
  const kept = make("p", "sbd-learn-count");
  const sum = make("p", "sbd-learn-sum");
  /** @param {View} view */
  function update({ pass, wouldReveal, gammaPreview }) {
    const layout = layOut(run, pass, wouldReveal ?? new Set());
    const gamma = formatGamma(gammaPreview ?? 0);
    const { total, free, more } = sumWords(layout, gammaPreview ?? 0);
    if (free) setText(budget.free, `not counted: ${free}`);
    setText(kept, `With γ = ${gamma} it keeps ${layout.count} of ${layout.segments.length}.`);
    setText(
      sum,
      `The sum: ${total}, at most ${gamma}. The last one kept, ${free}, does not count. ${more}`,
    );
  }
  return { nodes: [kept, sum], update };
}

/**
 * The tiles show what this γ keeps, not what the recorded run kept.
 * @param {Tiles} tiles
 */
function makeKeptTiles(tiles) {
  return {
    /** @param {View} view */
    update(view) {
      const { run, pass, wouldReveal } = view;
      const kept = withKept(run, pass, wouldReveal ?? new Set());
      tiles.update({ ...view, run: kept, wouldReveal: null });
    },
  };
}

/**
 * The γ of a part of the pouring: up to the highest, then down to the run's own.
 * @param {number} part 0 to 1
 * @param {number} own nats
 */
function pouredGamma(part, own) {
  const [end, top] = [axisPlace(own), axisPlace(HIGHEST)];
  const isRising = part < TURN;
  const place = isRising ? (top * part) / TURN : top + ((end - top) * (part - TURN)) / (1 - TURN);
  return draggedGamma(axisNats(place));
}

/** @type {MakeScene} */
export function makeBoundScene({ lesson, signal, did }) {
  const { text: run } = lesson.runs;
  const figure = new Figure(run, signal);
  let isPouring = false;
  const actions = figure.actions({
    previewGamma: (gamma) => {
      isPouring = false;
      figure.set({ gammaPreview: gamma });
      did();
    },
  });
  const tiles = new Tiles(actions);
  const budget = new Budget(actions);
  const sum = makeSum(run, budget);
  figure.seek(lesson.bound_pass, false);
  figure.set({ gammaPreview: 0 });
  figure.add(makeKeptTiles(tiles), makeCallWords(tiles.root), budget, sum);
  const axis = make("p", "sbd-learn-source", {}, AXIS, readWords(run, lesson.bound_pass));
  const nodes = [tiles.root, budget.root, ...sum.nodes, axis, makeLegend()];

  /** @param {number} part */
  function pour(part) {
    if (isPouring) figure.set({ gammaPreview: pouredGamma(part, run.solver.gamma ?? 0) });
  }
  function answer() {
    isPouring = true;
    sweep(POUR_MS, pour, signal);
    did();
  }
  return { root: make("div", "sbd-learn-bound", {}, ...nodes), answer };
}

/**
 * What the calls before this one did.
 * @param {Run} run
 * @param {number} pass
 */
function readWords({ main }, pass) {
  const isOnlyRead = pass === 1 && !main.steps[0]?.reveals.length;
  return isOnlyRead
    ? "Call 1 only read the prompt, without masks; this is call 2."
    : `This is call ${pass + 1}.`;
}
