// What the views know of the page round them: its scheme, and which view is in front.

const VIEW_EVENT = "sbd-view";
let shownView = "watch";

/** Whether the page is dark now. */
export function isDarkPage() {
  return document.body.classList.contains("dark");
}

/** The view in front. */
export function currentView() {
  return shownView;
}

/**
 * Turn to a view of the page.
 * @param {string} name "learn", "watch" or "race"
 */
export function turnTo(name) {
  shownView = name;
  // The style sheet hides what belongs to the other views.
  document.body.dataset.sbdView = name;
  document.dispatchEvent(new CustomEvent(VIEW_EVENT, { detail: name }));
}

/**
 * Hear of every turn to a view, and, once mounted, of the one that came before.
 * @param {(name: string) => void} hear
 * @param {AbortSignal} signal
 */
export function onTurn(hear, signal) {
  /** @param {Event} event */
  const listen = (event) => hear(event instanceof CustomEvent ? String(event.detail) : "");
  document.addEventListener(VIEW_EVENT, listen, { signal });
  queueMicrotask(() => {
    if (shownView !== "watch" && !signal.aborted) hear(shownView);
  });
}

/**
 * Let a view have an address of its own, #name: the address bar says it while the view is in front,
 * and opening it turns there.
 * @param {string} name
 * @param {AbortSignal} signal
 */
export function keepHash(name, signal) {
  const hash = `#${name}`;
  onTurn((shown) => {
    const isInFront = shown === name;
    if ((location.hash === hash) === isInFront) return;
    const { pathname, search } = location;
    history.replaceState(history.state, "", `${pathname}${search}${isInFront ? hash : ""}`);
  }, signal);
  const follow = () => {
    if (location.hash === hash) turnTo(name);
  };
  addEventListener("hashchange", follow, { signal });
  follow();
}

/**
 * Write into a box of the form as typing would; the form listens to the same event.
 * @param {HTMLTextAreaElement | HTMLInputElement | null} box
 * @param {string} text
 * @param {{ hasSettings: boolean }} [detail] of the event: whether settings of its own follow the text
 */
export function typeInto(box, text, detail) {
  if (!box) return;
  const kind = box instanceof HTMLInputElement ? HTMLInputElement : HTMLTextAreaElement;
  // Svelte keeps the element's own value; only the prototype's setter reaches the browser's.
  Object.getOwnPropertyDescriptor(kind.prototype, "value")?.set?.call(box, text);
  box.dispatchEvent(new CustomEvent("input", { bubbles: true, detail }));
}

/**
 * The prompt's text box; the form may be mounted after the view that asks.
 * @param {string} id of the form's element
 * @returns {HTMLTextAreaElement | null}
 */
export function promptBox(id) {
  return document.querySelector(`#${id} textarea`);
}

/**
 * The box of a number of the form, null while it is not on the page.
 * @param {string} id of the form's element
 * @returns {HTMLInputElement | null}
 */
export function numberBox(id) {
  return document.querySelector(`#${id} input[type="number"]`);
}

const LOOK_MS = 400;

/**
 * Call again and again: the form's fields are Gradio's, which says nothing when it fills them in.
 * @param {(event?: Event) => void} look with the event, if there was one
 * @param {AbortSignal} signal
 */
export function watchForm(look, signal) {
  const timer = setInterval(look, LOOK_MS);
  document.addEventListener("input", look, { signal });
  signal.addEventListener("abort", () => clearInterval(timer));
}

/** How long the server may take to answer Stop. */
export const STOP_MS = 2500;

/** Decode and Stop, null while they are not on the page. */
export function goButtons() {
  /** @type {HTMLButtonElement | null} */
  const stop = document.querySelector("button#sbd-stop, #sbd-stop button");
  const go = [...document.querySelectorAll("#sbd-go button")].find((button) => button !== stop);
  return [/** @type {HTMLButtonElement | null} */ (go ?? null), stop];
}
