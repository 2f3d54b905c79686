// The head of every view: the links to them all, folded into a menu on a phone, and the name of the
// loaded model, as text.

import { icon } from "../dom/buttons.js";
import { elementOf, find, setAttribute, setText } from "../dom/elements.js";
import { followAddress, onTurn, turnTo } from "../dom/page.js";

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
