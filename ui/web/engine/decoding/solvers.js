// The rules that say which masked positions a forward pass reveals: sbd_core/rules.py. Every rule puts
// them in an order of preference and reveals a prefix of it, at least one position. The page draws by the
// rules with a gamma, too: core/gamma_rules.js.

import { countRevealed, hasBudget, revealCosts, solverOrder } from "../../core/gamma_rules.js";
import { ArgumentError } from "../errors.js";

/** @import { Generator, Row } from "../sampling.js" */
/** @import { Solver } from "./settings.js" */

/**
 * The positions to reveal, the rule's first choice first.
 * @param {Solver} solver
 * @param {Row[]} rows those of every position
 * @param {number[]} masked positions, left to right
 * @param {Generator} generator the chance that only `random` uses
 */
export function ranked(solver, rows, masked, generator) {
  const items = masked.map((position) => {
    const { entropy, probability, second } = rows[position];
    const top = [probability, second].map((chance) => ({ token: 0, probability: chance }));
    return { position, entropy, top, probability, margin: probability - second };
  });
  return prefix(solver, items, generator).map(({ position }) => position);
}

/** @typedef {{ position: number, entropy: number, top: { token: number, probability: number }[], probability: number, margin: number }} Item */

/** @param {Solver} solver @param {Item[]} items @param {Generator} generator @returns {{ position: number }[]} */
function prefix(solver, items, generator) {
  const { name, gamma, tau, k } = solver;
  /** Equal ones stay left to right. @param {(item: Item) => number} key */
  const best = (key) => [...items].sort((a, b) => key(b) - key(a));
  switch (name) {
    case "confidence-threshold": {
      const order = best(({ probability }) => probability);
      return order.slice(0, Math.max(1, items.filter((each) => each.probability >= tau).length));
    }
    case "factor": {
      // Largest n with (n + 1)(1 - c_n) < factor, up to the first failure.
      const order = best(({ probability }) => probability);
      const failure = order.findIndex(
        ({ probability }, index) => !((index + 2) * (1 - probability) < solver.factor),
      );
      return failure < 0 ? order : order.slice(0, Math.max(1, failure));
    }
    case "top-k":
      if (solver.by === "entropy") return best(({ entropy }) => -entropy).slice(0, k);
      return best((item) => (solver.by === "margin" ? item.margin : item.probability)).slice(0, k);
    case "random":
      return generator
        .permutation(items.length)
        .slice(0, k)
        .map((index) => items[index]);
    case "left-to-right":
      return items.slice(0, k);
  }
  if (!hasBudget(solver)) {
    throw new ArgumentError("solver", "must be a rule of this engine", name);
  }
  const order = solverOrder(solver, new Map(items.map((item) => [item.position, item])));
  return order.slice(0, countRevealed(solver, revealCosts(solver, order) ?? [], gamma));
}
