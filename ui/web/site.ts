// Builds the static page: all views without a server, with a form of its own; decodes run in the visitor's browser.

import constants from "./constants.json" with { type: "json" };
import { find, make } from "./dom/elements.ts";
import { promptBox, typeInto } from "./dom/gradio.ts";
import { followScheme } from "./dom/screen.ts";
import { playerOf } from "./dom/views.ts";
import { MEASURES, SOLVERS } from "./engine/decoding/settings.ts";
import { choiceOf, type FieldName, TITLES } from "./form/fields.ts";
import { sayStatus } from "./form/status.ts";
import { inBrowser, onSettled } from "./in_browser.ts";
import { mount } from "./page.ts";
import { formOfAddress } from "./share/permalink.ts";
import type { Take } from "./stub.ts";

/** A recorded run. */
type Recording = { lines: string; settings: Values };
/**
 * A model that the page can decode with. views: values of views that depend on the model, by view; form: its
 * settings.
 */
type Model = {
  name: string;
  title: string;
  about: string;
  isChat: boolean;
  views: Record<string, string>;
  form: Values;
};
/** What a view's events do, by the names of events. */
type Events = Record<string, (data: any) => unknown>;

const RECORDED_TEXT =
  "This run is recorded, and the form has its settings. Press Decode to run it here.";

/** Show a recorded run. @param choice is_typed: the form has its prompt */
async function choose({ name, is_typed: isTyped }: { name: string; is_typed?: boolean }) {
  try {
    const response = await fetch(
      new URL(`gallery/${encodeURIComponent(name)}.json`, document.baseURI),
    );
    if (!response.ok) throw new Error(String(response.status));
    const { lines, settings }: Recording = await response.json();
    // The player takes a run with a new id as a new one, also when it is shown again.
    const id = crypto.randomUUID().slice(0, 8);
    playerOf(document)?.push(lines.replaceAll(`"run":"gallery"`, `"run":"${id}"`));
    fillForm(isTyped ? { ...settings, prompt: undefined } : settings);
    sayStatus(RECORDED_TEXT, false, true);
  } catch {
    sayStatus("This recorded run cannot be reached.", true);
  }
}

const EVENTS: Record<string, Events> = {
  presets: { choose_run: choose },
  gallery: { choose_run: choose },
  ways: { choose: fillForm },
  player: {
    give: () => {
      const words = "A trace file opens on the page that python app.py serves, not on this one.";
      playerOf(document)?.share.receive({ error: words });
    },
  },
};

/** Start the service worker, which stores the page, after the engine's start, so that no file is fetched twice. */
function keepForLater() {
  if (!("serviceWorker" in navigator && window.isSecureContext)) return;
  const once = new AbortController();
  onSettled(() => {
    once.abort();
    navigator.serviceWorker.register("sw.js").catch(() => {});
  }, once.signal);
}

function begin() {
  followScheme();
  keepForLater();
  find(document, "#sbd-advanced").append(...makeFields());
  document.addEventListener("input", showFieldsInUse);
  const { views, form }: { views: Record<string, string>; form: Values } = JSON.parse(
    find(document, "#sbd-values").textContent ?? "{}",
  );
  const takes: Map<string, Take> = new Map();
  for (const [name, value] of Object.entries(views)) {
    const element = find(document, `#sbd-${name}`);
    const trigger = (event: string, data: unknown) => EVENTS[name]?.[event]?.(data);
    takes.set(name, mount(name, { element, value, trigger }));
  }
  fillForm({ ...form, ...formOfAddress() });
  offerModels(JSON.parse(views["engine-choice"] ?? "{}").models ?? [], takes);
}

/**
 * Show the switch between models, if there are several.
 * @param takes for each view the function that takes its later values
 */
