// The header and footer of every view: links, the switch between models, and a notice about a model that was not trained
// for Set Block Decoding.

import { html, render } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { PAPER_PAGE } from "./core/words.ts";
import { elementOf, find, make, setAttribute, setText } from "./dom/elements.ts";
import { pageAddress, readFromTab, storeInTab } from "./dom/page.ts";
import { buttonTemplate, iconTemplate, questionTemplate } from "./dom/templates.ts";
import { makeTermNote } from "./dom/terms.ts";
import {
  type Channel,
  channel,
  followAddress,
  onAskForChat,
  onViewChange,
  playerOf,
  showView,
} from "./dom/views.ts";
import {
  allModels,
  chosenModel,
  currentModel,
  isOffered,
  type Model,
  modelNamed,
  onModels,
  setChosen,
} from "./models.ts";
import { isLink, queryOfAddress } from "./share/permalink.ts";

/** A line on the model that decodes in this browser; "" while the server decodes. */
let browserModel = "";

/** Another model was chosen. */
const { say: sayChosen, hear: onChosen }: Channel<{ model: Model; keepsSettings: boolean }> =
  channel();
/** The visitor wants a model that is not here. */
const { say: sayWanted, hear: onWanted }: Channel<string> = channel();

export { onChosen, onWanted };

/** Show the view of a link that was clicked; with a modifier key held the browser opens the link itself. */
function follow(event: MouseEvent) {
  const link = elementOf(event)?.closest("a[data-view]");
  const isUnmodified = !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!(link instanceof HTMLElement) || !isUnmodified) return;
  event.preventDefault();
  showView(link.dataset.view ?? "");
}

export function mountHeader(element: HTMLElement, signal: AbortSignal) {
  const menu = find(element, ".sbd-menu");
  const nav = find(element, ".sbd-views");
  menu.replaceChildren();
  render(iconTemplate("menu"), menu);
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
  onModels(drawModel, signal);
  drawModel();
}

function drawModel() {
  const line = document.querySelector(".sbd-header .sbd-model");
  if (line) setText(line, browserModel || (currentModel()?.line ?? ""));
}

/** Describe the model that decodes in this browser. @param words "" while the server decodes */
export function showBrowserModel(words: string) {
  browserModel = words;
  drawModel();
}

const ADDED =
  "Not in the paper are: verify, which checks every draft before it counts, so the answer is that of " +
  "next-token prediction; the solvers “entropy bound from the left”, which also reveals the leftmost mask " +
  "in every forward pass, and “causal token first”, which takes a block’s first token from next-token " +
  "prediction; pins, branches and blanks; Roofline’s corrected count; models for a CPU and a browser.";
const REACHED =
  "The paper reports 3 to 5 times fewer forward passes for its Llama-3.1 8B and Qwen-3 8B. With its " +
  "lower γ they lose at most 3.3 points on any benchmark of Table 1, at 3.0 and 3.2 tokens per " +
  "forward pass on average.";

export function mountFooter(element: HTMLElement, value: string, signal: AbortSignal) {
  const { code, card, lesson }: Record<"code" | "card" | "lesson", string> = JSON.parse(value);
  const root = find(element, ".sbd-footer");
  const link = (href: string, text: string) =>
    html`<a href=${href} target="_blank" rel="noopener noreferrer">${text}</a>`;
  const content = html`${link(PAPER_PAGE, "Gat et al. 2025, arXiv 2509.04185")}${
    code ? link(code, "Code") : ""
  }${link(pageAddress(card), "Model card")}<a href=${pageAddress(lesson)} download
      >The lesson as one file</a
    ><span
      >The paper and this page${questionTemplate("what is added and reached", `${REACHED} ${ADDED}`)}</span
    >`;
  render(content, root);
  makeTermNote(root, signal);
}

