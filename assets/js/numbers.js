// The row of numbers above the lanes. Shows what history counts, counts nothing itself.

const LECTURE_LABELS = {
  passes: "passes", tokens: "tokens", perPass: "a pass", saved: "fewer passes", clock: "engine",
};
const NUMBER_LABELS = {
  passes: "forward passes",
  tokens: "tokens decoded",
  perPass: "tokens per pass",
  saved: "fewer passes than next-token",
  clock: "engine time",
};

function makeNumbers() {
  const root = make("dl", "sbd-numbers");
  const cells = {};
  for (const [key, label] of Object.entries(NUMBER_LABELS)) {
    const value = make("dd", "sbd-number");
    const name = make("dt", "sbd-number-label", {}, label);
    root.append(make("div", `sbd-number-cell sbd-number-${key}`, {}, name, value));
    cells[key] = { value, name };
  }

  function update(view) {
    const { run } = view;
    const numbers = run.numbersAt(view.pass);
    const isStarted = run.main.steps.length > 0;
    setText(cells.passes.value, isStarted ? String(numbers.numPasses) : "–");
    setText(cells.tokens.value, isStarted ? String(numbers.numTokens) : "–");
    setText(cells.perPass.value, isStarted ? numbers.tokensPerPass.toFixed(2) : "–");
    setText(cells.saved.value, isStarted ? numbers.passesSaved.toFixed(1) + "×" : "–");
    const isTimed = numbers.seconds !== null;
    setText(cells.clock.value, isTimed ? formatSeconds(numbers.seconds) : "–");
    const labels = view.isLecture ? LECTURE_LABELS : {
      ...NUMBER_LABELS,
      tokens: numbers.numGiven ? `tokens, ${numbers.numGiven} of them given` : NUMBER_LABELS.tokens,
      saved: run.main.pins.size ? "fewer passes than one a token" : numbers.isWhole ? NUMBER_LABELS.saved : "fewer passes, so far",
      clock: isTimed ? `engine time; next-token ${formatSeconds(numbers.ntpSeconds)}` : "engine time",
    };
    for (const [key, label] of Object.entries(labels)) setText(cells[key].name, label);
  }

  return { root, update };
}
