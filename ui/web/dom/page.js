// The page round the views: its scheme, and which view is in front. A view has an
// address of its own, #name, and what is deeper inside it follows: #learn/4. Without one the page
// opens at home, or where the decode or the lanes that the address asks for are shown.

import constants from "../constants.json" with { type: "json" };

/** @import { Player } from "../watch/player.js" */

/** @typedef {{ root?: string, api_prefix?: string }} GradioConfig */

/** The address of a file below Gradio's routes. @param {string} path */
export function fileAddress(path) {
  /** @type {GradioConfig} */
  const config = Reflect.get(window, "gradio_config") ?? {};
  return rootAddress(`${(config.api_prefix ?? "/gradio_api").replace(/^\//, "")}/${path}`);
}

/**
 * An address below the page's root: Gradio says its path, the page itself the host and scheme that
 * reach it.
 * @param {string} path
 */
export function rootAddress(path) {
  /** @type {GradioConfig} */
  const config = Reflect.get(window, "gradio_config") ?? {};
  const base = new URL(config.root || ".", document.baseURI);
  const origin = base.hostname === location.hostname ? location.origin : base.origin;
  return `${origin}${base.pathname.replace(/\/$/, "")}/${path}`;
}

/** Whether the visitor wants no motion. */
export function isStill() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** How to scroll to what is pointed out. @returns {ScrollBehavior} */
export function scrollBehavior() {
  return isStill() ? "auto" : "smooth";
}

const PHONE = 900; // pixels of the window: below that the stage stands under the form

/**
 * On a phone the form is as long as the screen: what was asked for must be seen.
 * @param {HTMLElement} node
 */
export function showOnPhone(node) {
  if (innerWidth < PHONE) node.scrollIntoView({ behavior: scrollBehavior(), block: "start" });
}

/**
 * Fold the form into the prompt that is on the stage, or unfold it; the style sheet does so on a phone alone.
 * @param {boolean} isFolded
 */
export function foldForm(isFolded) {
  document.querySelector("#sbd-watch")?.classList.toggle("is-folded", isFolded);
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

/** @type {Channel<string>} the view that is in front now */
const turns = channel("sbd-view");
const VIEWS = ["home", "learn", "watch", "compare", "roofline"];

let shownView = "";
/** @type {Map<string, string>} the address that a view had when it was left */
const left = new Map();

/** Whether the page is dark now. */
export function isDarkPage() {
  return document.body.classList.contains("dark");
}

/** Light or dark as the visitor's system is, on a page that Gradio does not serve. */
export function followScheme() {
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => document.body.classList.toggle("dark", scheme.matches);
  scheme.addEventListener("change", follow);
  follow();
}

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

/** A visitor wants to write a prompt of their own. @type {Channel<void>} */
export const { say: askForChat, hear: onAskForChat } = channel("sbd-chat");

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

/** @typedef {HTMLElement & { sbdPlayer?: Player }} PlayerElement */

/** The player on the page, once it is there. @param {ParentNode} root */
export function playerOf(root) {
  /** @type {PlayerElement | null} */
  const host = root.querySelector(".sbd-host");
  return host?.sbdPlayer ?? null;
}

/**
 * Keep a text in the tab's own storage, over a reload; a browser may refuse it.
 * @param {string} key
 * @param {string} text
 */
export function keepInTab(key, text) {
  try {
    sessionStorage.setItem(key, text);
  } catch {
    // Refused: nothing is kept.
  }
}

/** @param {string} key */
export function keptInTab(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Act when the page turns light or dark. @param {() => void} act @param {AbortSignal} signal */
export function onScheme(act, signal) {
  const seen = new MutationObserver(act);
  seen.observe(document.body, { attributes: true, attributeFilter: ["class"] });
  signal.addEventListener("abort", () => seen.disconnect());
}

/**
 * Act when a node gets another size.
 * @param {Element} node
 * @param {() => void} act
 * @param {AbortSignal} signal
 */
export function onResize(node, act, signal) {
  const seen = new ResizeObserver(act);
  seen.observe(node);
  signal.addEventListener("abort", () => seen.disconnect());
}
