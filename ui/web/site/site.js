// Builds the static page: every view of the page over files alone, decoding in the visitor's browser.

import { find, make } from "../dom/elements.js";
import { promptBox } from "../dom/gradio.js";
import { followScheme } from "../dom/screen.js";
import { playerOf } from "../dom/views.js";
import { inBrowser, onSettled, sayStatus } from "../in_browser/bridge.js";
import { formOfAddress } from "../in_browser/mount.js";
import { mount } from "../page.js";
import { fillForm, makeFields, showFieldsInUse } from "./form.js";

/** @import { Take } from "../stub.js" */
/** @import { Values } from "./form.js" */

/** A recorded run. @typedef {{ lines: string, settings: Values }} Recording */
/**
 * A model that the page can decode with. views: the values of those that differ from model to model.
 * @typedef {{ name: string, title: string, about: string, isChat: boolean, views: Record<string, string>, form: Values }} Model
 */
/** The answers to a view's events, by their names. @typedef {Record<string, (data: any) => unknown>} Events */

const RECORDED_TEXT =
  "This run is recorded, and the form has its settings. Press Decode to run it here.";

/** Show a recorded run of the gallery. @param {{ name: string, is_typed?: boolean }} choice */
async function choose({ name, is_typed: isTyped }) {
  try {
    const response = await fetch(
      new URL(`gallery/${encodeURIComponent(name)}.json`, document.baseURI),
    );
    if (!response.ok) throw new Error(String(response.status));
    /** @type {Recording} */
    const { lines, settings } = await response.json();
    // A run that is shown again is another one for the player.
    const id = crypto.randomUUID().slice(0, 8);
    playerOf(document)?.push(lines.replaceAll(`"run":"gallery"`, `"run":"${id}"`));
    fillForm(isTyped ? { ...settings, prompt: undefined } : settings);
    sayStatus(RECORDED_TEXT, false, true);
  } catch {
    sayStatus("This recorded run cannot be reached.", true);
  }
}

/** @type {Record<string, Events>} */
const EVENTS = {
  presets: { choose_run: choose },
  gallery: { choose_run: choose },
  "risk-slider": { choose: fillForm },
  player: {
    give: () => {
      const words = "A trace file opens on the page that python app.py serves, not on this one.";
      playerOf(document)?.share.receive({ error: words });
    },
  },
};

/** Have the page kept for later once the engine has its model, so that nothing is fetched twice. */
function keepForLater() {
  if (!("serviceWorker" in navigator && window.isSecureContext)) return;
  const once = new AbortController();
  onSettled(() => {
    once.abort();
    navigator.serviceWorker.register("sw.js").catch(() => {});
  }, once.signal);
}

/** Build the page. */
function begin() {
  followScheme();
  keepForLater();
  find(document, "#sbd-advanced").append(...makeFields());
  document.addEventListener("input", showFieldsInUse);
  /** @type {{ views: Record<string, string>, form: Values }} */
  const { views, form } = JSON.parse(find(document, "#sbd-values").textContent ?? "{}");
  /** @type {Map<string, Take>} */
  const takes = new Map();
  for (const [name, value] of Object.entries(views)) {
    const element = find(document, `#sbd-${name}`);
    /** @param {string} event @param {unknown} wish */
    const trigger = (event, wish) => EVENTS[name]?.[event]?.(wish);
    takes.set(name, mount(name, { element, value, trigger }));
  }
  fillForm({ ...form, ...formOfAddress() });
  offerModels(JSON.parse(views["engine-choice"] ?? "{}").models ?? [], takes);
}

/**
 * Offer the switch between models, where there are several.
 * @param {Model[]} models
 * @param {Map<string, Take>} takes functions that take the later values of each view
 */
function offerModels(models, takes) {
  const [first] = models;
  if (!first || models.length < 2) return;
  const rows = models.map((model) => ({ ...model, isHere: true, mayManage: false }));
  const value = { number: 0, first: first.name, chosen: "", models: rows };
  /** @param {string} _ @param {unknown} wish */
  const trigger = (_, wish) => {
    const { name, keepsSettings } = /** @type {{ name: string, keepsSettings: boolean }} */ (wish);
    const model = models.find((each) => each.name === name);
    if (!model) return;
    for (const [view, own] of Object.entries(model.views)) takes.get(view)?.(own);
    const asked = promptBox("sbd-prompt-box")?.value;
    const known = [...models.map(({ form }) => form.prompt), playerOf(document)?.run?.prompt, ""];
    const prompt = known.includes(asked) ? model.form.prompt : undefined; // one's own stays
    if (!keepsSettings) fillForm({ ...model.form, prompt });
    inBrowser.choose?.(name);
  };
  mount("model-switch", { element: make("div"), value: JSON.stringify(value), trigger });
}

begin();
