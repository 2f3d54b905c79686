// What the templates of lit-html share: class names, a token's pieces, words with an explanation, icons, buttons and
// lists of choices. Only the templates' own strings are parsed as HTML, never a text that is put into them. Knows nothing
// of decoding.

import { html, nothing } from "lit-html";
import { MARKS, type Piece, tokenPieces } from "../core/letters.ts";

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

/** Return templates for a token that is shown alone, with a small `note` after it. */
export function tokenTemplate(text: string, note = "") {
  const pieces = pieceTemplates(tokenPieces(text));
  return note ? [pieces, html`<span class="sbd-part">${note}</span>`] : pieces;
}

type ButtonState = {
  label?: string; // its name, if not its content
  title?: string;
  isPressed?: boolean;
  isExpanded?: boolean;
  isDisabled?: boolean;
  isHidden?: boolean;
};

/** @param look classes */
export function buttonTemplate(
  look: string,
  content: unknown,
  act: (() => void) | undefined,
  { label, title, isPressed, isExpanded, isDisabled, isHidden }: ButtonState = {},
) {
  return html`<button
    type="button"
    class=${look}
    aria-label=${label ?? nothing}
    title=${title ?? nothing}
    aria-pressed=${isPressed ?? nothing}
    aria-expanded=${isExpanded ?? nothing}
    ?disabled=${isDisabled}
    ?hidden=${isHidden}
    @click=${act}
    >${content}</button>`;
}

export function termTemplate(text: string, words: string) {
  return html`<button type="button" class="sbd-term" data-words=${words} aria-description=${words}
    >${text}</button>`;
}

export function questionTemplate(about: string, words: string) {
  return html`<button
    type="button"
    class="sbd-term sbd-question"
    aria-label="Explain ${about}"
    data-words=${words}
    aria-description=${words}
  ></button>`;
}

/** Paths of icons; drawn here because many fonts lack such glyphs. */
const ICONS = {
  first: "M7 5v14M18 6l-7 6 7 6",
  back: "M15 6l-7 6 7 6",
  forward: "M9 6l7 6-7 6",
  last: "M17 5v14M6 6l7 6-7 6",
  play: "M8 5.5v13l10.5-6.5z",
  pause: "M7 5.5h3.4v13H7zM13.6 5.5H17v13h-3.4z",
  pin: "M9 4h6l-.7 6 2.7 3H7l2.7-3zM12 13v7",
  close: "M6 6l12 12M18 6L6 18",
  lecture: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  share: "M12 15V4M8 7.5 12 3.5l4 4M5 12v8h14v-8",
  menu: "M4 7h16M4 12h16M4 17h16",
  help: "M9 9.3a3 3 0 1 1 4.3 2.7c-.9.5-1.3 1-1.3 2M12 17.6v.2",
};

type IconName = keyof typeof ICONS;

const FILLED_ICONS: ReadonlySet<IconName> = new Set(["play", "pause"]);

export function iconTemplate(name: IconName) {
  const look = FILLED_ICONS.has(name) ? "sbd-icon-filled" : "";
  return html`<svg viewBox="0 0 24 24" class="sbd-icon ${look}" aria-hidden="true"
    ><path d=${ICONS[name]}></path
  ></svg>`;
}

/** Return a button that shows only an icon. @param label for the tooltip and for screen readers */
export function iconButton(name: IconName, label: string, act: () => void) {
  const look = `sbd-button sbd-button-${name}`;
  return buttonTemplate(look, iconTemplate(name), act, { label, title: label });
}

export function playButton(isPlaying: boolean, act: () => void) {
  const label = isPlaying ? "Pause (space)" : "Play (space)";
  const icon = iconTemplate(isPlaying ? "pause" : "play");
  return buttonTemplate("sbd-button sbd-button-play", icon, act, { label, title: label });
}

/** Return a close button. @param look classes */
export function closeButton(label: string, act: () => void, look = "", isHidden = false) {
  const state = { label, title: "Close (Esc)", isHidden };
  return buttonTemplate(`sbd-button ${look}`, iconTemplate("close"), act, state);
}

/** Return the button beside a prompt that leads to the form; only a phone has it. */
export function editButton(act: () => void) {
  return buttonTemplate("sbd-action sbd-edit", "Edit", act, { label: "Edit in the form" });
}

/** Return the bar at the top of a lane. @param share of its length, 0 to 1 */
export function meterTemplate(share: number) {
  return html`<span class="sbd-meter" aria-hidden="true"
    ><span style="width: ${share * 100}%"></span></span>`;
}

/** Return the button that opens and closes a section below it. */
export function toggleButton(words: string, isOpen: boolean, act: () => void, title?: string) {
  const arrow = html`<span class="sbd-charts-arrow" aria-hidden="true"></span>`;
  const content = html`${arrow}<span>${words}</span>`;
  return buttonTemplate("sbd-charts-toggle", content, act, { title, isExpanded: isOpen });
}

const SPEEDS = [0.25, 0.5, 1, 2, 4];

/** Return a list of playback speeds, with 1× chosen at first. */
export function speedChoice(label: string, choose: (speed: number) => void) {
  const options = SPEEDS.map(
    (speed) => html`<option value=${speed} ?selected=${speed === 1}>${speed}×</option>`,
  );
  return html`<select
    class="sbd-speed"
    aria-label=${label}
    @change=${({ target }: Event) => choose(Number((target as HTMLSelectElement).value))}
    >${options}</select>`;
}

/** Return a list of what playback advances by: the engine's time, or forward passes. @param isByTime at first */
export function measureChoice(isByTime: boolean, choose: (isByTime: boolean) => void) {
  function change({ target }: Event) {
    const list = target as HTMLSelectElement;
    list.blur(); // the arrow keys step again
    choose(list.value === "time");
  }
  return html`<select
    class="sbd-speed sbd-measure"
    aria-label="Advance"
    title="By time each answer stands where it was by then, without drawing"
    @change=${change}
    ><option value="time" ?selected=${isByTime}>by time</option
    ><option value="pass" ?selected=${!isByTime}>by pass</option></select>`;
}
