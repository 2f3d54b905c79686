// Which view of the page is in front. A view has an address of its own, #name, and what is deeper inside
// it follows: #learn/4. Without one the page opens at home, or where the decode or the lanes that the
// address asks for are shown.

import constants from "../constants.json" with { type: "json" };
import { channel } from "./channels.js";

/** @import { Channel } from "./channels.js" */

/** @type {Channel<string>} the view that is in front now */
const turns = channel("sbd-view");
const VIEWS = ["home", "learn", "watch", "compare", "roofline"];

let shownView = "";
/** @type {Map<string, string>} the address that a view had when it was left */
const left = new Map();

/** The view that the address names. */
function namedView() {
  const [name = ""] = location.hash.slice(1).split(/[/?]/);
  if (VIEWS.includes(name)) return name;
  if (name === "bench") return "watch";
  const query = new URLSearchParams(location.search);
  if (query.has("lanes")) return "compare";
  return constants.linkNames.some((each) => query.has(each)) ? "watch" : "home";
}

/** The view in front. */
export function currentView() {
  shownView ||= namedView();
  return shownView;
}

/** Turn to a view of the page; the browser's Back leads to the one before. @param {string} name */
export function turnTo(name) {
  if (name === currentView()) return;
  left.set(shownView, location.hash);
  const hash = left.get(name) || `#${name}`;
  history.pushState(history.state, "", `${location.pathname}${location.search}${hash}`);
  show(name);
}

/** @param {string} name */
function show(name) {
  shownView = name;
  // The style sheet hides what belongs to the other views.
  document.body.dataset.sbdView = name;
  turns.say(name);
}

/**
 * Show the view that the address names, now and whenever the visitor goes back or ahead.
 * @param {AbortSignal} signal
 */
export function followAddress(signal) {
  const follow = () => namedView() !== shownView && show(namedView());
  for (const name of ["popstate", "hashchange"]) addEventListener(name, follow, { signal });
  show(currentView());
}

/**
 * Hear which view is in front: once all are mounted, and at every turn.
 * @param {(name: string) => void} hear
 * @param {AbortSignal} signal
 */
export function onTurn(hear, signal) {
  turns.hear(hear, signal);
  queueMicrotask(() => signal.aborted || hear(currentView()));
}
