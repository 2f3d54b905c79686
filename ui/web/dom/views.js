// The views of the page: which is in front, and the channels by which they hear of one another. A view has an
// address, #name, and what is deeper inside it follows: #learn/4. Without one the page opens at home, or where
// the decode or the lanes that the address asks for are shown.

import constants from "../constants.json" with { type: "json" };

/** @import { Player } from "../watch/player.js" */

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

/**
 * A way from one part of the page to all that hear it.
 * @template Detail
 * @typedef {{ say: (detail: Detail) => void, hear: (hear: (detail: Detail) => void, signal: AbortSignal) => void }} Channel
 */

/** @param {string} name of its event @returns {Channel<any>} */
export function channel(name) {
  return {
    say: (detail) => document.dispatchEvent(new CustomEvent(name, { detail })),
    hear: (hear, signal) => {
      const own = (/** @type {Event} */ event) =>
        event instanceof CustomEvent && hear(event.detail);
      document.addEventListener(name, own, { signal });
    },
  };
}

/** @type {Channel<null>} which model decodes, or what is known of it, may be another now */
export const { say: sayModels, hear: onModels } = channel("sbd-models");

/** A visitor wants to write a prompt of their own. @type {Channel<void>} */
export const { say: askForChat, hear: onAskForChat } = channel("sbd-chat");

/** @typedef {HTMLElement & { sbdPlayer?: Player }} PlayerElement */

/** The player on the page, once it is there. @param {ParentNode} root */
export function playerOf(root) {
  /** @type {PlayerElement | null} */
  const host = root.querySelector(".sbd-host");
  return host?.sbdPlayer ?? null;
}
