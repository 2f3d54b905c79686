// Keyboard shortcuts: which key does what, where keys work, and the list of keys that visitors see.

import { html } from "lit-html";
import { elementOf } from "./elements.ts";
import { storedName } from "./page.ts";
import { isLecturing } from "./screen.ts";
import { classes } from "./templates.ts";

/** A view's actions by name; a key works only in a view that has its action. */
type KeyActions = Partial<Record<string, unknown>>;

/** Keys of a presenter's remote, with the keys that they act as in a lecture. */
const REMOTE: Readonly<Record<string, string>> = { PageUp: "ArrowLeft", PageDown: "ArrowRight" };

const LETTERS = /^[a-z?[\]]$/;
const LETTERS_OFF = storedName("letters off");
const PRESSED = "button, a, summary, [role=tab]";
const STEPS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]);

const PIN_OR_BRANCH = /^[PB[]/; // keys about pins and branches
const HIDDEN_IN_LECTURE = /^[PBU]/; // keys that act on parts that a lecture hides

/** Keys as the page shows them, what they mean, and their actions. */
export type KeyWords = [shown: string, meaning: string, actions?: Record<string, string>];

export const KEY_WORDS: KeyWords[] = [
  ["space", "play or pause", { " ": "togglePlay" }],
  ["← →", "one forward pass back or ahead", { ArrowLeft: "back", ArrowRight: "forward" }],
  ["↑ ↓", "move between positions", { ArrowUp: "previousPosition", ArrowDown: "nextPosition" }],
  ["Home End", "first or last forward pass", { Home: "first", End: "last" }],
  ["Enter", "hold the position, or let it go", { Enter: "holdCursor" }],
  ["Esc", "let go of everything", { Escape: "closeAll" }],
  ["P", "pin the chosen token here", { p: "pin" }],
  ["B", "branch from here", { b: "branch" }],
  ["[ ]", "previous or next branch", { "[": "previousBranch", "]": "nextBranch" }],
  ["L", "lecture mode, full screen", { l: "lecture" }],
  ["U", "under the hood: mask, cache, algorithm, cost", { u: "hood" }],
  ["S", "take this run home, or open another", { s: "share" }],
  ["?", "this help", { "?": "help" }],
];

const KEYS: Readonly<Record<string, string>> = Object.assign(
  {},
  ...KEY_WORDS.map(([, , actions]) => actions),
);

/**
 * Return the list of keys with their meanings.
 * @param canRedo whether the page can decode; if not, keys about pins and branches are left out
 */
export function keyList(words: KeyWords[], canRedo: boolean) {
  const rows = words.filter(([key]) => canRedo || !PIN_OR_BRANCH.test(key));
  const row = ([key, meaning]: KeyWords) => {
    const look = classes({
      "sbd-key-pins": PIN_OR_BRANCH.test(key),
      "sbd-key-beside": HIDDEN_IN_LECTURE.test(key),
    });
    return html`<kbd class=${look}>${key}</kbd><span class=${look}>${meaning}</span>`;
  };
  return html`<div class="sbd-keys">${rows.map(row)}</div>`;
}

/** Whether the focused element needs a key for itself. */
function isTaken(root: HTMLElement, target: Element, key: string) {
  const isScrubber = root.contains(target) && target.classList.contains("sbd-range");
  if (isScrubber) return !/^( |[pblsu?[\]]|Escape)$/.test(key);
  if (target.closest("input, textarea, select, [contenteditable], [role=listbox]")) return true;
  if (key === "Enter") return !target.matches("[data-cursor]");
  return key === " " && target.closest(PRESSED) !== null;
}

/** Whether at least half of `root` is visible, or `root` fills at least half of the window. */
function isInView(root: HTMLElement) {
  const { top, bottom, height } = root.getBoundingClientRect();
  const seen = Math.min(bottom, innerHeight) - Math.max(top, 0);
  return seen > 0 && seen >= Math.min(height, innerHeight) / 2;
}

/**
 * Call a key's action if the focus is inside `root` or `root` is in view, unless the focused element needs the key
 * for itself. Of keys held down, only the arrow keys repeat.
 */
export function listenToKeys(root: HTMLElement, actions: KeyActions, signal: AbortSignal) {
  // Space presses a button that was reached with Tab, but not one that has the focus from a click.
  let clicked: Element | null = null;
  const click = (event: Event) => {
    clicked = elementOf(event)?.closest(PRESSED) ?? null;
  };
  document.addEventListener("pointerdown", click, { capture: true, signal });
  function press(event: KeyboardEvent) {
    if (event.key === "Tab") clicked = null;
    const sent = isLecturing(root) ? (REMOTE[event.key] ?? event.key) : event.key;
    const key = /^[A-Z]$/.test(sent) ? sent.toLowerCase() : sent;
    const act = actions[KEYS[key] ?? ""];
    const isUnmodified =
      !event.ctrlKey && !event.metaKey && !event.altKey && !event.defaultPrevented;
    if (typeof act !== "function" || !isUnmodified || (LETTERS.test(key) && !areLettersOn()))
      return;
    const target = elementOf(event) ?? document.body;
    const isShown = root.offsetParent !== null && (root.contains(target) || isInView(root));
    if (!isShown && !isLecturing(root)) return;
    const sheet: HTMLDialogElement | null = target.closest("dialog[open]");
    const isClickedButton = key === " " && clicked !== null && target.closest(PRESSED) === clicked;
    if (sheet ? key !== sheet.dataset.key : isTaken(root, target, key) && !isClickedButton) return;
    event.preventDefault();
    // Otherwise the browser would press the button when the space bar is released.
    if (isClickedButton && target instanceof HTMLElement) target.blur();
    if (!event.repeat || STEPS.has(key)) act();
  }
  document.addEventListener("keydown", press, { signal });
}

/** Whether letter and sign keys work; visitors who use speech input may want to switch them off. */
function areLettersOn() {
  try {
    return localStorage.getItem(LETTERS_OFF) === null;
  } catch {
    return true;
  }
}

/** Return the switch for letter and sign keys; the browser stores its state. */
export function letterSwitch() {
  function change({ target }: Event) {
    const box = target as HTMLInputElement;
    try {
      if (box.checked) localStorage.removeItem(LETTERS_OFF);
      else localStorage.setItem(LETTERS_OFF, "1");
    } catch {
      box.checked = true; // the browser refuses storage: the keys stay on
    }
  }
  return html`<label class="sbd-letter-switch"
    ><input type="checkbox" ?checked=${areLettersOn()} @change=${change} />Letter and sign keys work</label
  >`;
}
