// Says in one line of text whether Decode runs on the server or in this browser, and how fast; a button switches.
// Also moves a decode to this browser when many visitors wait or the server does not answer.

import constants from "./constants.json" with { type: "json" };
import { elementOf, find, make, setText } from "./dom/elements.ts";
import { decodeButtons, fileAddress, rootAddress } from "./dom/gradio.ts";
import { makeTermNote, question } from "./dom/terms.ts";
import { currentView, playerOf } from "./dom/views.ts";
import { findStores } from "./engine/files.ts";
import { findAdapter } from "./engine/runtime.ts";
import type { Form } from "./engine/session.ts";
import type { Job, Source } from "./engine/worker.ts";
import { readForm } from "./form/fields.ts";
import { onNumAhead, sayStatus } from "./form/status.ts";
import { showBrowserModel } from "./head.ts";
import { Decoder, inBrowser, onSettled } from "./in_browser.ts";
import { isOffered } from "./models.ts";
import { savedRunsFlag } from "./saved_runs_flag.ts";
import { formOfAddress, queryOfAddress, replaceAddress } from "./share/permalink.ts";
import type { Mount } from "./stub.ts";

/** An exported model. base: the path of its folder; bytes: the size of its download. */
type Exported = { name: string; base: string; bytes: number };
/**
 * The page's model and the engine's script. is_only: whether the page is static, without a server; paths then start
 * from the page. models: all models of a static page that has several; the first is the page's model.
 */
type Setting = Exported & {
  script: string;
  is_only?: boolean;
  models?: (Exported & { title: string })[];
};

const NOTHING_STORED = { stores: [], isWhole: false };
const MAX_AHEAD = 2;
const ANSWER_MS = 2500;
const WARM_AFTER_MS = 5000;
/** The largest model that is downloaded before the visitor asks for it. */
const MAX_UNREQUESTED_BYTES = 20_000_000;
const REMOVE = "Delete the model from this browser";
const PREPARING = "Preparing the model …";
const NOT_STORED = "Your browser has no room to keep the model for later.";
const ROUNDED =
  "A browser holds this model’s weights in 8 bits, a server perhaps in more: so its words may differ from the " +
  "server’s. Verify keeps those of next-token prediction in the same browser.";
const LINKED = "The model of this link is not in your browser yet: press Decode.";
const LONG_LINE = "The line is long, so your browser decodes.";
const ALONE = "Open this page on its own to decode with more threads";

/** Engines by their names in the address; undefined lets the worker choose. */
const ENGINES: Record<string, Source["engine"]> = {
  browser: undefined,
  gpu: "webgpu",
  processor: "wasm",
};

/** Return the addresses of the engine's script and of the model. */
function addressesOf({ is_only: isStatic = false, name, script, base }: Setting) {
  const own = sourceOf(name, (isStatic ? pageAddress : rootAddress)(base));
  return {
    script: (isStatic ? pageAddress : fileAddress)(script),
    source: modelInAddress(isStatic) ?? own,
  };
}

/** Return a model with the engine in the address. */
function sourceOf(name: string, base: string): Source {
  return { name, base, engine: ENGINES[engineInAddress()] };
}

/** Return the name of the engine in the address; "" for none. */
function engineInAddress() {
  const name = queryOfAddress().get("engine") ?? "";
  return name in ENGINES ? name : "";
}

/**
 * Return the exported model that ?model= in the address names, on any host that lets this page read it; null for
 * none. On a page with a server the address must also have ?engine=, as the server decodes with its own model.
 */
function modelInAddress(isStatic: boolean): Source | null {
  const address = queryOfAddress().get("model");
  if (!address || !(isStatic || engineInAddress())) return null;
  const path = address.endsWith("/") ? address : `${address}/`;
  const base = pageAddress(URL.canParse(path, document.baseURI) ? path : "no-model/");
  return sourceOf(new URL(base).pathname.split("/").at(-2) ?? "model", base);
}

/** Return the full address of a path that starts from this page. */
function pageAddress(path: string) {
  return new URL(path, document.baseURI).href;
}

/** Format a number in millions. */
function formatMillions(count: number) {
  return (count / 1e6).toFixed(1);
}

/** Format a size in megabytes. */
function formatMegabytes(bytes: number) {
  return `${formatMillions(bytes)} MB`;
}

/** Keep an event from the rest of the page. */
function preventAll(event: Event) {
  event.stopPropagation();
  event.preventDefault();
}

