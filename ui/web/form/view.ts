// The form beside the player: examples to start from, the prompt, Decode and Stop, and the fields of all settings.

import { html, nothing, render } from "lit-html";
import { live } from "lit-html/directives/live.js";
import constants from "../constants.json" with { type: "json" };
import { FIELD_LABELS } from "../core/words.ts";
import { elementOf, find } from "../dom/elements.ts";
import { promptBox } from "../dom/page.ts";
import { foldForm } from "../dom/screen.ts";
import { buttonTemplate } from "../dom/templates.ts";
import { currentView, onAskForChat, onViewChange } from "../dom/views.ts";
import { doJob, isDecoding, onBusy } from "../jobs.ts";
import type { Model } from "../models.ts";
import { chooseRecording } from "../recordings.ts";
import { bareAddress, queryOfAddress, replaceAddress } from "../share/permalink.ts";
import { FIELDS, form, isInUse, onForm } from "./form.ts";
import { sayFormChanges } from "./status.ts";

/** Return the button of a kind of examples; pressed again, it gives another one. */
function chip({ label, prompts: pairs }: Model["presets"][number]) {
  const index = pairs.findIndex(([prompt]) => prompt === form.prompt);
  const isChosen = index >= 0;
  function press() {
    const [prompt = "", recording = ""] = pairs[(index + 1) % pairs.length] ?? [];
    // Compare takes the prompt alone: a recorded run of one strategy belongs to Watch.
    if (!recording || currentView() === "compare") form.type(prompt);
    else void chooseRecording(recording, prompt);
  }
  const place = isChosen ? `· ${index + 1} of ${pairs.length}` : "";
  const content = html`${label}<span class="sbd-chip-count">${place}</span>`;
  const title = isChosen ? "Press again for another one" : `Try ${label}`;
  return buttonTemplate("sbd-chip", content, press, { title, isPressed: isChosen });
}

export function mountPresets(element: HTMLElement, signal: AbortSignal) {
  const [chips, promise] = [find(element, ".sbd-presets"), find(element, ".sbd-promise")];
  onForm(() => {
    render(form.model?.presets.map(chip), chips);
    render(form.model?.promise, promise);
  }, signal);
}

/** Show an empty prompt beside prompts that work, instead of a run, to a visitor who wants to write their own. */
export function mountSamples(element: HTMLElement, signal: AbortSignal) {
  const show = (isShown: boolean) => document.body.classList.toggle("sbd-has-samples", isShown);
  function take(prompt: string) {
    form.type(prompt);
    decode();
  }
  onAskForChat(() => {
    const prompts = form.model?.presets.map(({ prompts: [first] }) => first?.[0] ?? "") ?? [];
    const items = prompts.map(
      (prompt) =>
        html`<li><button type="button" @click=${() => take(prompt)}>${prompt}</button></li>`,
    );
    render(html`<h2>Write a prompt, or take one of these</h2><ul>${items}</ul>`, element);
    form.type("");
    show(true);
    foldForm(false);
    promptBox()?.focus();
  }, signal);
  onViewChange((name) => name === "watch" || show(false), signal);
  document.addEventListener("sbd-run", () => show(false), { signal });
}

const BOUNDS: Record<string, { gamma: string }> = constants.bounds;

function field(name: string) {
  const { titles, step, low, high, help } = FIELDS[name] as (typeof FIELDS)[string];
  const { model, values } = form;
  const id = `sbd-${name.replaceAll("_", "-")}-field`;
  const title = FIELD_LABELS[name] ?? name;
  const isUnused = !isInUse(values, name) || (name === "strategy" && !model?.canDraft);
  let words = help;
  if (name === "block_size" && model) {
    const trained = model.isTrained ? "trained on" : "not trained yet, on";
    words = `${help}; ${trained} ${model.blockRange.join(" to ")}`;
  }
  if (name === "gamma") words = BOUNDS[String(values.solver)]?.gamma ?? ""; // what γ is to the solver
  function take({ target }: Event) {
    const { value } = target as HTMLInputElement;
    if (titles) form.setByHand({ [name]: value });
    else if (value !== "") form.setByHand({ [name]: Number(value) });
  }
  const option = ([value, words]: [string, string]) =>
    html`<option value=${value} ?selected=${value === values[name]}>${words}</option>`;
  // Its name is the title alone; the help describes it.
  const box = titles
    ? html`<select
        aria-label=${title}
        aria-describedby="${id}-help"
        .value=${live(String(values[name]))}
        @change=${take}
        >${Object.entries(titles).map(option)}</select>`
    : html`<input
        aria-label=${title}
        aria-describedby="${id}-help"
        type="number"
        name=${name}
        inputmode="decimal"
        step=${step}
        min=${low ?? nothing}
        max=${high ?? nothing}
        @input=${take}
      />`;
  return html`<label class="sbd-field ${isUnused ? "hidden" : ""}" id=${id}
    ><span>${title}</span>${box}<small id="${id}-help">${words}</small></label>`;
}

/** Bind a text box of the form; return what shows its value. */
function bindText(name: "prompt" | "template" | "system", box: HTMLTextAreaElement) {
  box.addEventListener("input", () => {
    if (name === "prompt") form.type(box.value);
    else form.setByHand({ [name]: box.value });
  });
  return () => {
    if (box.value !== form.values[name]) box.value = String(form.values[name]);
  };
}

function decode() {
  if (!isDecoding()) doJob({ kind: "decode", form: form.request });
}

export function mountForm(root: HTMLElement, signal: AbortSignal) {
  const advanced = find(root, "#sbd-advanced");
  const box = (name: string) => find(root, `#sbd-${name}-box textarea`) as HTMLTextAreaElement;
  const updates = (["prompt", "template", "system"] as const).map((name) =>
    bindText(name, box(name)),
  );
  const [go, stop] = [...root.querySelectorAll<HTMLButtonElement>("#sbd-go button")];

  function update() {
    const { model, values } = form;
    for (const show of updates) show();
    find(root, "#sbd-system-box").hidden = !model?.isChat;
    find(root, "#sbd-template-box").hidden = !model?.canDraft;
    render(Object.keys(FIELDS).map(field), advanced);
    for (const input of advanced.querySelectorAll("input")) {
      const value = values[input.name] ?? "";
      const isLeftEmpty = input.value === "" && document.activeElement !== input;
      // A number that is being typed stays as it is: "0." is 0.
      if (Number(input.value) !== value || isLeftEmpty) input.value = String(value);
    }
  }

  go?.addEventListener("click", decode);
  stop?.addEventListener("click", () => doJob({ kind: "stop" }));
  onBusy((isBusy) => {
    if (go) go.disabled = isBusy;
    if (stop) stop.disabled = !isBusy;
  }, signal);
  root.addEventListener("keydown", (event) => {
    const isSent = event.key === "Enter" && !event.shiftKey && !event.isComposing;
    // Compare listens itself.
    if (!isSent || event.target !== promptBox() || currentView() === "compare") return;
    event.preventDefault();
    decode();
  });
  // A prompt that the visitor edits is no longer the link's; a reload must not bring that back.
  root.addEventListener("input", (event) => {
    const linked = queryOfAddress().get("prompt");
    const isOfPrompt = elementOf(event)?.closest("#sbd-prompt-box");
    if (isOfPrompt && linked !== null && linked !== form.prompt) replaceAddress(bareAddress());
  });
  onForm(update, signal);
}

export function takeModel(model: Model, keepsSettings: boolean) {
  if (keepsSettings) form.takeModel(model, true);
  else sayFormChanges(`With ${model.title}`, () => form.takeModel(model, false));
}
