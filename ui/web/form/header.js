// The name of the loaded model, as text, and the switch between the views.

import { find, setText } from "../dom/elements.js";
import { currentView, onTurn, turnTo } from "../dom/page.js";

/** @import { Mount } from "../stub.js" */

/** The model of this browser, in words, once it decodes. */
let here = "";
/** @type {(() => void) | null} */
let redraw = null;

/** @type {Mount} */
export function mountHeader({ element, value, signal }) {
  /** @type {HTMLElement[]} */
  const views = [...element.querySelectorAll(".sbd-view")].filter(
    (node) => node instanceof HTMLElement,
  );
  for (const button of views) {
    button.addEventListener("click", () => turnTo(button.dataset.view ?? ""));
  }
  /** @param {string} name */
  function show(name) {
    document.body.classList.toggle("sbd-is-racing", name === "race");
    for (const button of views) {
      button.setAttribute("aria-pressed", String(button.dataset.view === name));
    }
  }
  onTurn(show, signal);
  // Watch is the view whose address has no name.
  const follow = () => location.hash === "" && currentView() !== "watch" && turnTo("watch");
  addEventListener("hashchange", follow, { signal });
  show(currentView());
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