class EngineChoice {
  setting: Setting;
  words: HTMLSpanElement;
  button: HTMLButtonElement;
  bar: HTMLProgressElement;
  deleteButton: HTMLButtonElement;
  bench: HTMLPreElement;
  wordsQuestion: HTMLElement;
  decoder: Decoder;
  /** The server's last decode, which this browser may take over; null for none. */
  serverForm: Form | null = null;
  isWarming = false;
  /** Whether this browser can decode on a GPU. */
  hasGpu = false;
  /** What this browser has stored of the model: caches, and whether one is complete. */
  stored: { stores: string[]; isWhole: boolean } = NOTHING_STORED;
  /** Where Decode runs, in words, and the speed of the last run there. */
  speed: { who: string; words: string };
  /** Ids of the complete runs seen so far. */
  ended: Set<string> = new Set();

  constructor(
    readonly root: HTMLElement,
    setting: Setting,
    signal: AbortSignal,
  ) {
    this.setting = setting;
    this.words = make("span", "sbd-engine-choice-words", { role: "status" });
    this.button = make("button", "sbd-engine-choice-do");
    // In a frame that cannot share memory the engine has only one thread.
    const isFramed = window.top !== window.self && !window.crossOriginIsolated;
    const alone = make("a", "", { href: window.location.href, target: "_blank" }, ALONE);
    alone.hidden = !(isFramed && setting.is_only);
    this.bar = make("progress", "sbd-engine-choice-bar", { "aria-label": "Fetched" });
    this.deleteButton = make(
      "button",
      "sbd-engine-choice-do",
      REMOVE,
      () => void this.deleteModel(),
    );
    this.bench = make("pre", "sbd-engine-choice-bench");
    this.wordsQuestion = question("its words", ROUNDED);
    const acts = [this.button, this.deleteButton, alone, this.bench];
    const note = makeTermNote(root, signal);
    root.replaceChildren(this.words, this.wordsQuestion, this.bar, ...acts, note);
    this.decoder = new Decoder(addressesOf(setting), () => this.draw(), setting.is_only ?? false);
    this.speed = { who: "", words: "" };
    this.button.addEventListener("click", () => {
      if (this.setting.is_only && this.decoder.state === "coming") this.decoder.cancel();
      else this.toggle();
      void this.inspectBrowser();
    });
    inBrowser.take = (job) => {
      const isTaken = !this.isForServer(job) && this.decoder.take(job);
      if (!isTaken && job.kind === "decode") this.watchServer(job.form);
      return isTaken;
    };
    inBrowser.isOn = () => this.decoder.isOn;
    inBrowser.choose = (name) => {
      const model = setting.models?.find((each) => each.name === name);
      if (!model || name === this.decoder.engine.addresses.source.name) return;
      this.setting = { ...this.setting, ...model };
      this.stored = NOTHING_STORED;
      this.decoder.use(sourceOf(name, pageAddress(model.base)));
      void this.followAddress();
      void this.inspectBrowser();
    };
    onSettled(() => void this.inspectBrowser(), signal);
    onNumAhead((count) => void (count > MAX_AHEAD && this.takeOver(LONG_LINE)), signal);
    document.addEventListener("sbd-run", () => this.showSpeed(), { signal });
    document.addEventListener("click", (event) => this.click(event), { capture: true, signal });
    document.addEventListener("keydown", (event) => this.press(event), { capture: true, signal });
    signal.addEventListener("abort", () => {
      this.decoder.engine.end();
      [inBrowser.take, inBrowser.isOn, inBrowser.choose] = [null, null, null];
    });
    this.draw();
    void this.inspectBrowser();
  }

  /** Find out whether this browser has a GPU, and what it has stored of the model. */
  async inspectBrowser() {
    this.hasGpu = (await findAdapter(engineInAddress() === "gpu")) !== null;
    this.stored = await findStores(this.setting.name);
    this.draw();
  }

  async deleteModel() {
    this.decoder.cancel();
    const address = new URL(window.location.href);
    address.searchParams.delete("engine"); // otherwise a reload would fetch the model again
    if (!this.setting.is_only) replaceAddress(address);
    for (const name of this.stored.stores) await caches.delete(name);
    await this.inspectBrowser();
    sayStatus("The model was deleted from this browser.");
  }

