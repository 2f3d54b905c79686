// A round button of the transport, and the speeds it offers.

import { make } from "./elements.js";
import { icon } from "./icons.js";

/** @import { IconName } from "./icons.js" */

const SPEEDS = [0.25, 0.5, 1, 2, 4];

/**
 * A button that is known by its icon; `label` is its title and what a screen reader says.
 * @param {IconName} name
 * @param {string} label
 * @param {() => void} onClick
 */
export function makeButton(name, label, onClick) {
  const button = make(
    "button",
    `sbd-button sbd-button-${name}`,
    { type: "button", "aria-label": label, title: label },
    icon(name),
  );
  button.addEventListener("click", onClick);
  return button;
}

/**
 * The button of a bar that opens what is under it.
 * @param {string} words
 * @param {() => void} onClick
 */
export function makeToggle(words, onClick) {
  const button = make(
    "button",
    "sbd-charts-toggle",
    { type: "button", "aria-expanded": "false" },
    make("span", "sbd-charts-arrow", { "aria-hidden": "true" }),
    make("span", "", {}, words),
  );
  button.addEventListener("click", onClick);
  return button;
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
