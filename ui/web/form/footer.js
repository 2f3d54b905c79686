// The foot of every view: the paper, the code, the model card, and in a note what the paper’s own
// models reach and what was added here.

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

/**
 * @param {string} href
 * @param {string} text
 */
function link(href, text) {
  return make("a", "", { href, target: "_blank", rel: "noopener noreferrer" }, text);
}

/** @type {Mount} */
export function mountFooter({ element, value, signal }) {
  /** @type {{ code: string, card: string, is_beside: boolean }} is_beside: the card lies beside the page */
  const { code, card, is_beside: isBeside } = JSON.parse(value);
  const root = find(element, ".sbd-footer");
  root.replaceChildren(
    link(PAPER_PAGE, "Gat et al. 2025, arXiv 2509.04185"),
    code ? link(code, "Code") : "",
    link(isBeside ? card : fileAddress(card), "Model card"),
    make(
      "span",
      "",
      {},
      "The paper and this page",
      question("what is added and reached", `${REACHED} ${ADDED}`),
    ),
  );
  makeTermNote(root, signal);
  return () => {};
}
