// The Learn view on the page, at its own addresses.

import { isChatChosen } from "../core/models.js";
import { find, make } from "../dom/elements.js";
import { promptBox, typeInto } from "../dom/gradio.js";
import { onTurn, turnTo } from "../dom/views.js";
import { choiceOf, numberOf } from "../form/fields.js";
import { useSettings } from "../watch/stale.js";
import { LearnView } from "./view.js";

/** @import { Mount } from "../stub.js" */

const TYPED_MS = 120; // until Gradio has what was typed
const LOOK_MS = 50;
const FORM_MS = 3000; // how long the form may take to follow

/**
 * Decode a prompt in the player by Set Block Decoding, which is what the scenes told of; by a model
 * for any prompt with verify, as its adapter learnt to draft.
 * @param {string} promptId of the form's element
 * @param {number} gamma
 * @param {string} prompt
 */
function decodeByBlocks(promptId, gamma, prompt) {
  turnTo("watch");
  typeInto(promptBox(promptId), prompt, { hasSettings: true });
  const strategy = isChatChosen() ? "verify" : "sbd";
  useSettings({ strategy, gamma, solver: "entropy-bound" });
  const latest = performance.now() + FORM_MS;
  const timer = setInterval(() => {
    const isSet =
      choiceOf("strategy") === strategy && (strategy !== "sbd" || numberOf("gamma") === gamma);
    if (!isSet && performance.now() < latest) return;
    clearInterval(timer);
    // Gradio's button, which sends what the form has told it by then.
    setTimeout(() => find(document, "#sbd-go button").click(), TYPED_MS);
  }, LOOK_MS);
}

/** @type {Mount} */
export function mountLearn({ element, value, signal }) {
  /** @type {{ prompt_id: string, gamma: number, lesson?: string, problem?: string }} */
  const setting = JSON.parse(value);
  const host = find(element, ".sbd-learn");
  if (setting.lesson === undefined) {
    host.replaceChildren(make("p", "sbd-learn-problem", { role: "alert" }, setting.problem ?? ""));
    return () => {};
  }
  const view = new LearnView(host, setting.lesson, signal, {
    leave: () => turnTo("watch"),
    decode: (prompt) => decodeByBlocks(setting.prompt_id, setting.gamma, prompt),
  });
  onTurn((name) => (name === "learn" ? view.open() : view.close()), signal);
  return () => {};
}
