// One slider for gamma, safer to bolder, what is unusual in words, and the switch for all the rest.

import { nearestStep, outsideWords } from "../core/boldness.js";
import { find, make, setAttribute, setText } from "../dom/elements.js";
import { numberBox, typeInto, watchForm } from "../dom/page.js";

/** @import { Mount } from "../stub.js" */

/** @typedef {{ gamma_id: string, block_id: string, gammas: number[], block_range: number[] }} Setting */

/** @type {Mount} */
export function mountBoldness({ element, value, signal }) {
  /** @type {Setting} */
  const setting = JSON.parse(value);
  const { gammas } = setting;
  const range = make("input", "", {
    type: "range",
    min: 0,
    max: gammas.length - 1,
    step: 1,
    "aria-label": "Safer to bolder",
  });
  const now = make("output", "sbd-boldness-now");
  const outside = make("p", "sbd-boldness-outside", { role: "status" });
  const advanced = make("button", "sbd-advanced-switch", { type: "button" }, "Advanced");
  const ends = [make("span", "", {}, "safer"), now, make("span", "", {}, "bolder")];
  find(element, ".sbd-boldness").replaceChildren(
    range,
    make("div", "sbd-boldness-ends", {}, ...ends),
    outside,
    advanced,
  );
  range.addEventListener("input", () => {
    typeInto(numberBox(setting.gamma_id), String(gammas[Number(range.value)] ?? 0));
  });
  /** @param {boolean} isOpen */
  function openAdvanced(isOpen) {
    document.body.classList.toggle("sbd-is-advanced", isOpen);
    advanced.setAttribute("aria-expanded", String(isOpen));
  }
  advanced.addEventListener("click", () => {
    openAdvanced(!document.body.classList.contains("sbd-is-advanced"));
  });
  openAdvanced(false);
  function look() {
    const box = numberBox(setting.gamma_id);
    const isDial = box !== null && box.closest(".hidden, .hide") === null && box.value !== "";
    range.disabled = !isDial;
    const gamma = Number(box?.value ?? 0);
    const step = String(nearestStep(gammas, gamma));
    if (isDial && range.value !== step) range.value = step;
    const share = (Number(range.value) / (gammas.length - 1)) * 100;
    range.style.setProperty("--done", `${share}%`);
    const words = isDial ? `γ ${gamma}` : "set by another dial";
    setText(now, words);
    setAttribute(range, "aria-valuetext", words);
    const block = numberBox(setting.block_id)?.value;
    setText(outside, outsideWords(setting, isDial ? gamma : 0, Number(block || 2)));
  }
  watchForm(look, signal);
  look();
  return () => {};
}
