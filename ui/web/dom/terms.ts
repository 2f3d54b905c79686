// Explanations: glossary words, "?" buttons, and the colours of entropy. Pointing at a word or button, focusing it or
// tapping it shows its explanation in a note beside it. All explanations of a view share one note.

import { entropyColour, MAX_ENTROPY, SCALE_TICKS, unsureness } from "../core/colours.ts";
import { clamp } from "../core/numbers.ts";
import { GLOSSARY, PAPER_URL, wordPieces } from "../core/words.ts";
import { elementOf, make, setAttribute, setStyle, setText } from "./elements.ts";

let numNotes = 0;
const NOTE_WIDTH = 300;
const EDGE = 12;

/**
 * Create a word that the glossary explains.
 * @param key of the word in the glossary
 * @param text the word as its sentence has it
 */
export function term(key: string, text: string = GLOSSARY[key]?.name ?? key) {
  return setTerm(make("button", "sbd-term"), text, GLOSSARY[key]?.words ?? "");
}

/**
 * Create a "?" button that explains what is beside it.
 * @param about what it explains, for screen readers
 */
export function question(about: string, words: string) {
  const label = { "aria-label": `Explain ${about}` };
  return setTerm(make("button", "sbd-term sbd-question", label), "", words);
}

/**
 * Create a "?" button that shows and hides a text elsewhere on the page.
 * @param about what the text explains
 */
export function makeUnfoldButton(about: string, text: HTMLElement, label = `Explain ${about}`) {
  const attributes = { "aria-label": label, "aria-expanded": "false" };
  text.hidden = true;
  const button = make("button", "sbd-term sbd-question", attributes, () => {
    text.hidden = !text.hidden;
    setAttribute(button, "aria-expanded", !text.hidden);
  });
  return button;
}

/**
 * Change the word and the explanation of a node.
 * @param node made by term() or question()
 * @param text the word
 * @param words its explanation
 */
export function setTerm(node: HTMLElement, text: string, words: string) {
  setText(node, text);
  setAttribute(node, "data-words", words);
  setAttribute(node, "aria-description", words);
  return node;
}

/**
 * Turn a text into nodes in which the glossary explains its words.
 * @param words with glossary words in brackets, see wordPieces
 */
export function withTerms(words: string): (Node | string)[] {
  return wordPieces(words).map(({ text, key, before, after }) => {
    if (!key) return text;
    const word = term(key, text);
    return before || after ? make("span", "sbd-term-joined", before, word, after) : word;
  });
}

/** Create a link to the paper. */
export function paperLink(text = "Eq. 8") {
  const attributes = { href: PAPER_URL, target: "_blank", rel: "noopener noreferrer" };
  return make("a", "sbd-paper", { ...attributes, title: "The paper: arXiv 2509.04185" }, text);
}

/**
 * Create the note that shows the explanation of any word inside `root`.
 * @param signal removes the listeners
 */
export function makeTermNote(root: HTMLElement, signal: AbortSignal) {
  const note = make("div", "sbd-term-note", { role: "tooltip", id: `sbd-note-${numNotes}` });
  numNotes += 1;
  note.hidden = true;
  let shown: HTMLElement | null = null;
  const wordOf = (event: Event) => {
    const node = elementOf(event)?.closest("[data-words]:not([data-words=''])");
    return node instanceof HTMLElement && root.contains(node) ? node : null;
  };
  function show(event: Event) {
    const word = wordOf(event);
    // When the page moves under a pointer at rest, the focused word keeps the note.
    if (!word && shown && shown === document.activeElement) return;
    note.hidden = !word;
    if (shown !== word) shown?.removeAttribute("aria-describedby");
    shown = word;
    if (!word) return;
    setAttribute(word, "aria-describedby", note.id);
    setText(note, word.dataset.words ?? "");
    // An open dialog covers everything outside it.
    (word.closest("dialog") ?? root).append(note);
    place(word);
  }
  function place(word: HTMLElement) {
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
  // A word that was clicked has the focus and keeps the note, even if it slides away from under the pointer.
  const leave = () => shown !== document.activeElement && hide();
  root.addEventListener("pointerleave", leave, { signal });
  const close = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || note.hidden) return;
    hide();
    event.stopPropagation(); // Escape closes only the note
  };
  root.addEventListener("keydown", close, { signal });
  // Focusing a word can scroll it into view, so its note moves along.
  const follow = () => {
    if (shown && shown === document.activeElement) place(shown);
    else hide();
  };
  document.addEventListener("scroll", follow, { signal, capture: true });
  return note;
}

const RAMP_WORDS =
  "Entropy: how unsure the model was of a token when it came, blue for sure, yellow for unsure. " +
  "The line under it grows with it. No colour: read from left to right or given, not guessed. Lines over and " +
  "under it, or a filled box beside it: new in this forward pass. Outline: the block. Empty places: still masked, " +
  "dashed: drafted. Wavy line: not what next-token prediction says.";

/** Create the bar of entropy colours, with the colours for a light and a dark page. */
function makeRamp() {
  const stops = (isDark: boolean) =>
    Array.from({ length: 25 }, (_, i) => entropyColour((i / 24) ** 2 * MAX_ENTROPY, isDark)).join(
      ", ",
    );
  const bar = make("span", "sbd-legend-bar");
  bar.style.setProperty("--ramp-light", `linear-gradient(to right, ${stops(false)})`);
  bar.style.setProperty("--ramp-dark", `linear-gradient(to right, ${stops(true)})`);
  return bar;
}

/** Create a bar of entropy colours from "sure" to "unsure", with a "?" that explains colours and marks. */
export function makeRampWithEnds() {
  const [sure, unsure] = ["sure", "unsure"].map((word) => make("span", "sbd-ramp-word", word));
  return make(
    "span",
    "sbd-ramp",
    sure ?? "",
    makeRamp(),
    unsure ?? "",
    question("colour", RAMP_WORDS),
  );
}

/** Create the legend: a bar of entropy colours with ticks in nats. */
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
  return make("div", "sbd-legend", makeRamp(), ticks, ends);
}
