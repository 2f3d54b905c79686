// The solvers whose choice a line on the entropy budget can show: what each would reveal at
// another gamma. Mirrors sbd_core.solvers for these rules; a test holds them together.

const RULE_NAMES = {
  "entropy-bound": "Entropy bound",
  "entropy-bound-by-confidence": "Entropy bound by confidence",
  "entropy-bound-by-margin": "Entropy bound by margin",
  "entropy-bound-from-left": "Entropy bound from the left",
  "entropy-threshold": "Entropy threshold",
  "confidence-threshold": "Confidence threshold",
  "factor": "Factor",
  "top-k": "Top-k",
  "random": "Random",
  "left-to-right": "Left to right",
};

function confidenceOf(item) {
  return item.top[0]?.probability ?? 0;
}

function marginOf(item) {
  return confidenceOf(item) - (item.top[1]?.probability ?? 0);
}

/** Masked positions in the order in which the solver would take them. */
function solverOrder(solver, masked) {
  const keys = {
    "entropy-bound-by-confidence": (item) => -confidenceOf(item),
    "entropy-bound-by-margin": (item) => -marginOf(item),
  };
  const key = keys[solver.name] ?? ((item) => item.entropy);
  const order = [...masked.values()].sort((a, b) => key(a) - key(b) || a.position - b.position);
  if (solver.name !== "entropy-bound-from-left") return order;
  const leftmost = order.reduce((a, b) => (a.position < b.position ? a : b));
  return [leftmost, ...order.filter((item) => item !== leftmost)];
}

/** For each item in order: the least gamma that reveals it. Null for rules without gamma. */
function revealCosts(solver, order) {
  if (solver.gamma === undefined) return null;
  let sum = 0;
  let largest = 0;
  return order.map(({ entropy }, rank) => {
    if (rank === 0 && solver.name === "entropy-bound-from-left") return 0;
    sum += entropy;
    largest = Math.max(largest, entropy);
    if (rank === 0) return 0;
    if (solver.name === "entropy-bound-from-left") return sum;
    return solver.name === "entropy-threshold" ? entropy : sum - largest;
  });
}

/** How many of the items, in order, are revealed at gamma: at least one. */
function countRevealed(solver, costs, gamma) {
  const fits = solver.name === "entropy-threshold"
    ? (cost, rank) => rank === 0 || cost < gamma
    : (cost) => cost <= gamma;
  const firstOut = costs.findIndex((cost, rank) => !fits(cost, rank));
  return firstOut === -1 ? costs.length : firstOut;
}
