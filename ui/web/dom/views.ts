// Shows one view of the page at a time, and lets views send each other messages. A view's address is #name, or
// #name/part, such as #learn/4. Without a name the page opens at home, or at the view that shows the decode or lanes
// that the address asks for.

import constants from "../constants.json" with { type: "json" };
import type { Player } from "../watch/player.ts";

/** the name of the view that is shown now */
const viewChanges: Channel<string> = channel();
const VIEWS = ["home", "learn", "watch", "compare", "roofline"];

let shownView = "";
/** the hash of the address when a view was left, by view */
const addressWhenLeft: Map<string, string> = new Map();

function namedView() {
  const [name = ""] = location.hash.slice(1).split(/[/?]/);
  if (VIEWS.includes(name)) return name;
  const query = new URLSearchParams(location.search);
  if (query.has("lanes")) return "compare";
  return constants.linkNames.some((each) => query.has(each)) ? "watch" : "home";
}

export function currentView() {
  shownView ||= namedView();
  return shownView;
}

/** Show a view; the browser's Back button returns to the one before. */
export function showView(name: string) {
  if (name === currentView()) return;
  addressWhenLeft.set(shownView, location.hash);
  const hash = addressWhenLeft.get(name) || `#${name}`;
  history.pushState(history.state, "", `${location.pathname}${location.search}${hash}`);
  setView(name);
}

function setView(name: string) {
  shownView = name;
  // By this attribute the style sheet hides the other views.
  document.body.dataset.sbdView = name;
  viewChanges.say(name);
}

/** Show the view that the address asks for, now and whenever the visitor changes the address. */
export function followAddress(signal: AbortSignal) {
  const follow = () => namedView() !== shownView && setView(namedView());
  for (const name of ["popstate", "hashchange"]) addEventListener(name, follow, { signal });
  setView(currentView());
}

/** Call `hear` with the name of the view that is shown: soon after this call, and at every change. */
export function onViewChange(hear: (name: string) => void, signal: AbortSignal) {
  viewChanges.hear(hear, signal);
  queueMicrotask(() => signal.aborted || hear(currentView()));
}

/** Carries messages to all listeners: say() sends one, hear() listens until the signal aborts. */
export type Channel<Detail> = {
  say: (detail: Detail) => void;
  hear: (hear: (detail: Detail) => void, signal: AbortSignal) => void;
};

export function channel<Detail>(): Channel<Detail> {
  const target = new EventTarget();
  return {
    say: (detail) => target.dispatchEvent(new CustomEvent("said", { detail })),
    hear: (hear, signal) => {
      const listen = (event: Event) => hear((event as CustomEvent<Detail>).detail);
      target.addEventListener("said", listen, { signal });
    },
  };
}

/** The visitor wants to write their own prompt. */
export const { say: askForChat, hear: onAskForChat }: Channel<void> = channel();

export type PlayerElement = HTMLElement & { sbdPlayer?: Player };

/** Return the player; null until it is mounted. */
export function playerOf(root: ParentNode) {
  const host: PlayerElement | null = root.querySelector(".sbd-host");
  return host?.sbdPlayer ?? null;
}
