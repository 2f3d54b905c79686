// A slider of a scene, with its value in words.

import { make, setAttribute, setText } from "../../dom/elements.js";
import { makeSteps } from "./motion.js";

const STEP_MS = 1100;

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
    /** @param {number} value */
    set(value) {
      range.value = String(value);
      show();
    },
  };
}

/**
 * A slider that can also go by itself, step by step, until the reader takes it.
 * @param {string} label
 * @param {number} last the values are 0 to this
 * @param {(value: number) => string} words of a value
 * @param {{ show: (value: number) => void, took: (value: number) => void, ended?: () => void }} acts
 *   took: the reader moved it there; ended: it went to its last value by itself
 * @param {AbortSignal} signal ends it
 */
export function makePlayedSlider(label, last, words, { show, took, ended = () => {} }, signal) {
  let value = 0;
  const slider = makeSlider(label, last, words, (chosen) => {
    steps.stop();
    value = chosen;
    show(chosen);
    took(chosen);
  });
  const steps = makeSteps(
    STEP_MS,
    () => {
      goTo(value + 1);
      if (value >= last) ended();
      return value < last;
    },
    signal,
  );
  /** @param {number} next */
  function goTo(next) {
    value = next;
    slider.set(next);
    show(next);
  }
  return {
    root: slider.root,
    /** @param {number} next */
    goTo(next) {
      steps.stop();
      goTo(next);
    },
    play: steps.start,
  };
}
