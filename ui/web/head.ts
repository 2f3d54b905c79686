// The header and footer of every view: links, the switch between models, the download of a model that is not here yet,
// and a notice about a model that was not trained for Set Block Decoding.

import { PAPER_PAGE } from "./core/words.ts";
import { elementOf, find, icon, make, setAttribute, setText } from "./dom/elements.ts";
import { fileAddress, readFromTab, storeInTab } from "./dom/gradio.ts";
import { makeTermNote, question } from "./dom/terms.ts";
import {
  followAddress,
  onAskForChat,
  onViewChange,
  playerOf,
  sayModels,
  showView,
} from "./dom/views.ts";
import { sayFormChanges } from "./form/status.ts";
import { absenceWords, isOffered, type Model, setModels } from "./models.ts";
import type { Mount, Trigger } from "./stub.ts";

/** A line on the model that decodes in this browser; "" while the server decodes. */
let browserModel = "";
/** updates the header; null while there is none */
let redraw: (() => void) | null = null;

/** Show the view of a link that was clicked; with a modifier key held the browser opens the link itself. */
function follow(event: MouseEvent) {
  const link = elementOf(event)?.closest("a[data-view]");
  const isUnmodified = !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!(link instanceof HTMLElement) || !isUnmodified) return;
  event.preventDefault();
  showView(link.dataset.view ?? "");
}