  /** Show where Decode runs, what the model needs, and what the buttons do now. */
  draw() {
    const { state, isOn, ready, engine, bench } = this.decoder;
    const { is_only: isStatic, name, bytes } = this.setting;
    const { stores, isWhole } = this.stored;
    const { source } = engine.addresses;
    const isOther = source.name !== name;
    const isLarge = bytes > MAX_UNREQUESTED_BYTES;
    const isComing = state === "coming";
    const isFetched = !isOther && engine.bytes >= bytes;
    const size = formatMegabytes(bytes);
    const memory = Math.round((bytes * constants.memoryOfDownload) / 1e7) * 10;
    const taken = isLarge ? `${size}, about ${memory} MB of memory` : size;
    const first = isWhole ? "loads the model" : `fetches the model first, ${taken},`;
    const waits = `Decode ${first} and then runs in your browser`;
    const elsewhere = isStatic ? waits : "Decode runs on the server";
    const amount = isOther
      ? formatMegabytes(engine.bytes)
      : `${formatMillions(engine.bytes)} of ${size}`;
    const loading = `${isWhole ? "Loading" : "Fetching"} the model: ${amount}`;
    const { gpu = "", why = "", canStore = true } = (state === "on" && ready) || {};
    const on = gpu ? `on your GPU (${gpu})` : "on your processor";
    const who = {
      off: elsewhere,
      coming: isFetched ? PREPARING : loading,
      on: `Decode runs in your browser${isOther ? ` by ${source.name}` : ""}, ${on}`,
      failed: elsewhere,
    }[state];
    if (this.speed.who !== who) this.speed = { who, words: "" };
    const notes = [why, canStore ? "" : NOT_STORED].filter(Boolean);
    const more = notes.length ? `. ${notes.join(" ")}` : "";
    setText(this.words, `${who}${this.speed.words}${more}`);
    this.words.dataset.state = state;
    this.bar.hidden = !isComing || isOther || isFetched;
    this.bar.max = bytes;
    this.bar.value = engine.bytes;
    this.deleteButton.hidden = !(isLarge && stores.length) || isComing;
    this.wordsQuestion.hidden = !(isLarge && state === "on");
    setText(this.bench, bench);
    const parameters = `${formatMillions(ready?.numParameters ?? 0)} M parameters`;
    showBrowserModel(isOn && ready ? `${ready.name} · ${parameters} · in your browser` : "");
    const offers = isLarge && this.hasGpu && !isComing && state !== "on";
    const once = isWhole ? "" : `, a download of ${taken}`;
    const useBrowser = `Use your browser${isLarge ? once : ""}`;
    const offered = offers ? `Run it on your own GPU${once}` : useBrowser;
    const instead = isComing ? "Cancel" : "Use the server";
    setText(this.button, isComing || (isOn && !isStatic) ? instead : offered);
    this.button.hidden = isStatic === true && !isComing && !offers;
  }

  /** Show the speed of the player's run once it is complete. */
  showSpeed() {
    const run = playerOf(document)?.run;
    if (!run?.isComplete || run.isRecorded || this.ended.has(run.id)) return;
    this.ended.add(run.id);
    const { seconds, wholeTokens } = run.numbersAt(run.main.lastPass);
    if (!seconds || !wholeTokens || run.isOfBrowser !== this.decoder.isOn) return;
    const speed = wholeTokens / seconds;
    this.speed.words = `, ${speed.toPrecision(speed < 100 ? 2 : 3)} tokens a second`;
    this.draw();
  }

  /** Switch between the server and this browser. */
  toggle() {
    const { decoder } = this;
    const address = new URL(window.location.href);
    if (decoder.isOn && !this.setting.is_only) {
      decoder.turnOff();
      address.searchParams.delete("engine");
    } else {
      void navigator.storage?.persist?.().catch(() => false);
      void decoder.turnOn();
      if (!this.setting.is_only) address.searchParams.set("engine", "browser");
    }
    replaceAddress(address);
  }

  /** Handle a click on Decode or Stop, which must not reach the server while this browser decodes. */
  click(event: Event) {
    const button = elementOf(event)?.closest("button");
    const [go, stop] = decodeButtons();
    if (button && button === go) this.go(event);
    else if (button && button === stop && this.decoder.isOn && this.decoder.isBusy) {
      preventAll(event);
      this.decoder.stop();
    }
  }

  /** Handle Shift+Enter, which sends the prompt. */
  press(event: KeyboardEvent) {
    if (event.key !== "Enter" || !event.shiftKey || currentView() === "compare") return;
    if (elementOf(event)?.closest("#sbd-prompt-box")) this.go(event);
  }

