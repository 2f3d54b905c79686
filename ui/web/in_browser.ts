// Decodes in this browser. The engine runs in a worker, so that the page stays responsive.

import { failureWords } from "./core/numbers.ts";
import { type Channel, channel } from "./dom/views.ts";
import type { Job, Message, Ready, Reply, Source } from "./engine/worker.ts";
import { sayStatus } from "./form/status.ts";
import type { News } from "./jobs.ts";

/** The engine has loaded its model, or has failed to. */
export const { say: saySettled, hear: onSettled }: Channel<void> = channel();

/** The state of the model in this browser; "coming": it is being loaded. */
type State = "off" | "coming" | "on" | "failed";

const NOT_BEGUN = "Stopped before it began.";
const BLOCKED = "This browser does not let the page start a worker, which decoding here needs.";
const DIED =
  "The engine in this browser stopped, perhaps for want of memory; decode again to start it anew.";
const GPU_STOPPED =
  "Your GPU stopped, perhaps for want of memory; the run so far is kept, and your processor decodes from now on.";

export class Decoder {
  state: State = "off";
  reason = "";
  pending: Job | null = null;
  ready: Ready | null = null;
  /** Bytes of the model read so far, and in all; 0 before the engine knows. */
  bytes = 0;
  allBytes = 0;
  worker: Worker | null = null;
  loading: Promise<Ready> | null = null;

  /** @param onChange called when the state is another, or more bytes were read */
  constructor(
    readonly addresses: { script: string; source: Source },
    readonly hear: (news: News) => void,
    readonly onChange: () => void = () => {},
  ) {}

  /** Load the model; if that fails, show why and return false. */
  async turnOn() {
    if (this.state === "on") return true;
    this.setState("coming");
    try {
      this.ready = await this.load();
      this.setState("on");
      return true;
    } catch (error) {
      this.reason = failureWords(error);
      this.setState("failed");
      sayStatus(`${this.reason} The recorded runs go on.`, true);
      return false;
    }
  }

  /** Decode with another model from the next job on. */
  use(source: Source) {
    if (source.base === this.addresses.source.base) return;
    this.addresses.source = source;
    this.cancel();
  }

  /** End the worker, and with it any decode or download. */
  cancel() {
    const isAtWork = this.pending !== null || this.state === "on";
    this.end();
    [this.ready, this.pending] = [null, null];
    if (isAtWork) this.hear({ about: "decode", text: "", isRunning: false });
    this.setState("off");
  }

  setState(state: State) {
    this.state = state;
    this.onChange();
    if (state === "on" || state === "failed") saySettled();
  }

  /** Do a job, once the model is loaded. */
  take(job: Job) {
    if (job.kind === "stop") this.stop();
    else void this.begin(job);
  }

  /** Stop the decode, or drop the job that waits for the model. */
  stop() {
    const { pending } = this;
    this.pending = null;
    if (pending) this.hear({ about: viewOf(pending), text: NOT_BEGUN, isRunning: false });
    else this.send({ kind: "stop" });
  }

  async begin(job: Job) {
    if (job.kind === "decode" && this.state !== "on")
      sayStatus("Your browser is loading the model …");
    this.pending = job;
    const isOn = await this.turnOn();
    if (this.pending !== job) return;
    this.pending = null;
    if (isOn) this.send(job);
    else this.hear({ about: viewOf(job), text: this.reason, isError: true, isRunning: false });
  }

  /** Load the model, once; the error of a failure says why in a sentence. */
  load() {
    this.loading ??= new Promise((resolve, reject) => {
      let isReady = false;
      const fail = (reason: string) => {
        this.end();
        if (!isReady) return reject(new Error(reason));
        this.hear({ about: "decode", wire: "stop" });
        for (const about of ["decode", "compare"] as const)
          this.hear({ about, text: reason, isError: true, isRunning: false });
        this.setState("off"); // the next job starts another worker
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
        if (data.kind === "begins" || data.kind === "progress") {
          const isNew = data.kind === "begins";
          this.allBytes = isNew ? data.bytes : this.allBytes;
          this.bytes = isNew ? 0 : this.bytes + data.bytes;
          this.onChange();
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
    return this.loading;
  }

  send(message: Message) {
    this.worker?.postMessage(message);
  }

  /** End the worker; the next load() starts another. */
  end() {
    this.worker?.terminate();
    [this.worker, this.loading] = [null, null];
    [this.bytes, this.allBytes] = [0, 0];
  }
}

/** Return the view that the news of a job is for. */
function viewOf({ kind }: Job) {
  return kind === "compare" ? "compare" : "decode";
}
