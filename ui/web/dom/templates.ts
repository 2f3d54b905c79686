// What the templates of lit-html share: class names and a token's pieces. Only the templates' own strings are parsed
// as HTML, never a text that is put into them. Knows nothing of decoding.

import { html, nothing } from "lit-html";
import { MARKS, type Piece } from "../core/letters.ts";

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
