// The page, with a server or without: gives every view its data, and begins with what the address asks for.

import { mountCharts } from "./charts.ts";
import { mountCompare } from "./compare/view.ts";
import { find } from "./dom/elements.ts";
import { followScheme } from "./dom/screen.ts";
import { currentView, onViewChange, playerOf } from "./dom/views.ts";
import { mountEngineChoice } from "./engine_choice.ts";
import { form, keptPrompt } from "./form/form.ts";
import { mountStatusLine } from "./form/status.ts";
import { mountForm, mountPresets, mountSamples, takeModel } from "./form/view.ts";
import { mountWays } from "./form/ways.ts";
import { mountGallery } from "./gallery.ts";
import {
  chooseByAddress,
  mountFooter,
  mountHeader,
  mountModelSwitch,
  mountUntrained,
  onChosen,
  onWanted,
} from "./head.ts";
import { mountHome } from "./home.ts";
import { onSettled } from "./in_browser.ts";
import { doJob } from "./jobs.ts";
import { mountLearn } from "./learn/view.ts";
import { allModels, chosenModel, currentModel, type Model, setModels } from "./models.ts";
import { mountRoofline } from "./roofline/view.ts";
import { restoreRun } from "./saved_run.ts";
import { askServer, type Functions } from "./server.ts";
import { formOfAddress, isLink, queryOfAddress } from "./share/permalink.ts";
import { mountPlayer } from "./watch/player.ts";
import { askForHeaders } from "./zero_gpu.ts";

/** The data of the page, see page_html in ui/page.py. server: null without one */
type Data = { models: Model[]; views: Record<string, string>; server: Functions | null };

const { signal } = new AbortController(); // the page's views stay as long as the page

/** Milliseconds between two questions about models: while one is loaded or wanted, and else. */
const [SOON_MS, LATER_MS] = [1500, 20_000];

/** Ask the server how its models are, now and as long as that may change. */
function watchModels() {
  let timer = 0;
  let wanted = "";
  async function ask() {
    clearTimeout(timer);
    try {
      setModels(await askServer("models", { wanted: chosenModel() }));
      form.model = currentModel() ?? null;
    } catch {
      // The server is away; what is known stays.
    }
    const models = allModels();
    const isSoon = wanted !== "" || !currentModel()?.isDone;
    const isOpen = models.some((model) => model.absence || (model.isTrained && !model.export));
    if (isSoon || isOpen) timer = window.setTimeout(ask, isSoon ? SOON_MS : LATER_MS);
  }
  onWanted((name) => {
    const isNew = name !== wanted;
    wanted = name;
    if (isNew && name) void ask();
  }, signal);
  onChosen(() => void ask(), signal);
  void ask();
}

/** Start the service worker, which stores a page without a server, after the engine's start. */
function keepForLater() {
  if (!("serviceWorker" in navigator && window.isSecureContext)) return;
  const once = new AbortController();
  onSettled(() => {
    once.abort();
    navigator.serviceWorker.register("sw.js").catch(() => {});
  }, once.signal);
}

/** Give the form the prompt of the chosen model, unless the visitor has written another. */
function changePrompt() {
  const run = playerOf(document)?.run;
  const known = [
    ...allModels().map((model) => model.form.prompt),
    run?.isRecorded && run.prompt,
    "",
  ];
  const prompt = currentModel()?.form.prompt;
  if (prompt && known.includes(form.prompt)) form.set({ prompt });
}

function begin() {
  const base = new URL(document.baseURI);
  // Behind a proxy the address of the page may lack its slash, and links within the page start from the base.
  if (base.pathname !== location.pathname && document.querySelector("base"))
    history.replaceState(history.state, "", base.pathname + location.search + location.hash);
  followScheme();
  const { models, views, server }: Data = JSON.parse(
    find(document, "#sbd-values").textContent ?? "{}",
  );
  const at = (name: string) => find(document, `#sbd-${name}`);
  const value = (name: string) => views[name] ?? "";
  setModels(models);
  if (server === null) keepForLater();
  else askForHeaders();

  mountHeader(at("header"), signal);
  mountModelSwitch(signal);
  mountHome(at("home"), value("home"), signal);
  mountLearn(at("learn"), value("learn"), signal);
  mountPresets(at("presets"), signal);
  mountForm(at("controls"), signal);
  mountSamples(at("samples"), signal);
  mountStatusLine(at("status-line"), signal);
  mountWays(at("ways"), signal);
  const place = mountEngineChoice(at("engine-choice"), server, signal);
  const player = mountPlayer(at("player"), value("player"), server !== null, signal);
  const compare = mountCompare(at("compare"), value("compare"), signal);
  mountGallery(at("gallery"), value("gallery"));
  mountFooter(at("footer"), value("footer"), signal);
  mountCharts(at("charts"), value("charts"), signal);
  mountRoofline(at("roofline"), value("roofline"), signal);
  if (server) mountUntrained(at("untrained"), signal);
  onChosen(({ model, keepsSettings }) => {
    takeModel(model, keepsSettings);
    if (!keepsSettings) changePrompt();
  }, signal);

  const kept = keptPrompt();
  const [first] = models;
  if (first) form.takeModel(first, false);
  form.set({ prompt: first?.form.prompt });
  chooseByAddress();
  if (isLink()) form.set(formOfAddress());
  else form.set({ prompt: kept || null });
  if (server) watchModels();
  onViewChange(() => document.body.setAttribute("data-sbd-ready", ""), signal);
  if (linkedView() === "compare" || !restoreRun(player)) void followLink(place, compare);
  else if (place.isInBrowser) void place.warm();
}

/** Return the view in front if the address asks for a decode or a comparison there, else "". */
function linkedView() {
  const name = queryOfAddress().has("lanes") ? "compare" : "watch";
  return isLink() && currentView() === name ? name : "";
}

/** Do what the address asks for: a decode or a comparison, unless its hash names another view. */
async function followLink(
  place: ReturnType<typeof mountEngineChoice>,
  compare: ReturnType<typeof mountCompare>,
) {
  const view = linkedView();
  if (!view) {
    if (place.isInBrowser) void place.warm();
  } else if (!(await place.refusesLink())) {
    if (view === "compare") compare.startLink();
    else {
      // A number that is none is not the form's, and is refused; a model that the page lacks is its first.
      const { model, ...asked } = formOfAddress();
      doJob({ kind: "decode", form: { ...form.request, ...asked } });
    }
  }
}

// For tests, which run this bundle under Node.
export * from "./core/cost.ts";
export * from "./core/figures.ts";
export * from "./core/mask.ts";
export * from "./core/run.ts";
export * from "./core/trace.ts";

if (typeof document !== "undefined") begin();
