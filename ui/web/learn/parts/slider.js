// A slider of a scene, with its value in words.

import { make, setAttribute, setText } from "../../dom/elements.js";

/**
 * @param {string} label
 * @param {number} last the values are 0 to this
 * @param {(value: number) => string} words of a value
 * @param {(value: number) => void} onInput
 */
export function makeSlider(label, last, words, onInput) {
  const range = make("input", "sbd-learn-range", {
    type: "range",
    min: 0,
    max: last,
    step: 1,
    value: 0,
    "aria-label": label,
  });
  const output = make("output", "sbd-learn-slider-words");
  function show() {
    const text = words(Number(range.value));
    setText(output, text);
    setAttribute(range, "aria-valuetext", text);
    range.style.setProperty("--done", `${(Number(range.value) / Math.max(last, 1)) * 100}%`);
  }
  range.addEventListener("input", () => {
    show();
    onInput(Number(range.value));
  });
  show();
  return {
    root: make(
      "div",
      "sbd-learn-slider",
      {},
      make("span", "sbd-learn-slider-label", {}, label),
      range,
      output,
    ),
    range,
    /** @param {number} value */
    set(value) {
      range.value = String(value);
      show();
    },
  };
}
