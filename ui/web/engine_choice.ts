// The choice where Decode runs, on the server or in this browser, as a line of text with a button; says how fast, too.
// A page without a server has no choice.

import { html, nothing, render } from "lit-html";
import constants from "./constants.json" with { type: "json" };
import type { Run } from "./core/run.ts";
import { find } from "./dom/elements.ts";
import { pageAddress, storedName } from "./dom/page.ts";
import { buttonTemplate, questionTemplate } from "./dom/templates.ts";
import { makeTermNote } from "./dom/terms.ts";
import { playerOf } from "./dom/views.ts";
import { findStores } from "./engine/files.ts";
import { findAdapter } from "./engine/runtime.ts";
import type { Job, Source } from "./engine/worker.ts";
import { sayStatus } from "./form/status.ts";
import { showBrowserModel } from "./head.ts";
import { Decoder, onSettled } from "./in_browser.ts";
import { hearNews, setPlace } from "./jobs.ts";
import { currentModel, isOffered, type Model, onModels } from "./models.ts";
import { type Functions, ServerEngine } from "./server.ts";
import { queryOfAddress, replaceAddress } from "./share/permalink.ts";

const NOTHING_STORED = { stores: [], isWhole: false };
/** The largest model that is downloaded before the visitor asks for it. */
const MAX_UNREQUESTED_BYTES = 20_000_000;
const PREPARING = "Preparing the model …";
const NOT_STORED = "Your browser has no room to keep the model for later.";
const ROUNDED =
  "A browser holds this model’s weights in 8 bits, a server perhaps in more: so its words may differ from the " +
  "server’s. Verify keeps those of next-token prediction in the same browser.";
const LINKED = "The model of this link is not in your browser yet: press Decode.";
const SCRIPT = "dist/engine.js";
const LOOK = "sbd-engine-choice-do";
const DELETE = "Delete the model from this browser";

/** Engines by their names in the address; undefined lets the worker choose. */
const ENGINES: Record<string, Source["engine"]> = {
  browser: undefined,
  gpu: "webgpu",
  processor: "wasm",
};

/**
 * Return a model with the engine in the address.
 * @param key what its stores are called: a name for the page's own models, their address for others, as
 * anybody may give a model any name
 */
function sourceOf(name: string, base: string, key: string = name): Source {
  return { name, base, storePrefix: storePrefixOf(key), engine: ENGINES[engineInAddress()] };
}

