// Starts the engine's worker, hands it wishes and passes on its news. The page never computes: its thread
// stays free.

/** @import { News } from "./session.js" */
/** @import { Ready, Reply, Source, Wish } from "./worker.js" */

/** The addresses of the engine and its model. @typedef {{ script: string, source: Source }} Place */

const BLOCKED = "This browser does not let the page start a worker, which decoding here needs.";
const DIED =
  "The engine in this browser stopped, perhaps for want of memory; decode again to start it anew.";
const GPU_STOPPED =
  "Your GPU stopped, perhaps for want of memory; the run so far is kept, and your processor decodes from now on.";

export class Engine {
  /**
   * @param {Place} place
   * @param {(news: News) => void} hear
   * @param {() => void} [progressed] more bytes were read
   */
  constructor(place, hear, progressed = () => {}) {
    this.place = place;
    this.hear = hear;
    this.progressed = progressed;
    /** Bytes of the model read so far. */
    this.bytes = 0;
    /** @type {Worker | null} */
    this.worker = null;
    /** @type {Promise<Ready> | null} */
    this.coming = null;
  }

  /** Read the model, once; rejects with the sentence that says why not. */
  load() {
    this.coming ??= this.start();
    return this.coming;
  }

  /** Start a worker with the model. @returns {Promise<Ready>} */
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
        this.worker = new Worker(this.place.script, { type: "module" });
      } catch {
        return fail(BLOCKED);
      }
      const { worker } = this;
      worker.addEventListener("error", () => fail(isReady ? DIED : BLOCKED));
      worker.addEventListener("message", (/** @type {MessageEvent<Reply>} */ { data }) => {
        if (worker !== this.worker) return; // another model has taken this one's place
        if (data.kind === "progress") {
          this.bytes = Math.max(0, this.bytes + data.bytes);
          this.progressed();
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

  /** Have the worker do something. @param {Wish} wish */
  send(wish) {
    this.worker?.postMessage(wish);
  }

  /** Let the worker go; the next load starts another. */
  end() {
    this.worker?.terminate();
    this.worker = null;
    this.coming = null;
    this.bytes = 0;
  }
}
