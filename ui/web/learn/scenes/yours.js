// Your turn: a prompt of the reader's own, straight into the player; in a file without a model, what
// to run for that.

import constants from "../../constants.json" with { type: "json" };
import { isChatChosen } from "../../core/models.js";
import { make } from "../../dom/elements.js";

/** @import { LearnHost, MakeScene } from "../view.js" */

/** @type {MakeScene} */
export function makeYoursScene({ lesson, did, host }) {
  const prompts = host && isChatChosen() ? lesson.chat_prompts : lesson.prompts;
  const box = makePromptBox(prompts);
  const nodes = host ? makeForm(prompts, box, host) : makeNotes(prompts);
  const root = make("div", "sbd-learn-yours-card", {}, ...nodes);
  did();
  return { root, answer: did, prompt: () => box.value.trim() };
}

/** @param {string[]} prompts */
function makePromptBox(prompts) {
  return make("textarea", "sbd-learn-prompt", {
    rows: 3,
    maxlength: constants.limits.typedCharacters,
    "aria-label": "Your prompt",
    placeholder: prompts[0] ?? "",
  });
}

/**
 * The prompt, examples to put there, and the button that decodes it.
 * @param {string[]} prompts
 * @param {HTMLTextAreaElement} box
 * @param {LearnHost} host
 */
function makeForm(prompts, box, host) {
  const chips = prompts.map((prompt) => {
    const look = { type: "button", title: prompt };
    const chip = make("button", "sbd-learn-choice is-prompt", look, prompt);
    chip.addEventListener("click", () => {
      box.value = prompt;
    });
    return chip;
  });
  const go = make("button", "sbd-learn-step is-main", { type: "button" }, "Decode it");
  go.addEventListener("click", () => host.decode(box.value.trim() || (prompts[0] ?? "")));
  return [
    box,
    make("div", "sbd-learn-choices", { role: "group", "aria-label": "Examples" }, ...chips),
    make("div", "sbd-learn-go", {}, go),
  ];
}

/** @param {string[]} prompts */
function makeNotes(prompts) {
  return [
    make(
      "p",
      "sbd-learn-yours",
      {},
      "This file has no model inside. On a machine with the repository, run: python app.py",
    ),
    make("h3", "", {}, "Prompts to try there"),
    make("ul", "sbd-learn-examples", {}, ...prompts.map((prompt) => make("li", "", {}, prompt))),
  ];
}
