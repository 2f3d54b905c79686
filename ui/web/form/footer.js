// The foot of every view: the paper, the code, the model card, and in two notes what was added to
// the paper and what its own models reach.

import { PAPER_PAGE } from "../core/glossary.js";
import { find, make } from "../dom/elements.js";
import { fileAddress } from "../dom/page.js";
import { makeTermNote, question } from "../dom/terms.js";

/** @import { Mount } from "../stub.js" */

const ADDED =
  "Three things are not in the paper. Verify checks every draft before it counts, so the answer is " +
  "that of next-token prediction. The solver “entropy bound from the left” also reveals the " +
  "leftmost mask in every forward pass. The bundled models decode on a CPU and in a browser.";
const REACHED =
  "The paper reports 3 to 5 times fewer forward passes for its Llama-3.1 8B and Qwen-3 8B. With its " +
  "lower γ they lose at most 3.3 points on any benchmark of Table 1, at 3.0 and 3.2 tokens per " +
  "forward pass on average.";

const CODE =
  "The code is the repository that this page was started from; its README.md says what is where.";

/**
 * @param {string} href
 * @param {string} text
 */
function link(href, text) {
  return make("a", "", { href, target: "_blank", rel: "noopener noreferrer" }, text);
}

/**
 * A heading whose text is behind its "?".
 * @param {string} name
 * @param {string} about what the "?" explains
 * @param {string} words
 */
function named(name, about, words) {
  return make("span", "", {}, name, question(about, words));
}

/** @type {Mount} */
export function mountFooter({ element, value, signal }) {
  /** @type {{ code: string, card: string, is_beside: boolean }} is_beside: the card lies beside the page */
  const { code, card, is_beside: isBeside } = JSON.parse(value);
  const root = find(element, ".sbd-footer");
  root.replaceChildren(
    link(PAPER_PAGE, "Gat et al. 2025, arXiv 2509.04185"),
    code ? link(code, "Code") : named("Code", "where the code is", CODE),
    link(isBeside ? card : fileAddress(card), "Model card"),
    named("Beyond the paper", "what is added to the paper here", ADDED),
    named("In the paper", "what the paper’s own models reach", REACHED),
  );
  makeTermNote(root, signal);
  return () => {};
}
