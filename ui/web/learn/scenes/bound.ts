// The scene “The budget”: the player's tiles and entropy budget at one forward pass; the reader drags γ.

import { html } from "lit-html";
import { formatGamma, gammaDigits, roundDraggedGamma } from "../../core/numbers.ts";
import { Lane, type Run } from "../../core/run.ts";
import { LEGEND } from "../../dom/terms.ts";
import { axisNats, axisPlace, Budget, type BudgetLayout, layOut } from "../../watch/budget.ts";
import type { View } from "../../watch/playhead.ts";
import { Tiles } from "../../watch/tiles.ts";
import { animate, Figure, passName } from "../parts.ts";
import type { MakeScene } from "../view.ts";

const ANIMATION_MS = 3600;
const HIGHEST = 4; // nats; the animation raises γ to this
const RISING_SHARE = 0.6; // share of the animation in which γ rises; then it falls

const SCALE = "The sum grows to the right; stretched near 0.";

const DIGITS = 4; // at least so many after the point, for entropies and their sums
const MOST_DIGITS = 9;

/** Return an entropy rounded so that the terms shown add up to the sum shown. */
function addedTo(before: number, entropy: number, digits: number) {
  const after = (before + entropy).toFixed(digits);
  return (Number(after) - Number(before.toFixed(digits))).toFixed(digits);
}

/**
 * Return how many digits after the point show that a sum is above γ.
 * @param sum nats, above γ
 */
function digitsAbove(sum: number, gamma: number, least: number) {
  for (let digits = least; digits < MOST_DIGITS; digits += 1)
    if (Number(sum.toFixed(digits)) > gamma) return digits;
  return MOST_DIGITS;
}

/**
 * Put into words the sum that a γ bounds, the entropy that is not counted (exempt), and why one more guess does not
 * fit: with it the exempt entropy would count.
 */
export function sumWords({ segments, spent, exempt }: BudgetLayout, gamma: number) {
  const counted = segments.filter(({ isRevealed, isExempt }) => isRevealed && !isExempt);
  const digits = Math.max(DIGITS, gammaDigits(gamma)); // no fewer, or the sum may round above γ
  let before = 0;
  const terms = counted.map(({ item }) => {
    const term = addedTo(before, item.entropy, digits);
    before += item.entropy;
    return term;
  });
  const total =
    terms.length > 1 ? `${terms.join(" + ")} = ${spent.toFixed(digits)}` : (terms[0] ?? "0");
  if (!exempt) return { total, exempt: "", more: "All are kept." };
  const exemptEntropy = addedTo(spent, exempt.entropy, digits);
  if (segments.every(({ isRevealed }) => isRevealed))
    return { total, exempt: exemptEntropy, more: "All are kept." };
  const sum = spent + exempt.entropy;
  const sumDigits = digitsAbove(sum, gamma, digits);
  const added = addedTo(spent, exempt.entropy, sumDigits);
  const more = `One more, and ${added} counts too: ${sum.toFixed(sumDigits)}, more than ${formatGamma(gamma)}.`;
  return { total, exempt: exemptEntropy, more };
}

/**
 * Return a run as it would be if a forward pass had kept other guesses.
 * @param kept positions, in the solver's order
 */
export function withKept(run: Run, pass: number, kept: Set<number>): Run {
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

function titleWords(run: Run, pass: number) {
  const { start = 0, size = 1 } = run.main.steps[pass]?.block ?? {};
  const number = Math.floor(start / Math.max(size, 1)) + 1;
  return `Block ${number} of nano’s story; each kept token names its forward pass`;
}

/** Say which entropies a γ counts, and why it keeps no more guesses. */
function keptWords(layout: BudgetLayout, gamma: number) {
  const { total, exempt, more } = sumWords(layout, gamma);
  if (layout.count < 2) return "The surest guess is always kept.";
  return `Counted: ${total}, at most ${formatGamma(gamma)}. Not counted: the largest kept, ${exempt}. ${more}`;
}

/**
 * Return γ during the animation: it rises to HIGHEST, then falls to the run's γ.
 * @param part share of the animation, 0 to 1
 */
function gammaAt(part: number, runGamma: number) {
  const [end, top] = [axisPlace(runGamma), axisPlace(HIGHEST)];
  const isRising = part < RISING_SHARE;
  const place = isRising
    ? (top * part) / RISING_SHARE
    : top + ((end - top) * (part - RISING_SHARE)) / (1 - RISING_SHARE);
  return roundDraggedGamma(axisNats(place));
}

export const makeBoundScene: MakeScene = ({ lesson, signal, onActed, draw }) => {
  const { text: run } = lesson.runs;
  const { bound_pass: pass } = lesson;
  const figure = new Figure(run, signal);
  let isAnimated = false;
  let [gamma, layout] = [0, layOut(run, pass, new Set())];
  const actions = figure.actions({
    previewGamma: (dragged) => {
      isAnimated = false;
      figure.set({ gammaPreview: dragged });
      onActed();
    },
  });
  // The bars stay as they are, whatever γ keeps.
  const tiles = new Tiles(actions, passName, ({ entropy }, position) => {
    return run.main.steps[pass]?.masked.get(position)?.entropy ?? entropy;
  });
  // As many digits as the sum has; with fewer, an entropy could look equal to γ.
  const labelOf = () => {
    const { exempt } = sumWords(layout, gamma);
    return layout.count < 2 ? "always kept" : `not counted: ${exempt}`;
  };
  const source = html`<span class="sbd-learn-source">${SCALE}</span>`;
  const budget = new Budget(actions, labelOf, source);
  /** Show on the tiles what a γ keeps, not what the recorded run kept. */
  function update(view: View) {
    const kept = withKept(run, pass, view.wouldReveal ?? new Set());
    tiles.update({ ...view, run: kept, wouldReveal: null });
    gamma = view.gammaPreview ?? 0;
    layout = layOut(run, pass, view.wouldReveal ?? new Set());
    budget.update(view);
    draw();
  }
  figure.seek(pass, false);
  figure.set({ gammaPreview: 0 });
  figure.add({ update });

  function showGammaAt(part: number) {
    if (isAnimated) figure.set({ gammaPreview: gammaAt(part, run.solver.gamma ?? 0) });
  }
  const view = () => {
    const count = `${layout.count} of ${layout.segments.length}`;
    return html`<div class="sbd-learn-bound">
      <h3>${titleWords(run, pass)}</h3>
      ${tiles.root}${budget.root}
      <p class="sbd-learn-count"
        >With γ = ${formatGamma(gamma)}, forward pass ${pass + 1} keeps ${count}.</p>
      <p class="sbd-learn-sum">${keptWords(layout, gamma)}</p>
      ${LEGEND}
    </div>`;
  };
  function answer() {
    isAnimated = true;
    animate(ANIMATION_MS, showGammaAt, signal);
    onActed();
  }
  return { view, answer };
};