export function mountUntrained(element: HTMLElement, signal: AbortSignal) {
  function show() {
    const words = currentModel()?.untrained;
    element.hidden = !words;
    if (!words) return;
    setText(find(element, ".sbd-untrained-name"), words.name);
    setText(find(element, ".sbd-untrained-words"), words.words);
    // In an element of its own, a line is selected as a whole by a click.
    const lines = words.lines.map((line) => html`<code>${line}</code>`);
    render(lines, find(element, ".sbd-untrained-lines"));
  }
  onModels(show, signal);
  show();
}

const MODEL_KEY = "model";

/** Choose a model. @param keepsSettings whether the form keeps its settings, except for the model */
export function chooseModel(name: string, keepsSettings: boolean = false) {
  const model = modelNamed(name);
  if (!model) return;
  sayWanted(model.absence ? name : "");
  if (model.absence) return;
  storeInTab(MODEL_KEY, name);
  if (name === chosenModel()) return;
  setChosen(name);
  sayChosen({ model, keepsSettings });
}

class Switch {
  wanted = ""; // the model that the visitor wants and that is not here yet; "" for none
  isAboutOpen = false;
  root = make("div", "sbd-models-root");

  constructor(signal: AbortSignal) {
    onWanted((name) => {
      this.wanted = name;
      this.draw();
    }, signal);
    onModels(() => this.draw(), signal);
    this.draw();
  }

  draw() {
    const { wanted, isAboutOpen } = this;
    const absence = modelNamed(wanted)?.absence;
    if (wanted && !absence) return chooseModel(wanted); // it has come
    const other = currentModel()?.title ?? "";
    const choice = ({ name, title, about }: Model) =>
      html`<label title="${title} ${about}."
        ><input
          type="radio"
          name="sbd-model"
          value=${name}
          .checked=${live(name === chosenModel())}
          @change=${() => chooseModel(name)}
        />${title}</label>`;
    const about = { label: "About the models", isExpanded: isAboutOpen };
    const content = html`<div class="sbd-models" role="radiogroup" aria-label="Model"
        >${allModels().map(choice)}</div
      >${buttonTemplate("sbd-models-more", "⋯", () => this.setAboutOpen(!isAboutOpen), about)}
      <div class="sbd-models-about" ?hidden=${!isAboutOpen}
        >${allModels().map(({ title, about }) => html`<p><strong>${title}</strong> ${about}.</p>`)}</div
      >
      <p class="sbd-models-line" ?hidden=${!wanted}
        ><span role="status">${wanted ? `${absence} Until then ${other} decodes.` : ""}</span
        >${buttonTemplate("", "Not now", () => sayWanted(""))}</p>`;
    render(content, this.root);
  }

  setAboutOpen(isOpen: boolean) {
    this.isAboutOpen = isOpen;
    this.draw();
  }
}

/** Choose the model that the address or the tab's storage names; a link without a model is for the first one. */
export function chooseByAddress() {
  const wanted = queryOfAddress().get("with") ?? (isLink() ? null : readFromTab(MODEL_KEY));
  if (wanted && isOffered(wanted)) chooseModel(wanted);
}

/** Put the switch between models into the header, if there are several. */
export function mountModelSwitch(signal: AbortSignal) {
  if (allModels().length < 2) return;
  const view = new Switch(signal);
  find(document, ".sbd-header .sbd-model").before(view.root);
  // A recorded run that was opened chooses its model.
  document.addEventListener(
    "sbd-run",
    () => {
      const run = playerOf(document)?.run;
      const isChosen = run?.isRecorded && run.id !== "opening";
      if (isChosen && modelNamed(run.model)?.absence === "") chooseModel(run.model, true);
    },
    { signal },
  );
  // For a prompt that the visitor writes, a model that takes any, if one is here.
  onAskForChat(() => {
    const model = allModels().find(({ isChat, absence }) => isChat && !absence);
    if (model && !currentModel()?.isChat) chooseModel(model.name);
  }, signal);
  const fold = (event: Event) => {
    const isInside = event.target instanceof Node && view.root.contains(event.target);
    if (event instanceof KeyboardEvent ? event.key === "Escape" : !isInside)
      view.setAboutOpen(false);
  };
  for (const type of ["click", "keydown"]) document.addEventListener(type, fold, { signal });
}
