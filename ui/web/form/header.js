// The head and the foot of every view: links, the name of the model, and what to know of one that
// was not trained for Set Block Decoding.

import { PAPER_PAGE } from "../core/words.js";
import { elementOf, find, icon, make, setAttribute, setText } from "../dom/elements.js";
import { fileAddress } from "../dom/gradio.js";
import { makeTermNote, question } from "../dom/terms.js";
import { followAddress, onTurn, turnTo } from "../dom/views.js";

/** @import { Mount } from "../stub.js" */

/** The model of this browser, in words, once it decodes. */
let here = "";
/** @type {(() => void) | null} */
let redraw = null;

/**
 * Links anywhere on the page turn to their view here; with a key held the browser opens them itself.
 * @param {MouseEvent} event
 */
function follow(event) {
  const link = elementOf(event)?.closest("a[data-view]");
  const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!(link instanceof HTMLElement) || !isPlain) return;
  event.preventDefault();
  turnTo(link.dataset.view ?? "");
}

/** @type {Mount} */
export function mountHeader({ element, value, signal }) {
  const menu = find(element, ".sbd-menu");
  const nav = find(element, ".sbd-views");
  menu.replaceChildren(icon("menu"));
  menu.setAttribute("aria-label", "Views");
  /** @param {boolean} isOpen */
  function unfold(isOpen) {
    setAttribute(menu, "aria-expanded", isOpen);
    nav.classList.toggle("is-open", isOpen);
  }
  menu.addEventListener("click", () => unfold(!nav.classList.contains("is-open")));
  document.addEventListener("click", follow, { signal });
  /** @param {Event} event */
  const fold = (event) => elementOf(event)?.closest(".sbd-menu") || unfold(false);
  document.addEventListener("click", fold, { signal });
  element.addEventListener("keydown", (event) => event.key === "Escape" && unfold(false));
  onTurn((name) => {
    for (const link of element.querySelectorAll("[data-view]")) {
      const isShown = link instanceof HTMLElement && link.dataset.view === name;
      if (isShown) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }, signal);
  followAddress(signal);
  const model = find(element, ".sbd-model");
  let ofServer = value;
  const draw = () => setText(model, here || ofServer);
  redraw = draw;
  signal.addEventListener("abort", () => {
    if (redraw === draw) redraw = null;
  });
  draw();
  return (text) => {
    ofServer = text;
    draw();
  };
}

/** @param {string} words about the model that decodes in this browser, "" while the server does */
export function showModelHere(words) {
  here = words;
  redraw?.();
}

const ADDED =
  "Three things are not in the paper. Verify checks every draft before it counts, so the answer is " +
  "that of next-token prediction. The solver “entropy bound from the left” also reveals the " +
  "leftmost mask in every forward pass. The bundled models decode on a CPU and in a browser.";
const REACHED =
  "The paper reports 3 to 5 times fewer forward passes for its Llama-3.1 8B and Qwen-3 8B. With its " +
  "lower γ they lose at most 3.3 points on any benchmark of Table 1, at 3.0 and 3.2 tokens per " +
  "forward pass on average.";

/** @param {string} href @param {string} text */
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
      "The paper and this page",
      question("what is added and reached", `${REACHED} ${ADDED}`),
    ),
  );
  makeTermNote(root, signal);
  return () => {};
}

/** @typedef {{ name: string, words: string, lines: string[] }} Words as ui/views/home.py */

/** @type {Mount} */
export function mountUntrained({ element, value }) {
  /** @param {string} text "" hides the strip */
  function show(text) {
    element.hidden = text === "";
    if (!text) return;
    /** @type {Words} */
    const { name, words, lines } = JSON.parse(text);
    find(element, ".sbd-untrained-name").textContent = name;
    find(element, ".sbd-untrained-words").textContent = words;
    // A click takes the whole line, to be copied.
    find(element, ".sbd-untrained-lines").replaceChildren(
      ...lines.map((line) => make("code", "", line)),
    );
  }
  show(value);
  return show;
}