function offerModels(models: Model[], takes: Map<string, Take>) {
  const [first] = models;
  if (!first || models.length < 2) return;
  const rows = models.map((model) => ({ ...model, isHere: true, mayManage: false }));
  const value = { number: 0, first: first.name, chosen: "", models: rows };
  const trigger = (_: string, data: unknown) => {
    const { name, keepsSettings } = data as { name: string; keepsSettings: boolean };
    const model = models.find((each) => each.name === name);
    if (!model) return;
    for (const [view, own] of Object.entries(model.views)) takes.get(view)?.(own);
    const asked = promptBox("sbd-prompt-box")?.value;
    const known = [...models.map(({ form }) => form.prompt), playerOf(document)?.run?.prompt, ""];
    const prompt = known.includes(asked) ? model.form.prompt : undefined; // the visitor's own prompt stays
    if (!keepsSettings) fillForm({ ...model.form, prompt });
    inBrowser.choose?.(name);
  };
  mount("model-switch", { element: make("div"), value: JSON.stringify(value), trigger });
}

/** The values of fields by their names. */
type Values = Record<string, unknown>;

const NUMBERS: [name: FieldName, value: number | "", step: number][] = [
  ["gamma", 0.35, 0.01],
  ["tau", 0.9, 0.01],
  ["factor", 1, 0.05],
  ["k", 2, 1],
  ["max_rows", 0, 1], // 0: the default of this browser
  ["repetition_penalty", 0, 0.05], // 0: the model’s own
  ["block_size", 16, 1],
  ["max_new_tokens", 128, 1],
  ["seed", 0, 1],
];
/** Fields that every strategy uses. */
const ALWAYS = ["strategy", "repetition_penalty", "block_size", "max_new_tokens"];

/** Create a labelled field with the id by which views find it. */
function field(name: FieldName, box: HTMLElement) {
  return make(
    "label",
    "sbd-field",
    { id: constants.formIds[name] },
    make("span", "", constants.fieldLabels[name]),
    box,
  );
}

/** Create a labelled drop-down list. */
function choice(name: FieldName, titles: string[]) {
  const options = titles.map((title) => make("option", "", { value: title }, title));
  return field(name, make("select", "", ...options));
}

/** Create the fields of the form's advanced settings. */
function makeFields() {
  return [
    choice("strategy", Object.values(constants.laneNames)),
    choice("solver", Object.values(constants.solverNames)),
    choice("by", MEASURES),
    ...NUMBERS.map(([name, value, step]) =>
      field(name, make("input", "", { type: "number", value, step, min: 0 })),
    ),
  ];
}

/** Show the fields that the chosen strategy and solver use, and hide the others. */
function showFieldsInUse() {
  const strategy = choiceOf("strategy") ?? "sbd";
  const solver = document.querySelector(`#${constants.formIds.solver}`);
  solver?.classList.toggle("hidden", strategy !== "sbd");
  const rule = choiceOf("solver") ?? "entropy-bound";
  const own = strategy === "sbd" ? ["solver", ...Object.keys(SOLVERS[rule] ?? {})] : [];
  if (strategy === "sbd" && rule === "random") own.push("seed");
  if (strategy === "verify") own.push("max_rows");
  for (const [name, id] of Object.entries(constants.formIds)) {
    const isInUse = ALWAYS.includes(name) || own.includes(name);
    document.querySelector(`#${id}`)?.classList.toggle("hidden", !isInUse);
  }
}

/** Write settings into the form; fields without a value stay as they are. */
function fillForm(values: Values) {
  for (const [name, id] of Object.entries(constants.formIds)) {
    const value = values[name];
    if (value === undefined || value === null) continue;
    const box: HTMLInputElement | HTMLSelectElement | null = document.querySelector(
      `#${id} :is(input, select)`,
    );
    if (!box) continue;
    box.value = TITLES[name]?.[String(value)] ?? String(value);
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }
  if (typeof values.prompt === "string") {
    typeInto(document.querySelector("#sbd-prompt-box textarea"), values.prompt);
  }
  showFieldsInUse();
}

begin();
