// The examples: a button for each kind of text; pressing it again gives the next one. Writes into
// the prompt as typing would, so the form knows. Keeps the prompt over a reload of this tab.

import { find, make, setAttribute, setText } from "../dom/elements.js";
import { keepInTab, keptInTab, promptBox, typeInto, watchForm } from "../dom/gradio.js";
import { currentView, playerOf } from "../dom/views.js";
import { tellChanges } from "./changes.js";

/** @import { Mount } from "../stub.js" */

/** @typedef {[prompt: string, recording: string]} Prompt with the name of its recorded run or "" */
/** @typedef {{ label: string, prompts: Prompt[] }} Preset */

const KEPT = "sbd-prompt";
const ANSWER_MS = 1200; // how long a recorded run may take to come

/** @param {Preset} preset @param {string} promptId @param {(recording: string) => void} choose */
function makeChip({ label, prompts: pairs }, promptId, choose) {
  const prompts = pairs.map(([prompt]) => prompt);
  const count = make("span", "sbd-chip-count");
  const chip = make("button", "sbd-chip", label, count, () => {
    const box = promptBox(promptId);
    const next = (prompts.indexOf(box?.value ?? "") + 1) % prompts.length;
    const recording = pairs[next]?.[1];
    // Lanes take the prompt alone: the recorded run of one strategy belongs to Watch.
    const isShown = Boolean(recording) && currentView() !== "compare";
    const prompt = prompts[next] ?? "";
    typeInto(box, prompt, { hasSettings: isShown });
    if (!recording || !isShown) return;
    tellChanges("Recorded:", () => box?.value === prompt);
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
 * Gradio may lose the last of several quick presses: it is asked for once more if it does not come.
 * @param {string} promptId
 * @param {(recording: string) => void} ask
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
  /** @param {string} text the examples of another model, or of the first */
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
    keepInTab(KEPT, box.value);
    follow(box.value);
  };
  document.addEventListener("input", hear, { signal });
  // A recorded run puts its prompt there without a word.
  watchForm(() => follow(promptBox(promptId)?.value ?? ""), signal);

  /** The box may be mounted after this view. */
  function begin() {
    const box = promptBox(promptId);
    if (!box) {
      requestAnimationFrame(begin);
      return;
    }
    const isLinked = new URLSearchParams(window.location.search).has("prompt");
    const text = keptInTab(KEPT);
    if (text !== null && !isLinked) typeInto(box, text);
    follow(box.value);
  }
  begin();
  return show;
}