export const mountHeader: Mount = ({ element, value, signal }) => {
  const menu = find(element, ".sbd-menu");
  const nav = find(element, ".sbd-views");
  menu.replaceChildren(icon("menu"));
  menu.setAttribute("aria-label", "Views");
  function setMenuOpen(isOpen: boolean) {
    setAttribute(menu, "aria-expanded", isOpen);
    nav.classList.toggle("is-open", isOpen);
  }
  menu.addEventListener("click", () => setMenuOpen(!nav.classList.contains("is-open")));
  document.addEventListener("click", follow, { signal });
  const fold = (event: Event) => elementOf(event)?.closest(".sbd-menu") || setMenuOpen(false);
  document.addEventListener("click", fold, { signal });
  element.addEventListener("keydown", (event) => event.key === "Escape" && setMenuOpen(false));
  onViewChange((name) => {
    for (const link of element.querySelectorAll("[data-view]")) {
      const isShown = link instanceof HTMLElement && link.dataset.view === name;
      if (isShown) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }, signal);
  followAddress(signal);
  const model = find(element, ".sbd-model");
  let serverModel = value;
  const draw = () => setText(model, browserModel || serverModel);
  redraw = draw;
  signal.addEventListener("abort", () => {
    if (redraw === draw) redraw = null;
  });
  draw();
  return (text) => {
    serverModel = text;
    draw();
  };
};

/** Describe the model that decodes in this browser. @param words "" while the server decodes */
export function showBrowserModel(words: string) {
  browserModel = words;
  redraw?.();
}

const ADDED =
  "Three things are not in the paper. Verify checks every draft before it counts, so the answer is " +
  "that of next-token prediction. The solver “entropy bound from the left” also reveals the " +
  "leftmost mask in every forward pass. The bundled models decode on a CPU and in a browser.";
const REACHED =
  "The paper reports 3 to 5 times fewer forward passes for its Llama-3.1 8B and Qwen-3 8B. With its " +
  "lower γ they lose at most 3.3 points on any benchmark of Table 1, at 3.0 and 3.2 tokens per " +
  "forward pass on average.";

function link(href: string, text: string) {
  return make("a", "", { href, target: "_blank", rel: "noopener noreferrer" }, text);
}

export const mountFooter: Mount = ({ element, value, signal }) => {
  /** is_beside: the model card is a file beside the page */
  const {
    code,
    card,
    is_beside: isBeside,
  }: { code: string; card: string; is_beside: boolean } = JSON.parse(value);
  const root = find(element, ".sbd-footer");
  root.replaceChildren(
    link(PAPER_PAGE, "Gat et al. 2025, arXiv 2509.04185"),
    code ? link(code, "Code") : "",
    link(isBeside ? card : fileAddress(card), "Model card"),
    make(
      "span",
      "",
      "The paper and this page",
      question("what is added and reached", `${REACHED} ${ADDED}`),
    ),
  );
  makeTermNote(root, signal);
  return () => {};
};

/** see words_for in ui/views/head.py */
type Words = { name: string; words: string; lines: string[] };

export const mountUntrained: Mount = ({ element, value }) => {
  /** @param text Words as JSON; "" hides the notice */
  function show(text: string) {
    element.hidden = text === "";
    if (!text) return;
    const { name, words, lines }: Words = JSON.parse(text);
    find(element, ".sbd-untrained-name").textContent = name;
    find(element, ".sbd-untrained-words").textContent = words;
    // In an element of its own, a line is selected as a whole by a click.
    find(element, ".sbd-untrained-lines").replaceChildren(
      ...lines.map((line) => make("code", "", line)),
    );
  }
  show(value);
  return show;
};

/** see switch_value in ui/views/head.py */
type Value = { number: number; first: string; chosen: string; models: Model[] };

const MODEL_KEY = "sbd-model";

class Switch {
  value: Value;
  chosen: string;
  wanted = ""; // the model that the visitor wants and that is not here yet; "" for none
  boxes: Map<string, HTMLInputElement> = new Map();
  about: HTMLDivElement;
  button: HTMLButtonElement;
  words: HTMLSpanElement;
  act: HTMLButtonElement;
  close: HTMLButtonElement;
  line: HTMLParagraphElement;
  root: HTMLDivElement;

  constructor(
    value: Value,
    readonly trigger: Trigger,
  ) {
    this.value = value;
    this.chosen = value.first;
    const group = make("div", "sbd-models", { role: "radiogroup", "aria-label": "Model" });
    for (const { name, title, about } of value.models) {
      const box = make("input", "", { type: "radio", name: "sbd-model", value: name });
      box.addEventListener("change", () => this.choose(name));
      this.boxes.set(name, box);
      group.append(make("label", "", { title: `${title} ${about}.` }, box, title));
    }
    this.about = make("div", "sbd-models-about", { hidden: "" });
    const more = { "aria-label": "About the models", "aria-expanded": "false" };
    const open = () => this.setAboutOpen(this.about.hidden === true);
    this.button = make("button", "sbd-models-more", more, "⋯", open);
    this.words = make("span", "", { role: "status" });
    this.act = make("button", "");
    this.close = make("button", "", "Not now", () => {
      this.wanted = "";
      this.draw();
    });
    this.line = make("p", "sbd-models-line", { hidden: "" }, this.words, this.act, this.close);
    this.root = make("div", "sbd-models-root", group, this.button, this.about, this.line);
    this.draw();
  }

  /** @param keepsSettings whether the form keeps its settings, except for the model */
  choose(name: string, keepsSettings: boolean = false) {
    const model = this.value.models.find((each) => each.name === name);
    if (!model) return;
    this.wanted = model.isHere ? "" : name;
    if (model.isHere) {
      if (name !== this.chosen && !keepsSettings) sayFormChanges(`With ${model.title}`);
      this.chosen = name;
      storeInTab(MODEL_KEY, name);
      this.trigger("choose_model", { name, keepsSettings });
    }
    this.draw();
  }

  take(value: Value) {
    if (value.number < this.value.number) return; // Gradio may send an older value again
    this.value = value;
    const wanted = value.models.find(({ name }) => name === this.wanted);
    if (wanted?.isHere && !wanted.isFetching) this.choose(wanted.name);
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
      models.find(({ name, isHere }) => name === this.wanted && !isHere);
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

  setAboutOpen(isOpen: boolean) {
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

  /** Choose the model that the address or the tab's storage names; a link without a model is for the first one. */
  followAddress() {
    const query = new URLSearchParams(window.location.search);
    const isLink = query.has("prompt") || query.has("lanes");
    const wanted = query.get("with") ?? (isLink ? null : readFromTab(MODEL_KEY));
    if (wanted && wanted !== this.chosen && isOffered(wanted)) this.choose(wanted, isLink);
  }

  /** Choose a model that takes any prompt, if one is here, for a prompt that the visitor writes. */
  followVisitor() {
    const { models } = this.value;
    if (models.find(({ name }) => name === this.chosen)?.isChat) return;
    const model = models.find(({ isHere, isChat }) => isHere && isChat);
    if (model) this.choose(model.name);
  }

  /** Choose the model of the recorded run that was opened. */
  followRun() {
    const run = playerOf(document)?.run;
    if (!run?.isRecorded || run.id === "opening" || run.model === this.chosen) return;
    const model = this.value.models.find(({ name }) => name === run.model);
    if (model?.isHere) this.choose(model.name, true);
  }
}

export const mountModelSwitch: Mount = ({ value, trigger, signal }) => {
  const view = new Switch(JSON.parse(value), trigger);
  /** Put the switch into the header, which may be mounted after this view. */
  function place() {
    const model = document.querySelector(".sbd-header .sbd-model");
    if (model) model.before(view.root);
    else if (!signal.aborted) requestAnimationFrame(place);
  }
  place();
  view.followAddress();
  document.addEventListener("sbd-run", () => view.followRun(), { signal });
  onAskForChat(() => view.followVisitor(), signal);
  const fold = (event: Event) => {
    const isInside = event.target instanceof Node && view.root.contains(event.target);
    if (event instanceof KeyboardEvent ? event.key === "Escape" : !isInside)
      view.setAboutOpen(false);
  };
  for (const type of ["click", "keydown"]) document.addEventListener(type, fold, { signal });
  signal.addEventListener("abort", () => {
    view.root.remove();
    setModels([], "");
  });
  return (text) => view.take(JSON.parse(text));
};
