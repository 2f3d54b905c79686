// Says in one line of text whether Decode runs on the server or in this browser, and how fast; a button switches.
// Also moves a decode to this browser when many visitors wait or the server does not answer.

import constants from "./constants.json" with { type: "json" };
import { elementOf, find, make, setText } from "./dom/elements.js";
import { decodeButtons, fileAddress, rootAddress } from "./dom/gradio.js";
import { storedName } from "./dom/stored_names.js";
import { makeTermNote, question } from "./dom/terms.js";
import { currentView, playerOf } from "./dom/views.js";
import { findStores } from "./engine/files.js";
import { findAdapter } from "./engine/runtime.js";
import { readForm } from "./form/fields.js";
import { onNumAhead, sayStatus } from "./form/status.js";
import { showBrowserModel } from "./head.js";
import { Decoder, inBrowser, onSettled } from "./in_browser.js";
import { isOffered } from "./models.js";
import { savedRunsFlag } from "./saved_runs_flag.js";
import { formOfAddress, queryOfAddress, replaceAddress } from "./share/permalink.js";

/** @import { Form } from "./engine/session.js" */
/** @import { Source, Job } from "./engine/worker.js" */
/** @import { Mount } from "./stub.js" */

/** An exported model. base: the path of its folder; bytes: the size of its download. @typedef {{ name: string, base: string, bytes: number }} Exported */
/**
 * The page's model and the engine's script. is_only: whether the page is static, without a server; paths then start
 * from the page. models: all models of a static page that has several; the first is the page's model.
 * @typedef {Exported & { script: string, is_only?: boolean, models?: (Exported & { title: string })[] }} Setting
 */

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

/** Engines by their names in the address; undefined lets the worker choose. @type {Record<string, Source["engine"]>} */
const ENGINES = { browser: undefined, gpu: "webgpu", processor: "wasm" };

/** Return the addresses of the engine's script and of the model. @param {Setting} setting */
function addressesOf({ is_only: isStatic = false, name, script, base }) {
  const own = sourceOf(name, (isStatic ? pageAddress : rootAddress)(base));
  return {
    script: (isStatic ? pageAddress : fileAddress)(script),
    source: modelInAddress(isStatic) ?? own,
  };
}

/**
 * Return a model with the engine in the address.
 * @param {string} name
 * @param {string} base
 * @param {string} [key] what its stores are called: a name for the page's own models, their address for others, as
 *   anybody may give a model any name
 * @returns {Source}
 */
function sourceOf(name, base, key = name) {
  return { name, base, storePrefix: storePrefixOf(key), engine: ENGINES[engineInAddress()] };
}

/** Return the name of a model's stores, before the export's digest. @param {string} key see sourceOf() */
function storePrefixOf(key) {
  return storedName(`model ${key}`);
}

/** Return the name of the engine in the address; "" for none. */
function engineInAddress() {
  const name = queryOfAddress().get("engine") ?? "";
  return name in ENGINES ? name : "";
}

/**
 * Return the exported model that ?model= in the address names, on any host that lets this page read it; null for
 * none. On a page with a server the address must also have ?engine=, as the server decodes with its own model.
 * @param {boolean} isStatic
 * @returns {Source | null}
 */
function modelInAddress(isStatic) {
  const address = queryOfAddress().get("model");
  if (!address || !(isStatic || engineInAddress())) return null;
  const path = address.endsWith("/") ? address : `${address}/`;
  const base = pageAddress(URL.canParse(path, document.baseURI) ? path : "no-model/");
  return sourceOf(new URL(base).pathname.split("/").at(-2) ?? "model", base, base);
}

/** Return the full address of a path that starts from this page. @param {string} path */
function pageAddress(path) {
  return new URL(path, document.baseURI).href;
}

/** Format a number in millions. @param {number} count */
function formatMillions(count) {
  return (count / 1e6).toFixed(1);
}

/** Format a size in megabytes. @param {number} bytes */
function formatMegabytes(bytes) {
  return `${formatMillions(bytes)} MB`;
}

