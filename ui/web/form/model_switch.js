// The switch between the page's models, in the head: which one decodes, what one that is not here
// yet needs, and whose they are.

import { absenceWords, isOffered, setModels } from "../core/models.js";
import { make, setText } from "../dom/elements.js";
import { keepInTab, keptInTab } from "../dom/gradio.js";
import { onAskForChat, playerOf, sayModels } from "../dom/views.js";
import { tellChanges } from "./changes.js";

/** @import { Model } from "../core/models.js" */
/** @import { Mount, Trigger } from "../stub.js" */

/** @typedef {{ number: number, first: string, chosen: string, models: Model[] }} Value as ui/form/model_switch.py */

const KEPT = "sbd-model";

class Switch {
  /** @param {Value} value @param {Trigger} trigger */
  constructor(value, trigger) {
    this.value = value;
    this.trigger = trigger;
    this.chosen = value.first;
    this.asked = ""; // a model that this visitor waits for
    /** @type {Map<string, HTMLInputElement>} */
    this.boxes = new Map();
    const group = make("div", "sbd-models", { role: "radiogroup", "aria-label": "Model" });
    for (const { name, title, about } of value.models) {
      const box = make("input", "", { type: "radio", name: "sbd-model", value: name });
      box.addEventListener("change", () => this.choose(name));
      this.boxes.set(name, box);
      group.append(make("label", "", { title: `${title} ${about}.` }, box, title));
    }
    this.about = make("div", "sbd-models-about", { hidden: "" });
    const more = { "aria-label": "About the models", "aria-expanded": "false" };
    const open = () => this.open(this.about.hidden === true);
    this.button = make("button", "sbd-models-more", more, "⋯", open);
    this.words = make("span", "", { role: "status" });
    this.act = make("button", "");
    this.close = make("button", "", "Not now", () => {
      this.asked = "";
      this.draw();
    });
    this.line = make("p", "sbd-models-line", { hidden: "" }, this.words, this.act, this.close);
    this.root = make("div", "sbd-models-root", group, this.button, this.about, this.line);
    this.draw();
  }

  /**
   * @param {string} name
   * @param {boolean} keepsSettings what the form holds stays, but for its model
   */
  choose(name, keepsSettings = false) {
    const model = this.value.models.find((each) => each.name === name);
    if (!model) return;
    this.asked = model.isHere ? "" : name;
    if (model.isHere) {
      if (name !== this.chosen && !keepsSettings) tellChanges(`With ${model.title}`);
      this.chosen = name;
      keepInTab(KEPT, name);
      this.trigger("choose_model", { name, keepsSettings });
    }
    this.draw();
  }

  /** @param {Value} value */
  take(value) {
    if (value.number < this.value.number) return; // Gradio may send an earlier one again
    this.value = value;
    const asked = value.models.find(({ name }) => name === this.asked);
    if (asked?.isHere && !asked.isFetching) this.choose(asked.name);
    const isGone = value.models.some(({ name, isHere }) => name === this.chosen && !isHere);
    const other = value.models.find(({ isHere }) => isHere);
    if (isGone && other) this.choose(other.name);
    this.draw();
  }

  draw() {
    const { models } = this.value;
    setModels(models, this.chosen);
    sayModels(null);
    for (const [name, box] of this.boxes) box.checked = name === this.chosen;
    const shown =
      models.find(({ isFetching }) => isFetching) ??
      models.find(({ name, isHere }) => name === this.asked && !isHere);
    this.line.hidden = !shown;
    if (shown) {
      const other = models.find(({ name }) => name === this.chosen)?.title ?? "";
      const { words, action, label } = absenceWords(shown, other);
      setText(this.words, words);
      setText(this.act, label);
      this.act.hidden = !action || !shown.mayManage;
      this.act.onclick = () => this.trigger(action, { name: shown.name });
      this.close.hidden = shown.isFetching === true;
    }
    if (!this.about.hidden) this.drawAbout();
  }

  /** @param {boolean} isOpen */
  open(isOpen) {
    this.about.hidden = !isOpen;
    this.button.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) this.drawAbout();
  }

  drawAbout() {
    const rows = this.value.models.map((model) => {
      const row = make("p", "", make("strong", "", model.title), ` ${model.about}.`);
      if (model.base) {
        const address = `https://huggingface.co/${model.base}`;
        const to = { href: address, rel: "noreferrer", target: "_blank" };
        const link = make("a", "", to, model.base);
        row.append(" Its base: ", link, ` by Hugging Face, ${model.licence}.`);
      }
      if (!model.base || !model.isHere || !model.mayManage || model.isFetching) return row;
      const words = `Delete the server’s download (${model.room} MB of its disk)`;
      const click = () => this.trigger("remove_base", { name: model.name });
      const remove = make("button", "", words, click);
      row.append(" ", remove, model.words ? ` ${model.words}` : "");
      return row;
    });
    this.about.replaceChildren(...rows);
  }

  /** The model that the address or the tab asks for; a link without a model is the first's. */
  begin() {
    const query = new URLSearchParams(window.location.search);
    const isLink = query.has("prompt") || query.has("lanes");
    const wanted = query.get("with") ?? (isLink ? null : keptInTab(KEPT));
    if (wanted && wanted !== this.chosen && isOffered(wanted)) this.choose(wanted, isLink);
  }

  /** A prompt of one's own goes to a model that takes any, if one is here. */
  followVisitor() {
    const { models } = this.value;
    if (models.find(({ name }) => name === this.chosen)?.isChat) return;
    const model = models.find(({ isHere, isChat }) => isHere && isChat);
    if (model) this.choose(model.name);
  }

  /** A recorded run of the gallery is shown with its own model's form. */
  followRun() {
    const run = playerOf(document)?.run;
    if (!run?.isRecorded || run.id === "opening" || run.model === this.chosen) return;
    const model = this.value.models.find(({ name }) => name === run.model);
    if (model?.isHere) this.choose(model.name, true);
  }
}

/** @type {Mount} */
export function mountModelSwitch({ value, trigger, signal }) {
  const view = new Switch(JSON.parse(value), trigger);
  /** The head may be mounted after this view. */
  function place() {
    const model = document.querySelector(".sbd-header .sbd-model");
    if (model) model.before(view.root);
    else if (!signal.aborted) requestAnimationFrame(place);
  }
  place();
  view.begin();
  document.addEventListener("sbd-run", () => view.followRun(), { signal });
  onAskForChat(() => view.followVisitor(), signal);
  /** @param {Event} event */
  const fold = (event) => {
    const isInside = event.target instanceof Node && view.root.contains(event.target);
    if (event instanceof KeyboardEvent ? event.key === "Escape" : !isInside) view.open(false);
  };
  for (const type of ["click", "keydown"]) document.addEventListener(type, fold, { signal });
  signal.addEventListener("abort", () => {
    view.root.remove();
    setModels([], "");
  });
  return (text) => view.take(JSON.parse(text));
}
