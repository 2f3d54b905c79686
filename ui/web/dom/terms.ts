// Explanations: glossary words, "?" buttons, and the colours of entropy. Pointing at a word or button, focusing it or
// tapping it shows its explanation in a note beside it. All explanations of a view share one note.

import { html } from "lit-html";
import { entropyColour, MAX_ENTROPY, SCALE_TICKS, unsureness } from "../core/colours.ts";
import { clamp } from "../core/numbers.ts";
import { GLOSSARY, PAPER_URL, wordPieces } from "../core/words.ts";
import { elementOf, make, setAttribute, setStyle, setText } from "./elements.ts";
import { questionTemplate, termTemplate } from "./templates.ts";

let numNotes = 0;
const NOTE_WIDTH = 300;
const EDGE = 12;

/** Create the note that shows the explanation of any word inside `root`. */
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

export function glossaryTemplate(key: string, text = GLOSSARY[key]?.name ?? key) {
  return termTemplate(text, GLOSSARY[key]?.words ?? "");
}

/** Return a text in which the glossary explains its words. @param words with glossary words in brackets, see wordPieces */
export function termTemplates(words: string) {
  return wordPieces(words).map(({ text, key, before, after }) => {
    if (!key) return text;
    const word = glossaryTemplate(key, text);
    return before || after
      ? html`<span class="sbd-term-joined">${before}${word}${after}</span>`
      : word;
  });
}

function rampTemplate() {
  const stops = (isDark: boolean) =>
    Array.from({ length: 25 }, (_, i) => entropyColour((i / 24) ** 2 * MAX_ENTROPY, isDark));
  const ramp = (isDark: boolean) => `linear-gradient(to right, ${stops(isDark).join(", ")})`;
  return html`<span
    class="sbd-legend-bar"
    style="--ramp-light: ${ramp(false)}; --ramp-dark: ${ramp(true)}"
  ></span>`;
}

/** A bar of entropy colours from "sure" to "unsure", with a "?" that explains colours and marks. */
export const RAMP_WITH_ENDS = html`<span class="sbd-ramp"
  ><span class="sbd-ramp-word">sure</span>${rampTemplate()}<span class="sbd-ramp-word">unsure</span
  >${questionTemplate("colour", RAMP_WORDS)}</span>`;

/** The legend: a bar of entropy colours with ticks in nats. */
export const LEGEND = html`<div class="sbd-legend">
  ${rampTemplate()}
  <div class="sbd-legend-ticks" aria-hidden="true">
    ${SCALE_TICKS.map((nats) => html`<span style="left: ${unsureness(nats) * 100}%">${nats}</span>`)}
  </div>
  <div class="sbd-legend-ends">
    <span>sure</span
    ><span>${glossaryTemplate("entropy")}, ${glossaryTemplate("nats")}</span
    ><span>unsure</span>
  </div>
</div>`;

/**
 * Return the template of a "?" button that shows and hides an element of the page.
 * @param id of the element, which begins hidden
 */
export function unfoldTemplate(about: string, id: string, label = `Explain ${about}`) {
  return html`<button
    type="button"
    class="sbd-term sbd-question"
    aria-label=${label}
    aria-expanded="false"
    aria-controls=${id}
    @click=${unfold}
  ></button>`;
}

function unfold({ currentTarget }: Event) {
  const button = currentTarget as HTMLElement;
  const text = document.getElementById(button.getAttribute("aria-controls") ?? "");
  if (!text) return;
  text.hidden = !text.hidden;
  setAttribute(button, "aria-expanded", !text.hidden);
}

export function paperTemplate(text: string) {
  return html`<a
    class="sbd-paper"
    href=${PAPER_URL}
    target="_blank"
    rel="noopener noreferrer"
    title="The paper: arXiv 2509.04185"
    >${text}</a>`;
}
