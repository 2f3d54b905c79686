// A sudoku of the visitor's own, typed cell by cell. The page checks it; an accepted one becomes
// the prompt, as if it had been typed.

import { find, make, setText } from "../dom/elements.js";
import { promptBox, typeInto, watchForm } from "../dom/gradio.js";
import { puzzleIn } from "../watch/sudoku.js";

/** @import { Mount } from "../stub.js" */

/** Text for a puzzle that was accepted. @param {string} prompt that asks for it */
export function acceptedWords(prompt) {
  const isFull = !puzzleIn(prompt)?.includes("0");
  const what = isFull
    ? "It is full and breaks no rule, so there is nothing to solve. It"
    : "It has one solution and";
  return `${what} is the prompt now; press Decode.`;
}

const UNUSED = "This is not the prompt yet: press “Use it”, or Enter in a cell.";

/** @type {Mount} */
export function mountPuzzle({ element, trigger, signal }) {
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
    news.classList.remove("is-error");
    setText(news, UNUSED);
    if (!(target instanceof HTMLInputElement) || !target.value) return;
    inputs[inputs.indexOf(target) + 1]?.focus();
  });
  grid.addEventListener("keydown", (event) => event.key === "Enter" && solve());
  find(element, ".sbd-puzzle-use").addEventListener("click", solve);
  let boxId = "";
  let promptThen = "";
  // What is said of one puzzle does not stand beside another prompt.
  watchForm(() => {
    if (boxId && (promptBox(boxId)?.value ?? promptThen) !== promptThen) setText(news, "");
  }, signal);
  return (text) => {
    const { prompt_id: promptId, prompt, error } = JSON.parse(text);
    if (!prompt && !error) return;
    news.classList.toggle("is-error", Boolean(error));
    setText(news, error || acceptedWords(prompt));
    boxId = promptId ?? boxId;
    promptThen = prompt || (promptBox(boxId)?.value ?? "");
    if (prompt) typeInto(promptBox(promptId), prompt);
  };
}
