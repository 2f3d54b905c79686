// The page's words, each in a sentence, and a line for every solver. Knows no DOM.

/** @typedef {{ name: string, words: string }} Entry */

export const PAPER = "https://arxiv.org/pdf/2509.04185";

/** @type {Readonly<Record<string, Entry>>} */
export const GLOSSARY = {
  token: {
    name: "token",
    words: "What a model reads and writes: a word, a piece of a word, a sign or a digit.",
  },
  call: {
    name: "call",
    words: "One run through the whole model, also called a forward pass.",
  },
  mask: {
    name: "mask",
    words: "A place whose token is not known yet. The model guesses what belongs there.",
  },
  block: {
    name: "block",
    words: "The next few places of the answer, decoded together: 16 if nothing else is said.",
  },
  cache: {
    name: "cache",
    words:
      "The KV cache: what the model keeps of every token it has read, so that it need not read it " +
      "again.",
  },
  entropy: {
    name: "entropy",
    words:
      "How unsure the model is of a position: 0 if one token has all the probability, the larger " +
      "the more evenly it is spread. Measured in nats.",
  },
  nats: {
    name: "nats",
    words: "The unit of entropy with natural logarithms: a fair coin has 0.69 nats.",
  },
  pass: {
    name: "forward pass",
    words:
      "One call of the model. Next-token prediction gains one token from each; Set Block Decoding " +
      "several.",
  },
  causal: {
    name: "causal",
    words: "Reading from left to right: a token sees only those before it, as in any chat model.",
  },
  hindsight: {
    name: "hindsight",
    words:
      "A finished block is read once more, causally, by the next forward pass. What next-token " +
      "prediction would have said then comes at no cost. To differ is not to be wrong.",
  },
  solver: {
    name: "solver",
    words: "The rule that picks which masked positions a forward pass reveals.",
  },
  gamma: {
    name: "γ",
    words:
      "How much entropy a forward pass may take on, in nats. The largest revealed entropy is left " +
      "out of the sum, so at least one token always comes. Larger is bolder: fewer forward passes.",
  },
  verify: {
    name: "verify",
    words:
      "Decoding without loss: guesses are checked before they count, so the answer is that of " +
      "next-token prediction.",
  },
  draft: {
    name: "draft",
    words: "Tokens guessed ahead that the next forward pass checks before they count.",
  },
  predraft: {
    name: "drafted ahead",
    words:
      "A spare draft for the case that one drafted token is thrown away. The forward pass that " +
      "checks that token makes it, so the next one has a draft to check; without a spare it has none.",
  },
};

/** @type {Readonly<Record<string, string>>} what each solver reveals, in a line */
export const SOLVER_LINES = {
  "entropy-bound":
    "From the surest on, while all entropies but the largest sum to at most γ (Eq. 8).",
  "entropy-bound-by-confidence": "The same bound, taken in order of the best token’s probability.",
  "entropy-bound-by-margin":
    "The same bound, in order of the lead of the best token over the second.",
  "entropy-bound-from-left":
    "The leftmost mask, then from the surest on while the entropies sum to at most γ.",
  "entropy-threshold": "Every position whose own entropy is below γ, or the surest one.",
  "confidence-threshold":
    "Every position whose best token has probability τ or more, or the surest one.",
  factor: "The n surest, as long as (n + 1) times the doubt of the last stays below the factor.",
  "top-k": "A fixed number of positions, the surest first.",
  random: "A fixed number of positions, drawn at random.",
  "left-to-right": "The first masks from the left, a fixed number.",
};
