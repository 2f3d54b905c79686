// Writes prompts into the form as typing would: examples, from a button for each kind that gives another one when it is
// pressed again; a sudoku typed cell by cell, once the server has checked it; after a reload, the tab's last prompt.

import { find, make, setAttribute, setText } from "../dom/elements.ts";
import { pollForm, promptBox, readFromTab, storeInTab, typeInto } from "../dom/gradio.ts";
import { currentView, playerOf } from "../dom/views.ts";
import type { Mount } from "../stub.ts";
import { puzzleIn } from "../watch/sudoku.ts";
import { sayFormChanges } from "./status.ts";

/** recording: name of the prompt's recorded run, "" for none */
type Prompt = [prompt: string, recording: string];
type Preset = { label: string; prompts: Prompt[] };

const KEPT = "sbd-prompt";
const ANSWER_MS = 1200; // how long a recorded run may take to appear

function makeChip(
  { label, prompts: pairs }: Preset,
  promptId: string,
  choose: (recording: string) => void,
) {
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

  function update(text: string) {
    const index = prompts.indexOf(text);
    setAttribute(chip, "aria-pressed", index >= 0);
    setText(count, index >= 0 ? `· ${index + 1} of ${prompts.length}` : "");
    setAttribute(chip, "title", index >= 0 ? "Press again for another one" : `Try ${label}`);
  }

  return { chip, update };
}

/**
 * Return a function that asks once more for a recorded run if it does not appear: Gradio may lose quick presses.
 * @param ask asks the server for the run
 */
function makeRepeat(promptId: string, ask: (recording: string) => void) {
  let waiting: ReturnType<typeof setTimeout> | undefined;
  return (recording: string) => {
    const prompt = promptBox(promptId)?.value;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const isThere = playerOf(document)?.run?.prompt.trim() === prompt?.trim();
      if (!isThere && promptBox(promptId)?.value === prompt) ask(recording);
    }, ANSWER_MS);
  };
}

export const mountPresets: Mount = ({ element, value, trigger, signal }) => {
  const { prompt: promptId }: { prompt: string } = JSON.parse(value);
  const ask = (name: string) => trigger("choose_run", { name, is_typed: true });
  const again = makeRepeat(promptId, ask);
  const choose = (name: string) => {
    ask(name);
    again(name);
  };
  let chips: ReturnType<typeof makeChip>[] = [];
  const follow = (text: string) => {
    for (const { update } of chips) update(text);
  };
  /** @param text JSON of the chosen model's examples */
  function show(text: string) {
    const { presets, line }: { presets: Preset[]; line: string } = JSON.parse(text);
    chips = presets.map((preset) => makeChip(preset, promptId, choose));
    find(element, ".sbd-presets").replaceChildren(...chips.map(({ chip }) => chip));
    find(element, ".sbd-promise").textContent = line;
    follow(promptBox(promptId)?.value ?? "");
  }
  show(value);
  const hear = (event: Event) => {
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
};

/** Say that a puzzle was accepted. @param prompt the prompt that asks for its solution */
export function acceptedWords(prompt: string) {
  const isFull = !puzzleIn(prompt)?.includes("0");
  const what = isFull
    ? "It is full and breaks no rule, so there is nothing to solve. It"
    : "It has one solution and";
  return `${what} is the prompt now; press Decode.`;
}

const UNUSED = "This is not the prompt yet: press “Use it”, or Enter in a cell.";

export const mountPuzzle: Mount = ({ element, trigger, signal }) => {
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
};
