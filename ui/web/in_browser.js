// Decodes in this browser for the whole page: views offer their jobs here before they ask the server. The engine runs
// in a worker, so that the page stays responsive; its news goes to the views that also show the server's runs.

import { decodeButtons } from "./dom/gradio.js";
import { channel, playerOf } from "./dom/views.js";
import { sayStatus } from "./form/status.js";

/** @import { Channel } from "./dom/views.js" */
/** @import { Form, News } from "./engine/session.js" */
/** @import { Message, Ready, Reply, Source, Job } from "./engine/worker.js" */

/**
 * Functions to decode in this browser, each null until a view sets it.
 * @typedef {object} InBrowser
 * @property {((job: Job) => boolean) | null} take does a job in this browser; false if it is for the server
 * @property {(() => boolean) | null} isOn whether new decodes run in this browser
 * @property {((news: News) => void) | null} compare shows news of compared lanes
 * @property {((name: string) => void) | null} choose makes another of the page's models decode
 */

/** @type {InBrowser} */
export const inBrowser = { take: null, isOn: null, compare: null, choose: null };

/** Do a job in this browser; false if it is for the server. @param {Job} job */
export function doInBrowser(job) {
  return inBrowser.take?.(job) ?? false;
}

/** The engine has loaded its model, or has failed to. @type {Channel<void>} */
export const { say: saySettled, hear: onSettled } = channel("sbd-engine-settled");

/** The state of the model in this browser; "coming": it is being loaded. @typedef {"off" | "coming" | "on" | "failed"} State */

const NOT_BEGUN = "Stopped before it began.";

export class Decoder {
  /**
   * @param {EngineAddresses} addresses
   * @param {() => void} onChange called when the state, the bytes read or the measurements change
   * @param {boolean} isStatic whether there is no server
   */
  constructor(addresses, onChange, isStatic) {
    this.onChange = onChange;
    this.isStatic = isStatic;
    /** @type {State} */
    this.state = "off";
    /** Why the model could not be loaded. */
    this.reason = "";
    /** The measurements of this device, as one line. */
    this.bench = "";
    this.isBusy = false;
    /** The job that waits for the model. @type {Job | null} */
    this.pending = null;
    /** @type {Ready | null} */
    this.ready = null;
    this.engine = new Engine(addresses, (news) => this.hear(news), onChange);
  }

  /** Whether new decodes run in this browser. */
  get isOn() {
    return this.isStatic || this.state === "on" || this.state === "coming";
  }

  /** Load the model and decode here from now on; if that fails, show why and return false. */
  async turnOn() {
    if (this.state === "on") return true;
    this.setState("coming");
    try {
      this.ready = await this.engine.load();
      this.setState("on");
      return true;
    } catch (error) {
      this.reason = error instanceof Error ? error.message : String(error);
      this.setState("failed");
      this.showBusy(false);
      sayStatus(`${this.reason} The recorded runs go on.`, true);
      return false;
    }
  }

  /** Decode with another model from the next job on. @param {Source} source */
  use(source) {
    this.engine.addresses.source = source;
    this.cancel();
  }

  /** End the engine, and with it any decode or download. */
  cancel() {
    this.engine.end();
    [this.ready, this.pending] = [null, null];
    if (this.isBusy) this.showBusy(false);
    sayStatus("");
    this.setState("off");
  }

  /** Leave decoding to the server. */
  turnOff() {
    if (this.state === "coming") return this.cancel();
    if (this.isBusy) this.engine.send({ kind: "stop" });
    this.setState("off");
  }

  /** @param {State} state */
  setState(state) {
    this.state = state;
    this.onChange();
    if (state === "on" || state === "failed") saySettled();
  }

  /** Do a job if new decodes run in this browser, else return false. @param {Job} job */
  take(job) {
    if (!this.isOn) return false;
    if (job.kind === "stop") this.stop();
    else void this.send(job);
    return true;
  }

  /** Stop the decode, or drop the job that waits for the model. */
  stop() {
    const { pending } = this;
    this.pending = null;
    const about = pending?.kind === "compare" ? "compare" : "decode";
    if (pending) this.hear({ about, text: NOT_BEGUN, isRunning: false });
    else this.engine.send({ kind: "stop" });
  }