/** Return the name of a model's stores, before the export's digest. @param key see sourceOf() */
function storePrefixOf(key: string) {
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
 */
function modelInAddress(hasServer: boolean): Source | null {
  const address = queryOfAddress().get("model");
  if (!address || (hasServer && !engineInAddress())) return null;
  const path = address.endsWith("/") ? address : `${address}/`;
  const base = pageAddress(URL.canParse(path, document.baseURI) ? path : "no-model/");
  return sourceOf(new URL(base).pathname.split("/").at(-2) ?? "model", base, base);
}

function formatMillions(count: number) {
  return (count / 1e6).toFixed(1);
}

function formatMegabytes(bytes: number) {
  return `${formatMillions(bytes)} MB`;
}

export class EngineChoice {
  server: ServerEngine | null;
  decoder: Decoder;
  isInBrowser: boolean;
  /** The model for this browser; null where there is none, or before the page has begun. */
  model: Model | null = null;
  hasGpu = false;
  /** What this browser has stored of the model: caches, and whether one is complete. */
  stored: { stores: string[]; isWhole: boolean } = NOTHING_STORED;
  /** The last complete run; null after another model was chosen. */
  timed: Run | null = null;

  /** @param functions of the server; null for a page without one */
  constructor(
    readonly root: HTMLElement,
    functions: Functions | null,
    signal: AbortSignal,
  ) {
    this.server = functions && new ServerEngine(functions, hearNews);
    this.isInBrowser = this.server === null || engineInAddress() !== "";
    const source = modelInAddress(this.server !== null) ?? sourceOf("", "");
    const addresses = { script: pageAddress(SCRIPT), source };
    this.decoder = new Decoder(addresses, hearNews, () => this.draw());
    makeTermNote(root, signal);
    onModels(() => this.follow(), signal);
    onSettled(() => this.settle(), signal);
    document.addEventListener("sbd-run", () => this.showSpeed(), { signal });
    signal.addEventListener("abort", () => this.decoder.end());
    setPlace({ take: (job) => this.take(job) });
    this.follow();
  }

  /** Do a job where the visitor wants it, but for one with a model that only the server has. */
  take(job: Job) {
    const wanted = "form" in job ? String(job.form.model ?? "") : "";
    const isOther = isOffered(wanted) && wanted !== this.model?.name;
    if (this.server && (!this.isInBrowser || !this.model || isOther)) this.server.take(job);
    else this.decoder.take(job);
  }

  follow() {
    const model = currentModel();
    const next = model?.export ? model : null;
    const isSame =
      next?.name === this.model?.name && next?.export?.base === this.model?.export?.base;
    const had = this.model !== null;
    this.model = next;
    this.root.hidden = !next;
    if (isSame || !next?.export) return;
    this.stored = NOTHING_STORED;
    this.timed = null;
    if (had && this.server) this.isInBrowser = false;
    if (had || !modelInAddress(this.server !== null))
      this.decoder.use(sourceOf(next.name, pageAddress(next.export.base)));
    this.draw();
    void this.inspectBrowser();
    if (had && this.isInBrowser) void this.warm();
  }

  /** Leave decodes to the server, where there is one, once this browser has failed to load the model. */
  settle() {
    if (this.server && this.decoder.state === "failed") this.isInBrowser = false;
    void this.inspectBrowser();
  }

  /** Find out whether this browser has a GPU, and what it has stored of the model. */
  async inspectBrowser() {
    const { model } = this;
    if (!model) return;
    const hasGpu = (await findAdapter(engineInAddress() === "gpu")) !== null;
    const stored = await findStores(storePrefixOf(model.name));
    if (model.name !== this.model?.name) return; // another was chosen meanwhile
    Object.assign(this, { hasGpu, stored });
    this.draw();
  }

  async deleteModel() {
    this.decoder.cancel();
    if (this.server) this.choose(false); // otherwise a reload would fetch the model again
    for (const name of this.stored.stores) await caches.delete(name);
    await this.inspectBrowser();
    sayStatus("The model was deleted from this browser.");
  }

  /** Show where Decode runs, what the model needs, and what the buttons do now. */
  draw() {
    const files = this.model?.export;
    if (!files) return;
    const { decoder, isInBrowser } = this;
    const { state, ready, bytes, allBytes } = decoder;
    const { stores, isWhole } = this.stored;
    const { source } = decoder.addresses;
    const isOther = source.base !== pageAddress(files.base);
    const isLarge = files.bytes.wasm > MAX_UNREQUESTED_BYTES;
    const isComing = isInBrowser && state === "coming";
    const isFetched = bytes >= allBytes;
    const kind = ENGINES[engineInAddress()] ?? (isLarge && this.hasGpu ? "webgpu" : "wasm");
    const size = formatMegabytes(files.bytes[kind]);
    const memory = Math.round((files.bytes[kind] * constants.memoryOfDownload[kind]) / 1e7) * 10;
    const taken = isLarge ? `${size}, about ${memory} MB of memory` : size;
    const first = isWhole ? "loads the model" : `fetches the model first, ${taken},`;
    const waits = `Decode ${first} and then runs in your browser`;
    const amount = `${formatMillions(bytes)} of ${formatMegabytes(allBytes)}`;
    const loading = `${isWhole ? "Loading" : "Fetching"} the model: ${amount}`;
    const isOn = isInBrowser && state === "on";
    const { gpu = "", why = "", canStore = true } = (isOn && ready) || {};
    const on = gpu ? `on your GPU (${gpu})` : "on your processor";
    const here = {
      off: waits,
      coming: isFetched ? PREPARING : loading,
      on: `Decode runs in your browser${isOther ? ` by ${source.name}` : ""}, ${on}`,
      failed: waits,
    }[state];
    const who = isInBrowser ? here : "Decode runs on the server";
    const notes = [why, canStore ? "" : NOT_STORED].filter(Boolean).join(" ");
    const parameters = `${formatMillions(ready?.numParameters ?? 0)} M parameters`;
    showBrowserModel(isInBrowser && ready ? `${ready.name} · ${parameters} · in your browser` : "");
    const isTimed = this.timed?.isOfBrowser === isInBrowser && (isOn || !isInBrowser);
    const speed = isTimed ? speedWords(this.timed as Run) : "";
    const offersGpu = isLarge && this.hasGpu && !isComing && !isOn;
    const once = isWhole ? "" : `, a download of ${taken}`;
    const useBrowser = `Use your browser${isLarge ? once : ""}`;
    const offer = offersGpu ? `Run it on your own GPU${once}` : useBrowser;
    const isBack = this.server !== null && isInBrowser;
    // In a frame that cannot share memory the engine has only one thread.
    const isFramed = window.top !== window.self && !window.crossOriginIsolated;
    const press = isComing ? "Cancel" : isBack ? "Use the server" : offer;
    const isIdle = this.server === null && !isComing && !offersGpu;
    const canDelete = isLarge && stores.length > 0 && !isComing;
    const buttons = [
      buttonTemplate(LOOK, press, () => this.press(), { isHidden: isIdle }),
      buttonTemplate(LOOK, DELETE, () => void this.deleteModel(), { isHidden: !canDelete }),
    ];
    const content = html`<span
        class="sbd-engine-choice-words"
        role="status"
        data-state=${isInBrowser ? state : "off"}
        >${who}${speed}${notes && `. ${notes}`}</span
      >${isLarge && isOn ? questionTemplate("its words", ROUNDED) : nothing}<progress
        class="sbd-engine-choice-bar"
        aria-label="Fetched"
        max=${allBytes || nothing}
        value=${bytes}
        ?hidden=${!isComing || isFetched}
      ></progress
      >${buttons}<a href=${window.location.href} target="_blank" ?hidden=${!isFramed || this.server !== null}
        >Open this page on its own to decode with more threads</a>`;
    render(content, this.root);
  }

  /** Show the speed of a run that was just decoded. */
  showSpeed() {
    const player = playerOf(document);
    const run = player?.history.latest;
    if (!run?.isComplete || run.isRecorded || run !== player?.run) return;
    this.timed = run;
    this.draw();
  }

  /** Switch between the server and this browser, or cancel a download. */
  press() {
    if (this.server) this.choose(!this.isInBrowser);
    else if (this.decoder.state === "coming") this.decoder.cancel();
    else void this.decoder.turnOn();
    void this.inspectBrowser();
  }

  /** Let new decodes run in this browser, or on the server. */
  choose(isInBrowser: boolean) {
    const { decoder } = this;
    this.isInBrowser = isInBrowser;
    const address = new URL(window.location.href);
    if (isInBrowser) {
      void navigator.storage?.persist?.().catch(() => false);
      void decoder.turnOn();
      address.searchParams.set("engine", "browser");
    } else {
      if (decoder.state === "coming") decoder.cancel();
      else decoder.stop();
      address.searchParams.delete("engine");
    }
    replaceAddress(address);
    this.draw();
  }

  /** Whether this browser loads the model without a download that the visitor should agree to. */
  async isCheap() {
    const isSmall = (this.model?.export?.bytes.wasm ?? 0) <= MAX_UNREQUESTED_BYTES;
    return isSmall || (await findStores(storePrefixOf(this.model?.name ?? ""))).isWhole;
  }

  /** Load the model before the visitor decodes, if it is small or was stored. */
  async warm() {
    if (await this.isCheap()) void this.decoder.turnOn();
  }

  /** Whether a link's decode would first download much that the visitor did not ask for; says so. */
  async refusesLink() {
    if (!this.isInBrowser || (await this.isCheap())) return false;
    sayStatus(LINKED);
    return true;
  }
}

function speedWords(run: Run) {
  const { seconds, wholeTokens } = run.numbersAt(run.main.lastPass);
  const speed = wholeTokens / (seconds || Infinity);
  return speed ? `, ${speed.toPrecision(speed < 100 ? 2 : 3)} tokens a second` : "";
}

/** Mount the choice. @param functions of the server; null for a page without one */
export function mountEngineChoice(
  element: HTMLElement,
  functions: Functions | null,
  signal: AbortSignal,
) {
  return new EngineChoice(find(element, ".sbd-engine-choice"), functions, signal);
}
