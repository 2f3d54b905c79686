// Creates elements of the page: nodes with attributes and children, a token's text with marks for what cannot be
// seen, icons and buttons. Text is never parsed as HTML. Knows nothing of decoding.

import { MARKS, type Piece, tokenPieces } from "../core/letters.ts";

const SVG_SPACE = "http://www.w3.org/2000/svg";

type Attributes = Record<string, string | number | boolean>;
/** a function is called on click */
export type Part = Attributes | Node | string | ((event: Event) => void);

function fill<Filled extends Element>(node: Filled, parts: Part[]) {
  for (const part of parts) {
    if (typeof part === "string" || part instanceof Node) node.append(part);
    else if (typeof part === "function") node.addEventListener("click", part);
    else for (const [name, value] of Object.entries(part)) node.setAttribute(name, `${value}`);
  }
  return node;
}

/** Create an HTML element with a class, attributes, children (nodes or strings) and functions to call on click. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className = "",
  ...parts: Part[]
) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (node instanceof HTMLButtonElement) node.type = "button"; // the default would submit a form
  return fill(node, parts);
}

/** Create an SVG element with attributes and children. */
export function makeSvg<Tag extends keyof SVGElementTagNameMap>(tag: Tag, ...parts: Part[]) {
  return fill(document.createElementNS(SVG_SPACE, tag), parts);
}

/** Set an element's text, if it changes. */
export function setText(node: Element, text: string) {
  if (node.textContent !== text) node.textContent = text;
}

/** Set an attribute, if it changes. */
export function setAttribute(node: Element, name: string, value: string | number | boolean) {
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, String(value));
}

/** Set a property of a node's style attribute, if it changes. */
export function setStyle(node: HTMLElement, name: string, value: string) {
  if (node.style.getPropertyValue(name) !== value) node.style.setProperty(name, value);
}

/** Return the element that is an event's target; null if the target is something else, such as the window. */
export function elementOf(event: Event) {
  return event.target instanceof Element ? event.target : null;
}

/** Return the first element that matches a selector; throw if there is none, which is a bug. */
export function find(root: ParentNode, selector: string): HTMLElement {
  const node = root.querySelector(selector);
  if (!(node instanceof HTMLElement)) throw new Error(`no ${selector} on the page`);
  return node;
}

/** text and note that showToken last put into a node */
const shown: WeakMap<Element, string> = new WeakMap();

/** Show pieces of text. A piece's kind becomes a class; line breaks and tabs also get their mark. */
export function showPieces(node: HTMLElement, pieces: Piece[]) {
  const nodes = pieces.map(([text, kind]) => {
    if (!kind) return text;
    const mark = kind === "break" || kind === "tab" ? MARKS[text[0] ?? ""] : undefined;
    return make("span", `sbd-${kind}`, mark ? { "data-mark": mark } : {}, text);
  });
  node.replaceChildren(...nodes);
}

/** Show a token's text in `node`, with a small `note` after it, if either changes. */
export function showToken(node: HTMLElement, text: string, note: string = "") {
  const key = `${text}\n${note}`;
  if (shown.get(node) === key) return;
  shown.set(node, key);
  showPieces(node, tokenPieces(text));
  if (note) node.append(make("span", "sbd-part", note));
}

/** Paths of icons; drawn here because many fonts lack such glyphs. */
export const ICONS = {
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

export type IconName = keyof typeof ICONS;

export const FILLED_ICONS: ReadonlySet<IconName> = new Set(["play", "pause"]);

/** Create an icon in the colour of the text around it. */
export function icon(name: IconName) {
  const path = makeSvg("path", { d: ICONS[name] });
  const kind = FILLED_ICONS.has(name) ? "sbd-icon sbd-icon-filled" : "sbd-icon";
  return makeSvg("svg", { viewBox: "0 0 24 24", class: kind, "aria-hidden": "true" }, path);
}

const SPEEDS = [0.25, 0.5, 1, 2, 4];

/**
 * Create a button that shows only an icon.
 * @param label for the tooltip and for screen readers
 */
export function makeButton(name: IconName, label: string, onClick: () => void) {
  const words = { "aria-label": label, title: label };
  return make("button", `sbd-button sbd-button-${name}`, words, icon(name), onClick);
}

/** Create a close button. @param look classes */
export function makeClose(label: string, onClick: () => void, look: string = "") {
  const words = { "aria-label": label, title: "Close (Esc)" };
  return make("button", `sbd-button ${look}`.trim(), words, icon("close"), onClick);
}

/** Create the button that opens and closes a section below it. */
export function makeToggle(words: string, onClick: () => void) {
  const arrow = make("span", "sbd-charts-arrow", { "aria-hidden": "true" });
  const folded = { "aria-expanded": "false" };
  return make("button", "sbd-charts-toggle", folded, arrow, make("span", "", words), onClick);
}

/** Create a drop-down list of playback speeds, with 1× chosen. */
export function makeSpeedChoice(label: string, onChange: (speed: number) => void) {
  const choice = make("select", "sbd-speed", { "aria-label": label });
  for (const value of SPEEDS) {
    choice.append(make("option", "", { value: String(value) }, `${value}×`));
  }
  choice.value = "1";
  choice.addEventListener("change", () => onChange(Number(choice.value)));
  return choice;
}

/** Create a drop-down list of what playback advances by: the engine's time, or forward passes. */
export function makeMeasureChoice(isByTime: boolean, onChange: (isByTime: boolean) => void) {
  const title = "By time each answer stands where it was by then, without drawing";
  const choice = make("select", "sbd-speed sbd-measure", { "aria-label": "Advance", title });
  choice.append(
    make("option", "", { value: "time" }, "by time"),
    make("option", "", { value: "pass" }, "by pass"),
  );
  choice.value = isByTime ? "time" : "pass";
  choice.addEventListener("change", () => {
    choice.blur(); // the arrow keys step again
    onChange(choice.value === "time");
  });
  return choice;
}

/** Show on a play button whether a click plays or pauses. */
export function showPlaying(button: HTMLElement, isPlaying: boolean) {
  const label = isPlaying ? "Pause (space)" : "Play (space)";
  if (button.title === label) return;
  button.replaceChildren(icon(isPlaying ? "pause" : "play"));
  button.title = label;
  button.setAttribute("aria-label", label);
}
