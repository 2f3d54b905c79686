// A sudoku of the visitor's own, typed cell by cell. The page checks it; an accepted one becomes
// the prompt, as if it had been typed.

import { find, make, setText } from "../dom/elements.js";
import { promptBox, typeInto } from "../dom/page.js";

/** @import { Mount } from "../stub.js" */

/** @type {Mount} */
export function mountPuzzle({ element, trigger }) {
  const grid = find(element, ".sbd-puzzle-grid");
  const news = find(element, ".sbd-puzzle-news");
  const inputs = Array.from({ length: 16 }, (_, cell) =>
    make("input", "", {
      maxlength: "1",
      inputmode: "numeric",
      autocomplete: "off",
      "aria-label": `Row ${Math.floor(cell / 4) + 1}, column ${(cell % 4) + 1}`,
    }),
  );
  const solve = () => {
    trigger("solve", { cells: inputs.map((input) => input.value.trim() || "0").join("") });
  };
  grid.replaceChildren(...inputs);
  // A digit typed goes on to the next cell.
  grid.addEventListener("input", (event) => {
    const { target } = event;
    if (!(target instanceof HTMLInputElement) || !target.value) return;
    inputs[inputs.indexOf(target) + 1]?.focus();
  });
  grid.addEventListener("keydown", (event) => event.key === "Enter" && solve());
  find(element, ".sbd-puzzle-use").addEventListener("click", solve);
  return (text) => {
    const { prompt_id: promptId, prompt, error } = JSON.parse(text);
    if (!prompt && !error) return;
    news.classList.toggle("is-error", Boolean(error));
    setText(news, error || "It has one solution and is the prompt now; press Decode.");
    if (prompt) typeInto(promptBox(promptId), prompt);
  };
}
