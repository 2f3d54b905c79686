// The engine on the page's side: starts the worker, hands it wishes, passes on what it says. The
// page never computes: its thread stays free.

/** @import { News } from "./session/session.js" */
/** @import { Ready, Reply, Source, Wish } from "./worker.js" */

/** @typedef {{ script: string, source: Source }} Place addresses of the engine and its model */

const BLOCKED = "This browser does not let the page start a worker, which decoding here needs.";
const DIED =
  "The engine in this browser stopped, perhaps for want of memory; decode again to start it anew.";
const GPU_STOPPED =
  "Your GPU stopped, perhaps for want of memory; the run so far is kept, and your processor decodes from now on.";

export class Engine {
  /**
   * @param {Place} place
   * @param {(news: News) => void} hear
   * @param {(bytes: number) => void} [progress] bytes read so far
   */
  constructor(place, hear, progress = () => {}) {
    this.place = place;
    this.hear = hear;
    this.progress = progress;
    this.bytes = 0;
    /** @type {Worker | null} */
    this.worker = null;
    /** @type {Promise<Ready> | null} */
    this.coming = null;
  }

  /** The model, read once; rejects with the sentence that says why not. */
  load() {
    this.coming ??= this.start();
    return this.coming;
  }

  /** @returns {Promise<Ready>} */
  start() {
    return new Promise((resolve, reject) => {
      this.bytes = 0;
      /** @type {Worker} */
      let worker;
      try {
        worker = new Worker(this.place.script, { type: "module" });
      } catch {
        this.coming = null;
        reject(new Error(BLOCKED));
        return;
      }
      this.worker = worker;
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
      worker.addEventListener("error", () => fail(isReady ? DIED : BLOCKED));
      worker.addEventListener("message", (/** @type {MessageEvent<Reply>} */ { data }) => {
        if (worker !== this.worker) return; // of a model that another took the place of
        if (data.kind === "progress") {
          this.bytes = Math.max(0, this.bytes + data.bytes);
          this.progress(this.bytes);
        } else if (data.kind === "ready") {
          isReady = true;
          resolve(data);
        } else if (data.kind === "failed") {
          fail(data.text);
        } else if (data.kind === "lost") {
          this.place.source.engine = "wasm";
          fail(GPU_STOPPED);
        } else this.hear(data.news);
      });
      this.send({ kind: "load", source: this.place.source });
    });
  }

  /** @param {Wish} wish */
  send(wish) {
    this.worker?.postMessage(wish);
  }

  /** Let the worker go; the next load starts another. */
  end() {
    this.worker?.terminate();
    this.worker = null;
    this.coming = null;
  }
}