  /** Decode here, or watch whether the server does. */
  go(event: Event) {
    if (!this.decoder.isOn) return this.watchServer(readForm());
    preventAll(event);
    if (!this.decoder.isBusy) this.decoder.take({ kind: "decode", form: readForm() });
  }

  /**
   * Check that the server answers a decode, and load a small model in case it does not.
   * @param form the decode that the server was asked for
   */
  watchServer(form: Form) {
    if (this.root.hidden) return;
    this.serverForm = form;
    void this.checkServer(form);
    const isThrifty = Reflect.get(navigator, "connection")?.saveData === true;
    if (this.isWarming || isThrifty || this.setting.bytes > MAX_UNREQUESTED_BYTES) return;
    this.isWarming = true;
    setTimeout(() => {
      // The visitor did not ask for this, so a failure is not shown.
      if (this.decoder.state === "off") this.decoder.engine.load().catch(() => {});
    }, WARM_AFTER_MS);
  }

  /** Take over if the server does not answer. @param form the decode that it was asked for */
  async checkServer(form: Form) {
    try {
      const signal = AbortSignal.timeout(ANSWER_MS);
      await fetch(this.decoder.engine.addresses.script, {
        method: "HEAD",
        cache: "no-store",
        signal,
      });
    } catch (error) {
      // After a timeout the server may still answer; after any other error it will not.
      const isSlow = error instanceof DOMException && error.name === "TimeoutError";
      if (!isSlow && this.serverForm === form)
        void this.takeOver("The server does not answer, so your browser decodes.");
    }
  }

  /** Decode here what the server was asked for. @param words tell the visitor why */
  async takeOver(words: string) {
    const { serverForm, decoder } = this;
    if (!serverForm || decoder.isOn || decoder.state === "failed") return;
    // A large model is only downloaded when the visitor asks for it.
    if (this.setting.bytes > MAX_UNREQUESTED_BYTES && !decoder.ready) return;
    this.serverForm = null;
    if (!(await decoder.turnOn())) return;
    const [, stop] = decodeButtons();
    if (stop && !stop.disabled) stop.click();
    decoder.take({ kind: "decode", form: serverForm });
    sayStatus(words);
  }

  /** Whether a job is for a model that only the server has. */
  isForServer(job: Job) {
    const model = job.kind === "decode" ? String(job.form.model ?? "") : "";
    return this.root.hidden || (isOffered(model) && model !== this.setting.name);
  }

  /**
   * Use the model that the visitor has chosen.
   * @param setting null for a model that browsers cannot decode with
   */
  offer(setting: Setting | null) {
    this.root.hidden = !setting;
    const isOther = setting?.name !== this.setting.name || setting.base !== this.setting.base;
    if (!isOther) return;
    this.serverForm = null;
    if (this.decoder.isOn) this.toggle();
    if (!setting) return;
    this.setting = setting;
    this.decoder.use(addressesOf(setting).source);
  }

  /** Do what the address asks for: its decode, unless the tab has stored its runs, or a measurement. */
  async followAddress() {
    const { decoder, setting } = this;
    if (!engineInAddress() && !setting.is_only) return;
    if (window.location.hash === "#bench") {
      if (await decoder.turnOn()) decoder.engine.send({ kind: "bench" });
      return;
    }
    const query = queryOfAddress();
    const asksForDecode = query.has("prompt") && !query.has("lanes") && !savedRunsFlag()[1];
    const isSmall = setting.bytes <= MAX_UNREQUESTED_BYTES;
    if (!isSmall && !(await findStores(setting.name)).isWhole) {
      if (asksForDecode) sayStatus(LINKED);
    } else if (asksForDecode) {
      decoder.state = "coming";
      decoder.take({ kind: "decode", form: formOfAddress() });
    } else if (!setting.is_only || isSmall) {
      void decoder.turnOn();
    }
  }
}

export const mountEngineChoice: Mount = ({ element, value, signal }) => {
  const root = find(element, ".sbd-engine-choice");
  let view: EngineChoice | null = null;
  /** @param text a Setting as JSON; "" while browsers cannot decode with the model */
  const take = (text: string) => {
    const setting: Setting | null = text ? JSON.parse(text) : null;
    if (view) view.offer(setting);
    else if (setting) {
      view = new EngineChoice(root, setting, signal);
      void view.followAddress();
    }
  };
  take(value);
  return take;
};
