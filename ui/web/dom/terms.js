// What explains itself on the page: words of the glossary, "?" and the colours of entropy. Point at one, reach it
// by Tab or tap it, and its sentence shows beside it. One note serves all of them.

import { entropyColour, MAX_ENTROPY, SCALE_TICKS, unsureness } from "../core/colours.js";
import { clamp } from "../core/numbers.js";
import { GLOSSARY, PAPER_URL, wordPieces } from "../core/words.js";
import { elementOf, make, setAttribute, setStyle, setText } from "./elements.js";

const NOTE_WIDTH = 300;
const EDGE = 12;

/**
 * A word that explains itself.
 * @param {string} key of the glossary
 * @param {string} [text] as it stands in its sentence
 */
export function term(key, text = GLOSSARY[key]?.name ?? key) {
  return makeTerm(text, GLOSSARY[key]?.words ?? "");
}

/** @param {string} text @param {string} words that explain it */
export function makeTerm(text, words) {
  return explain(make("button", "sbd-term"), text, words);
}

/**
 * A "?" that explains what it stands beside.
 * @param {string} about what that is, for who does not see it
 * @param {string} words
 */
export function question(about, words) {
  const label = { "aria-label": `Explain ${about}` };
  return explain(make("button", "sbd-term sbd-question", label), "", words);
}

/**
 * A "?" that unfolds a text in its place, and folds it again.
 * @param {string} about what the text explains
 * @param {HTMLElement} text
 */
export function unfold(about, text, label = `Explain ${about}`) {
  const attributes = { "aria-label": label, "aria-expanded": "false" };
  text.hidden = true;
  const button = make("button", "sbd-term sbd-question", attributes, () => {
    text.hidden = !text.hidden;
    setAttribute(button, "aria-expanded", !text.hidden);
  });
  return button;
}

/**
 * Let a word stand for something else.
 * @param {HTMLElement} node of `term`
 * @param {string} text
 * @param {string} words that explain it
 */
export function explain(node, text, words) {
  setText(node, text);
  setAttribute(node, "data-words", words);
  setAttribute(node, "aria-description", words);
  return node;
}

/**
 * A text of the page's own with its words of the glossary in it.
 * @param {string} words as wordPieces takes them
 * @returns {(Node | string)[]}
 */
export function withTerms(words) {
  return wordPieces(words).map(({ text, key, before, after }) => {
    if (!key) return text;
    const word = term(key, text);
    return before || after ? make("span", "sbd-term-joined", before, word, after) : word;
  });
}

/** A link to the paper where the page names its equation. */
export function paperLink(text = "Eq. 8") {
  const attributes = { href: PAPER_URL, target: "_blank", rel: "noopener noreferrer" };
  return make("a", "sbd-paper", { ...attributes, title: "The paper: arXiv 2509.04185" }, text);
}

/**
 * The note of a player's terms.
 * @param {HTMLElement} root
 * @param {AbortSignal} signal ends the listening
 */
export function makeTermNote(root, signal) {
  const note = make("div", "sbd-term-note", { "aria-hidden": "true" });
  note.hidden = true;
  /** @type {HTMLElement | null} */
  let shown = null;
  /** @param {Event} event */
  const wordOf = (event) => {
    const node = elementOf(event)?.closest("[data-words]:not([data-words=''])");
    return node instanceof HTMLElement && root.contains(node) ? node : null;
  };
  /** @param {Event} event */
  function show(event) {
    const word = wordOf(event);
    // What slides under a pointer at rest must not take the note from the word in focus.
    if (!word && shown && shown === document.activeElement) return;
    note.hidden = !word;
    shown = word;
    if (!word) return;
    setText(note, word.dataset.words ?? "");
    // A sheet lies over all of the page but what is inside it.
    (word.closest("dialog") ?? root).append(note);
    place(word);
  }
  /** @param {HTMLElement} word */
  function place(word) {
    const box = word.getBoundingClientRect();
    const isLow = box.bottom > window.innerHeight * 0.7;
    setStyle(note, "left", `${clamp(box.left, EDGE, window.innerWidth - NOTE_WIDTH - EDGE)}px`);
    setStyle(note, "top", isLow ? "auto" : `${box.bottom + 6}px`);
    setStyle(note, "bottom", isLow ? `${window.innerHeight - box.top + 6}px` : "auto");
  }
  const hide = () => {
    note.hidden = true;
  };
  for (const name of ["pointerover", "focusin", "click"]) {
    root.addEventListener(name, show, { signal });
  }
  root.addEventListener("focusout", hide, { signal });
  // What was pressed stays explained: its place may slide away from under the pointer.
  const leave = () => shown !== document.activeElement && hide();
  root.addEventListener("pointerleave", leave, { signal });
  /** @param {KeyboardEvent} event */
  const close = (event) => {
    if (event.key !== "Escape" || note.hidden) return;
    hide();
    event.stopPropagation(); // nothing else lets go with it
  };
  root.addEventListener("keydown", close, { signal });
  // The focus may have scrolled its word into sight: then the note goes along.
  const follow = () => {
    if (shown && shown === document.activeElement) place(shown);
    else hide();
  };
  document.addEventListener("scroll", follow, { signal, capture: true });
  return note;
}

const RAMP =
  "Entropy: how unsure the model was of a token when it came, blue for sure, yellow for unsure. " +
  "The line under it grows with it. No colour: read from left to right or given, not guessed. Lines over and " +
  "under it, or a filled box beside it: new in this forward pass. Outline: the block. Empty places: still masked, " +
  "dashed: drafted. Wavy line: not what next-token prediction says.";

/** The ramp in the colours of both schemes. */
function makeBar() {
  /** @param {boolean} isDark */
  const stops = (isDark) =>
    Array.from({ length: 25 }, (_, i) => entropyColour((i / 24) ** 2 * MAX_ENTROPY, isDark)).join(
      ", ",
    );
  const bar = make("span", "sbd-legend-bar");
  bar.style.setProperty("--ramp-light", `linear-gradient(to right, ${stops(false)})`);
  bar.style.setProperty("--ramp-dark", `linear-gradient(to right, ${stops(true)})`);
  return bar;
}

/** "sure", the ramp, "unsure", and what a text's looks mean. */
export function makeRamp() {
  const [sure, unsure] = ["sure", "unsure"].map((word) => make("span", "sbd-ramp-word", word));
  return make("span", "sbd-ramp", sure ?? "", makeBar(), unsure ?? "", question("colour", RAMP));
}

/** The legend: the ramp with its ticks in nats. */
export function makeLegend() {
  const ticks = make("div", "sbd-legend-ticks", { "aria-hidden": "true" });
  for (const entropy of SCALE_TICKS) {
    const tick = make("span", "", String(entropy));
    tick.style.left = `${unsureness(entropy) * 100}%`;
    ticks.append(tick);
  }
  const ends = make(
    "div",
    "sbd-legend-ends",
    make("span", "", "sure"),
    make("span", "", term("entropy"), ", ", term("nats")),
    make("span", "", "unsure"),
  );
  return make("div", "sbd-legend", makeBar(), ticks, ends);
}
