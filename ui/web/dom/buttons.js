// The page's icons, inline drawings, as several transport glyphs are missing from many fonts; the
// round buttons of the transport, and the speeds it offers.

import { make, makeSvg } from "./elements.js";

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

/** @typedef {keyof typeof ICONS} IconName */

/** @type {ReadonlySet<IconName>} */
const FILLED_ICONS = new Set(["play", "pause"]);

/** An inline icon of 24 units, drawn in the colour of the text around it. @param {IconName} name */
export function icon(name) {
  const path = makeSvg("path", { d: ICONS[name] });
  const kind = FILLED_ICONS.has(name) ? "sbd-icon sbd-icon-filled" : "sbd-icon";
  return makeSvg("svg", { viewBox: "0 0 24 24", class: kind, "aria-hidden": "true" }, path);
}

const SPEEDS = [0.25, 0.5, 1, 2, 4];

/**
 * A button that is known by its icon; `label` is its title and what a screen reader says.
 * @param {IconName} name
 * @param {string} label
 * @param {() => void} onClick
 */
export function makeButton(name, label, onClick) {
  const words = { "aria-label": label, title: label };
  return make("button", `sbd-button sbd-button-${name}`, words, icon(name), onClick);
}

/**
 * The button of a bar that opens what is under it.
 * @param {string} words
 * @param {() => void} onClick
 */
export function makeToggle(words, onClick) {
  const arrow = make("span", "sbd-charts-arrow", { "aria-hidden": "true" });
  const folded = { "aria-expanded": "false" };
  return make("button", "sbd-charts-toggle", folded, arrow, make("span", "", words), onClick);
}

/**
 * A list of speeds, "1×" chosen.
 * @param {string} label
 * @param {(speed: number) => void} onChange
 */
export function makeSpeedChoice(label, onChange) {
  const choice = make("select", "sbd-speed", { "aria-label": label });
  for (const value of SPEEDS) {
    choice.append(make("option", "", { value: String(value) }, `${value}×`));
  }
  choice.value = "1";
  choice.addEventListener("change", () => onChange(Number(choice.value)));
  return choice;
}

/**
 * Let a play button say what it does now.
 * @param {HTMLElement} button
 * @param {boolean} isPlaying
 */
export function showPlaying(button, isPlaying) {
  const label = isPlaying ? "Pause (space)" : "Play (space)";
  if (button.title === label) return;
  button.replaceChildren(icon(isPlaying ? "pause" : "play"));
  button.title = label;
  button.setAttribute("aria-label", label);
}
