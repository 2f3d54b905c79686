// The form beside the player: examples to start from, the prompt, Decode and Stop, and the fields of all settings.

import constants from "../constants.json" with { type: "json" };
import { FIELD_LABELS } from "../core/words.ts";
import { elementOf, find, make, setAttribute, setText } from "../dom/elements.ts";
import { promptBox } from "../dom/page.ts";
import { foldForm } from "../dom/screen.ts";
import { currentView, onAskForChat, onViewChange } from "../dom/views.ts";
import { doJob, isDecoding, onBusy } from "../jobs.ts";
import type { Model } from "../models.ts";
import { chooseRecording } from "../recordings.ts";
import { bareAddress, queryOfAddress, replaceAddress } from "../share/permalink.ts";
import { FIELDS, form, isInUse, onForm } from "./form.ts";
import { sayFormChanges } from "./status.ts";

/** Create the button of a kind of examples; pressed again, it gives another one. */
function makeChip({ label, prompts: pairs }: Model["presets"][number]) {
  const prompts = pairs.map(([prompt]) => prompt);
  const count = make("span", "sbd-chip-count");
  const chip = make("button", "sbd-chip", label, count, () => {
    const [prompt, recording] = pairs[(prompts.indexOf(form.prompt) + 1) % pairs.length] ?? [
      "",
      "",
    ];
    // Compare takes the prompt alone: a recorded run of one strategy belongs to Watch.
    if (!recording || currentView() === "compare") form.type(prompt);
    else void chooseRecording(recording, prompt);
  });
  function update() {
    const index = prompts.indexOf(form.prompt);
    setAttribute(chip, "aria-pressed", index >= 0);
    setText(count, index >= 0 ? `· ${index + 1} of ${prompts.length}` : "");
    setAttribute(chip, "title", index >= 0 ? "Press again for another one" : `Try ${label}`);
  }
  return { chip, update };
}

/** Show the examples of the model that is chosen. */
export function mountPresets(element: HTMLElement, signal: AbortSignal) {
  let chips: ReturnType<typeof makeChip>[] = [];
  let shown: Model | null = null;
  onForm(() => {
    const { model } = form;
    if (model && model !== shown) {
      shown = model;
      chips = model.presets.map(makeChip);
      find(element, ".sbd-presets").replaceChildren(...chips.map(({ chip }) => chip));
      setText(find(element, ".sbd-promise"), model.promise);
    }
    for (const { update } of chips) update();
  }, signal);
}

/** Show an empty prompt beside prompts that work, instead of a run, to a visitor who wants to write their own. */
export function mountSamples(element: HTMLElement, signal: AbortSignal) {
  const list = make("ul", "");
  const title = make("h2", "", "Write a prompt, or take one of these");
  element.replaceChildren(title, list);
  const show = (isShown: boolean) => document.body.classList.toggle("sbd-has-samples", isShown);
  onAskForChat(() => {
    const prompts = form.model?.presets.map(({ prompts: [first] }) => first?.[0] ?? "") ?? [];
    const buttons = prompts.map((prompt) =>
      make("button", "", prompt, () => {
        form.type(prompt);
        decode();
      }),
    );
    list.replaceChildren(...buttons.map((button) => make("li", "", button)));
    form.type("");
    show(true);
    foldForm(false);
    promptBox()?.focus();
  }, signal);
  onViewChange((name) => name === "watch" || show(false), signal);
  document.addEventListener("sbd-run", () => show(false), { signal });
}

type Box = HTMLInputElement | HTMLSelectElement;

/** Create a labelled field of a setting. */
function makeField(name: string) {
  const { titles, step, low, high, help } = FIELDS[name] as (typeof FIELDS)[string];
  let box: Box;
  if (titles) {
    const options = Object.entries(titles).map(([value, title]) =>
      make("option", "", { value }, title),
    );
    box = make("select", "", ...options);
  } else {
    const limits = {
      ...(low !== null && { min: low }),
      ...(high !== null && { max: high }),
    };
    box = make("input", "", {
      type: "number",
      step,
      inputmode: "decimal",
      ...limits,
    });
  }
  const id = `sbd-${name.replaceAll("_", "-")}-field`;
  const words = make("small", "", { id: `${id}-help` }, help);
  const title = FIELD_LABELS[name] ?? name;
  // Its name is the title alone; the help describes it.
  setAttribute(box, "aria-label", title);
  setAttribute(box, "aria-describedby", words.id);
  const root = make("label", "sbd-field", { id }, make("span", "", title), box, words);
  const take = () => {
    if (titles) form.setByHand({ [name]: box.value });
    else if (box.value !== "") form.setByHand({ [name]: Number(box.value) });
  };
  box.addEventListener(titles ? "change" : "input", take);
  return { name, box, root, words };
}

/** Create a labelled text box. */
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

/** Give the form's text boxes, fields and buttons their work. */
export function mountForm(root: HTMLElement, signal: AbortSignal) {
  const fields = Object.keys(FIELDS).map(makeField);
  const advanced = find(root, "#sbd-advanced");
  advanced.append(...fields.map(({ root: field }) => field));
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
    for (const { name, box, root: field, words } of fields) {
      field.classList.toggle(
        "hidden",
        !isInUse(values, name) || (name === "strategy" && !model?.canDraft),
      );
      const text = String(values[name]);
      const isSame =
        box instanceof HTMLSelectElement ? box.value === text : Number(box.value) === values[name];
      // A number that is being typed stays as it is: "0." is 0.
      if (!isSame || (box.value === "" && document.activeElement !== box)) box.value = text;
      if (name === "block_size" && model) setText(words, blockWords(model));
      if (name === "gamma") setText(words, gammaWords(String(values.solver)));
    }
  }

  go?.addEventListener("click", decode);
  stop?.addEventListener("click", () => doJob({ kind: "stop" }));
  onBusy((isBusy) => {
    if (go) go.disabled = isBusy;
    if (stop) stop.disabled = !isBusy;
  }, signal);
  root.addEventListener("keydown", (event) => {
    if (
      event.key !== "Enter" ||
      event.shiftKey ||
      event.isComposing ||
      event.target !== promptBox()
    )
      return;
    if (currentView() === "compare") return; // it listens itself
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

/** Return what γ is to a solver. */
function gammaWords(solver: string) {
  const bounds: Record<string, { gamma: string }> = constants.bounds;
  return bounds[solver]?.gamma ?? "";
}

function blockWords({ blockRange: [low, high], isTrained }: Model) {
  const trained = isTrained ? "trained on" : "not trained yet, on";
  return `${FIELDS.block_size?.help}; ${trained} ${low} to ${high}`;
}

/** Change the form to a model's settings, and say so. */
export function takeModel(model: Model, keepsSettings: boolean) {
  if (keepsSettings) form.takeModel(model, true);
  else sayFormChanges(`With ${model.title}`, () => form.takeModel(model, false));
}
