// Your turn: a prompt of the reader's own, straight into the player.

import constants from "../../constants.json" with { type: "json" };
import { make, setText } from "../../dom/elements.js";

/** @import { MakeScene } from "../view.js" */

/** @type {MakeScene} */
export function makeYoursScene({ lesson, did, host }) {
  const box = make("textarea", "sbd-learn-prompt", {
    rows: 3,
    maxlength: constants.limits.typedCharacters,
    "aria-label": "Your prompt",
    placeholder: lesson.prompts[0] ?? "",
  });
  const chips = lesson.prompts.map((prompt) => {
    const chip = make(
      "button",
      "sbd-learn-choice is-prompt",
      { type: "button", title: prompt },
      prompt,
    );
    chip.addEventListener("click", () => {
      box.value = prompt;
      did();
    });
    return chip;
  });
  box.addEventListener("input", did);
  const news = make("p", "sbd-learn-yours", { role: "status" });
  const go = make("button", "sbd-learn-step is-main", { type: "button" }, "Decode it");
  go.addEventListener("click", () => {
    did();
    const prompt = box.value.trim() || (lesson.prompts[0] ?? "");
    if (host) host.decode(prompt);
    else
      setText(
        news,
        "This file has no model inside. On a machine with the repository: python app.py",
      );
  });
  const root = make(
    "div",
    "sbd-learn-yours-card",
    {},
    box,
    make("div", "sbd-learn-choices", { role: "group", "aria-label": "Examples" }, ...chips),
    make("div", "sbd-learn-go", {}, go),
    news,
  );
  return { root, answer: did };
}
