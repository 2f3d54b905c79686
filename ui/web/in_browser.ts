// Decodes in this browser for the whole page: views offer their jobs here before they ask the server. The engine runs
// in a worker, so that the page stays responsive; its news goes to the views that also show the server's runs.

import { decodeButtons } from "./dom/gradio.ts";
import { type Channel, channel, playerOf } from "./dom/views.ts";
import type { News } from "./engine/session.ts";
import type { Job, Message, Ready, Reply, Source } from "./engine/worker.ts";
import { sayStatus } from "./form/status.ts";

/** Functions to decode in this browser, each null until a view sets it. */
interface InBrowser {
  take: ((job: Job) => boolean) | null; // does a job in this browser; false if it is for the server
  isOn: (() => boolean) | null; // whether new decodes run in this browser
  compare: ((news: News) => void) | null; // shows news of compared lanes
  choose: ((name: string) => void) | null; // makes another of the page's models decode
}

export const inBrowser: InBrowser = { take: null, isOn: null, compare: null, choose: null };

/** Do a job in this browser; false if it is for the server. */
export function doInBrowser(job: Job) {
  return inBrowser.take?.(job) ?? false;
}

/** The engine has loaded its model, or has failed to. */
export const { say: saySettled, hear: onSettled }: Channel<void> = channel("sbd-engine-settled");

/** The state of the model in this browser; "coming": it is being loaded. */
type State = "off" | "coming" | "on" | "failed";

const NOT_BEGUN = "Stopped before it began.";

export class Decoder {
  isStatic: boolean;
  state: State = "off";
  /** Why the model could not be loaded. */
  reason = "";
  /** The measurements of this device, as one line. */
  bench = "";
  isBusy = false;
  /** The job that waits for the model. */
  pending: Job | null = null;
  ready: Ready | null = null;
  engine: Engine;

  /**
   * @param onChange called when the state, the bytes read or the measurements change
   * @param isStatic whether there is no server
   */
  constructor(
    addresses: EngineAddresses,
    readonly onChange: () => void,
    isStatic: boolean,
  ) {
    this.isStatic = isStatic;
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

  /** Decode with another model from the next job on. */
  use(source: Source) {
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

  setState(state: State) {
    this.state = state;
    this.onChange();
    if (state === "on" || state === "failed") saySettled();
  }

  /** Do a job if new decodes run in this browser, else return false. */
  take(job: Job) {
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

  /** Load the model if needed, then give the engine a job. */
  async send(job: Job) {
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

  /** Pass the engine's news on to the views. */
  hear(news: News) {
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

  /** Enable Stop while a decode runs, else Decode. */
  showBusy(isBusy: boolean) {
    this.isBusy = isBusy;
    const [go, stop] = decodeButtons();
    if (go) go.disabled = isBusy;
    if (stop) stop.disabled = !isBusy;
  }
}

/** The addresses of the engine and its model. */
type EngineAddresses = { script: string; source: Source };

const BLOCKED = "This browser does not let the page start a worker, which decoding here needs.";
const DIED =
  "The engine in this browser stopped, perhaps for want of memory; decode again to start it anew.";
const GPU_STOPPED =
  "Your GPU stopped, perhaps for want of memory; the run so far is kept, and your processor decodes from now on.";

export class Engine {
  onProgress: () => void;
  /** Bytes of the model read so far. */
  bytes = 0;
  worker: Worker | null = null;
  loading: Promise<Ready> | null = null;

  /** @param onProgress called when more bytes were read */
  constructor(
    readonly addresses: EngineAddresses,
    readonly hear: (news: News) => void,
    onProgress: () => void = () => {},
  ) {
    this.onProgress = onProgress;
  }

  /** Load the model, once; the error of a failure says why in a sentence. */
  load() {
    this.loading ??= this.start();
    return this.loading;
  }

  /** Start a worker and load the model in it. */
  start(): Promise<Ready> {
    return new Promise((resolve, reject) => {
      let isReady = false;
      const fail = (reason: string) => {
        this.end();
        if (!isReady) return reject(new Error(reason));
        this.hear({ about: "decode", wire: "stop" });
        for (const about of ["decode", "compare"] as const) {
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
      worker.addEventListener("message", ({ data }: MessageEvent<Reply>) => {
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

  /** Send the worker a message. */
  send(message: Message) {
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
