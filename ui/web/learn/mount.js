// The Learn view on the page: in front for whoever comes the first time, and at its own addresses.

import { find, make } from "../dom/elements.js";
import { onTurn, promptBox, turnTo, typeInto } from "../dom/page.js";
import { sceneAt } from "./address.js";
import { LearnView } from "./view.js";

/** @import { Mount } from "../stub.js" */

const COME = "sbd-has-come";
const TYPED_MS = 120; // until Gradio has what was typed

/** Whether this browser was never here; a browser that refuses to say so counts as one that was. */
function isFirstVisit() {
  try {
    const isFirst = localStorage.getItem(COME) === null;
    localStorage.setItem(COME, "1");
    return isFirst;
  } catch {
    return false;
  }
}

/** @type {Mount} */
export function mountLearn({ element, value, signal }) {
  /** @type {{ prompt_id: string, lesson?: string, problem?: string }} */
  const setting = JSON.parse(value);
  const host = find(element, ".sbd-learn");
  if (setting.lesson === undefined) {
    host.replaceChildren(make("p", "sbd-learn-problem", { role: "alert" }, setting.problem ?? ""));
    return () => {};
  }
  const view = new LearnView(host, setting.lesson, signal, {
    leave: () => turnTo("watch"),
    decode: (prompt) => {
      turnTo("watch");
      typeInto(promptBox(setting.prompt_id), prompt);
      // Gradio's button, which sends what the box has told it by then.
      setTimeout(() => find(document, "#sbd-go button").click(), TYPED_MS);
    },
  });
  onTurn((name) => (name === "learn" ? view.open() : view.close()), signal);
  const isAsked = sceneAt(location.hash, []) !== null;
  const isLinked = location.search + location.hash !== "";
  const isFirst = !isLinked && isFirstVisit();
  if (isAsked || isFirst) turnTo("learn");
  return () => {};
}
