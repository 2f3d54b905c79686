// What the templates of lit-html share: class names, a token's pieces, words with an explanation. Only the templates' own strings are parsed
// as HTML, never a text that is put into them. Knows nothing of decoding.

import { html, nothing } from "lit-html";
import { MARKS, type Piece, tokenPieces } from "../core/letters.ts";
import { FILLED_ICONS, ICONS, type IconName } from "./elements.ts";

/** Join the class names whose value is true. */
export function classes(names: Record<string, boolean | undefined>) {
  return Object.keys(names)
    .filter((name) => names[name])
    .join(" ");
}

/** Return templates for pieces of text. A piece's kind becomes a class; line breaks and tabs also get their mark. */
export function pieceTemplates(pieces: Piece[]) {
  return pieces.map(([text, kind]) => {
    if (!kind) return text;
    const mark = kind === "break" || kind === "tab" ? MARKS[text[0] ?? ""] : undefined;
    return html`<span class="sbd-${kind}" data-mark=${mark ?? nothing}>${text}</span>`;
  });
}

/** Return templates for a token that is shown alone. */
export function tokenTemplate(text: string) {
  return pieceTemplates(tokenPieces(text));
}

/** Return the template of a word with an explanation. */
export function termTemplate(text: string, words: string) {
  return html`<button type="button" class="sbd-term" data-words=${words} aria-description=${words}
    >${text}</button
  >`;
}

/**
 * Return the template of a "?" button that explains what is beside it.
 * @param about what it explains, for screen readers
 */
export function questionTemplate(about: string, words: string) {
  return html`<button
    type="button"
    class="sbd-term sbd-question"
    aria-label="Explain ${about}"
    data-words=${words}
    aria-description=${words}
  ></button>`;
}

/** Return the template of an icon in the colour of the text around it. */
export function iconTemplate(name: IconName) {
  const look = FILLED_ICONS.has(name) ? "sbd-icon-filled" : "";
  return html`<svg viewBox="0 0 24 24" class="sbd-icon ${look}" aria-hidden="true"
    ><path d=${ICONS[name]}></path
  ></svg>`;
}
