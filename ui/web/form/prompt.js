// Writes prompts into the form as typing would: examples, from a button for each kind that gives another one when it is
// pressed again; a sudoku typed cell by cell, once the server has checked it; after a reload, the tab's last prompt.

import { find, make, setAttribute, setText } from "../dom/elements.js";
import { pollForm, promptBox, readFromTab, storeInTab, typeInto } from "../dom/gradio.js";
import { currentView, playerOf } from "../dom/views.js";
import { puzzleIn } from "../watch/sudoku.js";
import { sayFormChanges } from "./status.js";

/** @import { Mount } from "../stub.js" */

/** @typedef {[prompt: string, recording: string]} Prompt recording: name of the prompt's recorded run, "" for none */
/** @typedef {{ label: string, prompts: Prompt[] }} Preset */

const KEPT = "prompt";
const ANSWER_MS = 1200; // how long a recorded run may take to appear

/** @param {Preset} preset @param {string} promptId @param {(recording: string) => void} choose */
function makeChip({ label, prompts: pairs }, promptId, choose) {
  const prompts = pairs.map(([prompt]) => prompt);
  const count = make("span", "sbd-chip-count");
  const chip = make("button", "sbd-chip", label, count, () => {
    const box = promptBox(promptId);
    const next = (prompts.indexOf(box?.value ?? "") + 1) % prompts.length;
    const recording = pairs[next]?.[1];
    // Compare takes the prompt alone: a recorded run of one strategy belongs to Watch.
    const isShown = Boolean(recording) && currentView() !== "compare";
    const prompt = prompts[next] ?? "";
    typeInto(box, prompt, { hasSettings: isShown });
    if (!recording || !isShown) return;
    sayFormChanges("Recorded:", () => box?.value === prompt);
    choose(recording);
  });

  /** @param {string} text */
  function update(text) {
    const index = prompts.indexOf(text);
    setAttribute(chip, "aria-pressed", index >= 0);
    setText(count, index >= 0 ? `· ${index + 1} of ${prompts.length}` : "");
    setAttribute(chip, "title", index >= 0 ? "Press again for another one" : `Try ${label}`);
  }

  return { chip, update };
}

/**
 * Return a function that asks once more for a recorded run if it does not appear: Gradio may lose quick presses.
 * @param {string} promptId
 * @param {(recording: string) => void} ask asks the server for the run
 */
function makeRepeat(promptId, ask) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  /** @param {string} recording */
  return (recording) => {
    const prompt = promptBox(promptId)?.value;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const isThere = playerOf(document)?.run?.prompt.trim() === prompt?.trim();
      if (!isThere && promptBox(promptId)?.value === prompt) ask(recording);
    }, ANSWER_MS);
  };
}

/** @type {Mount} */
export function mountPresets({ element, value, trigger, signal }) {
  /** @type {{ prompt: string }} */
  const { prompt: promptId } = JSON.parse(value);
  /** @param {string} name */
  const ask = (name) => trigger("choose_run", { name, is_typed: true });
  const again = makeRepeat(promptId, ask);
  /** @param {string} name */
  const choose = (name) => {
    ask(name);
    again(name);
  };
  /** @type {ReturnType<typeof makeChip>[]} */
  let chips = [];
  /** @param {string} text */
  const follow = (text) => {
    for (const { update } of chips) update(text);
  };
  /** @param {string} text JSON of the chosen model's examples */
  function show(text) {
    /** @type {{ presets: Preset[], line: string }} */
    const { presets, line } = JSON.parse(text);
    chips = presets.map((preset) => makeChip(preset, promptId, choose));
    find(element, ".sbd-presets").replaceChildren(...chips.map(({ chip }) => chip));
    find(element, ".sbd-promise").textContent = line;
    follow(promptBox(promptId)?.value ?? "");
  }
  show(value);
  /** @param {Event} event */
  const hear = (event) => {
    const box = promptBox(promptId);
    if (!box || event.target !== box) return;
    storeInTab(KEPT, box.value);
    follow(box.value);
  };
  document.addEventListener("input", hear, { signal });
  // A recorded run changes the prompt without an input event.
  pollForm(() => follow(promptBox(promptId)?.value ?? ""), signal);

  /** Wait for the prompt's box, which may be mounted after this view. */
  function begin() {
    const box = promptBox(promptId);
    if (!box) {
      requestAnimationFrame(begin);
      return;
    }
    const isLinked = new URLSearchParams(window.location.search).has("prompt");
    const text = readFromTab(KEPT);
    if (text !== null && !isLinked) typeInto(box, text);
    follow(box.value);
  }
  begin();
  return show;
}

/** Say that a puzzle was accepted. @param {string} prompt the prompt that asks for its solution */
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
  // After a digit the focus moves to the next cell.
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
  // The news of a puzzle goes when the prompt changes.
  pollForm(() => {
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