  /** Load the model if needed, then give the engine a job. @param {Job} job */
  async send(job) {
    if (job.kind === "decode") {
      this.showBusy(true);
      if (this.state !== "on") sayStatus("Your browser is loading the model …");
    }
    this.pending = job;
    const isOn = await this.turnOn();
    if (this.pending !== job) return;
    this.pending = null;
    if (isOn) this.engine.send(job);
    else if (job.kind === "compare")
      this.hear({ about: "compare", text: this.reason, isError: true, isRunning: false });
  }

  /** Pass the engine's news on to the views. @param {News} news */
  hear(news) {
    const player = playerOf(document);
    if (news.about === "compare") inBrowser.compare?.(news);
    if (news.about === "bench") {
      this.bench = news.text ?? "";
      this.onChange();
    }
    if (news.timing) player?.takeTiming(news.timing);
    if (news.about !== "decode") return;
    if (news.wire === "stop") player?.stop();
    else if (news.wire) player?.push(news.wire);
    if (news.isRunning !== undefined) this.showBusy(news.isRunning);
    if (news.text !== undefined) sayStatus(news.text, news.isError);
    // The worker has died; the next job starts another.
    if (news.isError && !this.engine.worker) this.setState("off");
  }

  /** Enable Stop while a decode runs, else Decode. @param {boolean} isBusy */
  showBusy(isBusy) {
    this.isBusy = isBusy;
    const [go, stop] = decodeButtons();
    if (go) go.disabled = isBusy;
    if (stop) stop.disabled = !isBusy;
  }
}

/** The addresses of the engine and its model. @typedef {{ script: string, source: Source }} EngineAddresses */

const BLOCKED = "This browser does not let the page start a worker, which decoding here needs.";
const DIED =
  "The engine in this browser stopped, perhaps for want of memory; decode again to start it anew.";
const GPU_STOPPED =
  "Your GPU stopped, perhaps for want of memory; the run so far is kept, and your processor decodes from now on.";

export class Engine {
  /**
   * @param {EngineAddresses} addresses
   * @param {(news: News) => void} hear
   * @param {() => void} [onProgress] called when more bytes were read
   */
  constructor(addresses, hear, onProgress = () => {}) {
    this.addresses = addresses;
    this.hear = hear;
    this.onProgress = onProgress;
    /** Bytes of the model read so far. */
    this.bytes = 0;
    /** @type {Worker | null} */
    this.worker = null;
    /** @type {Promise<Ready> | null} */
    this.loading = null;
  }

  /** Load the model, once; the error of a failure says why in a sentence. */
  load() {
    this.loading ??= this.start();
    return this.loading;
  }

  /** Start a worker and load the model in it. @returns {Promise<Ready>} */
  start() {
    return new Promise((resolve, reject) => {
      let isReady = false;
      /** @param {string} reason */
      const fail = (reason) => {
        this.end();
        if (!isReady) return reject(new Error(reason));
        this.hear({ about: "decode", wire: "stop" });
        for (const about of /** @type {const} */ (["decode", "compare"])) {
          this.hear({ about, text: reason, isError: true, isRunning: false });
        }
      };
      try {
        this.worker = new Worker(this.addresses.script, { type: "module" });
      } catch {
        return fail(BLOCKED);
      }
      const { worker } = this;
      worker.addEventListener("error", () => fail(isReady ? DIED : BLOCKED));
      worker.addEventListener("message", (/** @type {MessageEvent<Reply>} */ { data }) => {
        if (worker !== this.worker) return; // a message of an earlier worker
        if (data.kind === "progress") {
          this.bytes = Math.max(0, this.bytes + data.bytes);
          this.onProgress();
        } else if (data.kind === "ready") {
          isReady = true;
          resolve(data);
        } else if (data.kind === "failed") {
          fail(data.text);
        } else if (data.kind === "lost") {
          this.addresses.source.engine = "wasm";
          fail(GPU_STOPPED);
        } else this.hear(data.news);
      });
      this.send({ kind: "load", source: this.addresses.source });
    });
  }

  /** Send the worker a message. @param {Message} message */
  send(message) {
    this.worker?.postMessage(message);
  }

  /** End the worker; the next load() starts another. */
  end() {
    this.worker?.terminate();
    this.worker = null;
    this.loading = null;
    this.bytes = 0;
  }
}
