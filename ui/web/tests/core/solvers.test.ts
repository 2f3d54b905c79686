// The rules of the solvers: in which order they reveal positions, and how many their bound allows.

import assert from "node:assert/strict";
import test from "node:test";
import { boundOf, countRevealed, hasBudget, revealCosts, solverOrder } from "../../core/solvers.ts";
import { SOLVERS } from "../../core/words.ts";
import { Generator } from "../../engine/sampling.ts";

const maskedOf = (...rows: [position: number, entropy: number, best: number, second: number][]) =>
  new Map(
    rows.map(([position, entropy, best, second]) => [
      position,
      {
        position,
        entropy,
        top: [
          { token: 0, probability: best },
          { token: 1, probability: second },
        ],
      },
    ]),
  );

const MASKED = maskedOf([0, 0.5, 0.6, 0.1], [1, 0.1, 0.5, 0.45], [2, 0.3, 0.9, 0.8]);

const order = (name: string) => solverOrder({ name }, MASKED).map(({ position }) => position);

test("each rule takes positions in its own order", () => {
  assert.deepEqual(order("entropy-bound"), [1, 2, 0]);
  assert.deepEqual(order("entropy-bound-by-confidence"), [2, 0, 1]);
  assert.deepEqual(order("entropy-bound-by-margin"), [0, 2, 1]);
  assert.deepEqual(order("entropy-bound-from-left"), [0, 1, 2]);
  assert.deepEqual(solverOrder({ name: "entropy-bound-from-left" }, new Map()), []);
});

test("what is alike in a trace's digits stands as the engine took it", () => {
  const alike = maskedOf([0, 0, 1, 0], [1, 0, 1, 0], [2, 0, 1, 0], [3, 0.2, 1, 0]);
  const reveals = [2, 0].map((position, rank) => ({ position, token: 0, rank, probability: 1 }));
  const taken = solverOrder({ name: "entropy-bound" }, alike, reveals);
  assert.deepEqual(
    taken.map(({ position }) => position),
    [2, 0, 1, 3],
  );
});

/** Whether gamma allows these reveals, by the kind of bound. */
const ALLOWED: Record<string, (entropies: number[], gamma: number) => boolean> = {
  "all but the largest": (entropies, gamma) =>
    entropies
      .toSorted((a, b) => a - b)
      .slice(0, -1)
      .reduce((a, b) => a + b, 0) <= gamma,
  "all but the leftmost": ([, ...others], gamma) => others.reduce((a, b) => a + b, 0) <= gamma,
  each: (entropies, gamma) => entropies.every((entropy) => entropy < gamma),
};

test("each solver with a gamma reveals the longest prefix that its bound allows", () => {
  const GRID = 64; // sums of multiples of 1/64 are exact
  let numInside = 0;
  for (const [name, { gamma: usual }] of Object.entries(SOLVERS)) {
    if (usual === undefined) continue;
    const allows = ALLOWED[boundOf({ name }).kind];
    for (let seed = 0; seed < 60; seed += 1) {
      const draw = new Generator(seed);
      const grid = (most: number) => (draw.random() % most) / GRID;
      const rows = Array.from({ length: 1 + (seed % 9) }, (_, index) => index);
      const masked = maskedOf(
        ...rows.map((index): [number, number, number, number] => [
          2 * index,
          grid(40),
          grid(GRID),
          grid(8),
        ]),
      );
      for (const gamma of [0, grid(16), grid(160), 1e9]) {
        const taken = solverOrder({ name }, masked);
        assert.deepEqual(new Set(taken), new Set(masked.values()), name);
        const costs = revealCosts({ name, gamma }, taken) ?? [];
        const count = countRevealed({ name }, costs, gamma);
        const entropies = taken.map(({ entropy }) => entropy);
        const sizes = rows.filter(
          (size) => size === 0 || allows(entropies.slice(0, size + 1), gamma),
        );
        assert.equal(count, 1 + Math.max(...sizes), `${name} ${entropies} ${gamma}`);
        numInside += count > 1 && count < rows.length ? 1 : 0;
      }
    }
  }
  assert.ok(numInside > 100);
});

test("every solver with a gamma has a budget, and no other", () => {
  for (const [name, parameters] of Object.entries(SOLVERS)) {
    const hasGamma = "gamma" in parameters;
    const costs = revealCosts({ name, ...(hasGamma && { gamma: 0.1 }) }, [...MASKED.values()]);
    assert.equal(costs !== null, hasGamma, name);
  }
  assert.equal(revealCosts({ name: "somebody's own", gamma: 0.1 }, [...MASKED.values()]), null);
});

test("only rules with a budget are headed as such, and Eq. 8 only where it is that", () => {
  const heading = (name: string) => [boundOf({ name }).title, boundOf({ name }).equation];
  assert.deepEqual(heading("entropy-bound"), ["[Entropy] budget", "Eq. 8"]);
  assert.deepEqual(heading("entropy-bound-from-left"), ["[Entropy] budget", ""]);
  assert.deepEqual(heading("entropy-threshold"), ["[Entropy] of each mask", ""]);
  for (const name of ["random", "factor", "a rule of tomorrow"]) {
    assert.deepEqual(heading(name), ["[Entropy], added up", ""], name);
    assert.equal(hasBudget({ name, gamma: 1 }), false, name);
  }
});
