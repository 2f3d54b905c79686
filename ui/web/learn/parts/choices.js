// A question's choices: one is right; what was chosen says so by a word, not by colour alone.

import { make } from "../../dom/elements.js";

/**
 * @param {string} label of the group
 * @param {string[]} options
 * @param {(option: string) => void} onChoose
 */
export function makeChoices(label, options, onChoose) {
  const buttons = options.map((option) => {
    const button = make("button", "sbd-learn-choice", { type: "button" }, option);
    button.addEventListener("click", () => {
      mark(option, true);
      onChoose(option);
    });
    return { option, button };
  });
  /** @type {string | null} */
  let right = null;
  /**
   * @param {string} chosen
   * @param {boolean} isReaders
   */
  function mark(chosen, isReaders) {
    for (const { option, button } of buttons) {
      button.classList.toggle("is-chosen", isReaders && option === chosen);
      button.setAttribute("aria-pressed", String(option === chosen));
    }
    showRight();
  }
  function showRight() {
    for (const { option, button } of buttons) {
      button.classList.toggle("is-right", right !== null && option === right);
    }
  }
  return {
    root: make(
      "div",
      "sbd-learn-choices",
      { role: "group", "aria-label": label },
      ...buttons.map(({ button }) => button),
    ),
    /**
     * @param {string} option the right one, shown from now on
     * @param {string} sign what says so beside it
     */
    reveal(option, sign = "✓") {
      right = option;
      for (const { button } of buttons) button.dataset.sign = sign;
      showRight();
    },
  };
}