/** Keep an event from the rest of the page. @param {Event} event */
function preventAll(event) {
  event.stopPropagation();
  event.preventDefault();
}

class EngineChoice {
  /** @param {HTMLElement} root @param {Setting} setting @param {AbortSignal} signal */
  constructor(root, setting, signal) {
    this.setting = setting;
    this.root = root;
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
    /** The server's last decode, which this browser may take over; null for none. @type {Form | null} */
    this.serverForm = null;
    this.isWarming = false;
    /** Whether this browser can decode on a GPU. */
    this.hasGpu = false;
    /** What this browser has stored of the model: caches, and whether one is complete. @type {{ stores: string[], isWhole: boolean }} */
    this.stored = NOTHING_STORED;
    /** Where Decode runs, in words, and the speed of the last run there. */
    this.speed = { who: "", words: "" };
    /** Ids of the complete runs seen so far. @type {Set<string>} */
    this.ended = new Set();
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
      if (!model || storePrefixOf(name) === this.decoder.engine.addresses.source.storePrefix)
        return;
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
    this.stored = await findStores(storePrefixOf(this.setting.name));
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
    const isOther = source.storePrefix !== storePrefixOf(name);
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

  /**
   * Handle a click on Decode or Stop, which must not reach the server while this browser decodes.
   * @param {Event} event
   */
  click(event) {
    const button = elementOf(event)?.closest("button");
    const [go, stop] = decodeButtons();
    if (button && button === go) this.go(event);
    else if (button && button === stop && this.decoder.isOn && this.decoder.isBusy) {
      preventAll(event);
      this.decoder.stop();
    }
  }

  /** Handle Shift+Enter, which sends the prompt. @param {KeyboardEvent} event */
  press(event) {
    if (event.key !== "Enter" || !event.shiftKey || currentView() === "compare") return;
    if (elementOf(event)?.closest("#sbd-prompt-box")) this.go(event);
  }

  /** Decode here, or watch whether the server does. @param {Event} event */
  go(event) {
    if (!this.decoder.isOn) return this.watchServer(readForm());
    preventAll(event);
    if (!this.decoder.isBusy) this.decoder.take({ kind: "decode", form: readForm() });
  }

  /**
   * Check that the server answers a decode, and load a small model in case it does not.
   * @param {Form} form the decode that the server was asked for
   */
  watchServer(form) {
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

  /** Take over if the server does not answer. @param {Form} form the decode that it was asked for */
  async checkServer(form) {
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

  /** Decode here what the server was asked for. @param {string} words tell the visitor why */
  async takeOver(words) {
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

  /** Whether a job is for a model that only the server has. @param {Job} job */
  isForServer(job) {
    const model = job.kind === "decode" ? String(job.form.model ?? "") : "";
    return this.root.hidden || (isOffered(model) && model !== this.setting.name);
  }

  /**
   * Use the model that the visitor has chosen.
   * @param {Setting | null} setting null for a model that browsers cannot decode with
   */
  offer(setting) {
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
    if (!isSmall && !(await findStores(storePrefixOf(setting.name))).isWhole) {
      if (asksForDecode) sayStatus(LINKED);
    } else if (asksForDecode) {
      decoder.state = "coming";
      decoder.take({ kind: "decode", form: formOfAddress() });
    } else if (!setting.is_only || isSmall) {
      void decoder.turnOn();
    }
  }
}

/** @type {Mount} */
export function mountEngineChoice({ element, value, signal }) {
  const root = find(element, ".sbd-engine-choice");
  /** @type {EngineChoice | null} */
  let view = null;
  /** @param {string} text a Setting as JSON; "" while browsers cannot decode with the model */
  const take = (text) => {
    /** @type {Setting | null} */
    const setting = text ? JSON.parse(text) : null;
    if (view) view.offer(setting);
    else if (setting) {
      view = new EngineChoice(root, setting, signal);
      void view.followAddress();
    }
  };
  take(value);
  return take;
}
