// The worker that makes an animation, as promises. Its script travels inside the bundle.

import script from "sbd:gif-worker";

/** @import { Answer, Begin, End, Frame } from "./worker.js" */

/** One animation on its way; `close` ends the worker. */
export class GifEncoder {
  constructor() {
    const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    this.worker = new Worker(address);
    URL.revokeObjectURL(address);
  }

  /**
   * Hand an order over and wait for its answer.
   * @param {Begin | Frame | End} order
   * @param {ArrayBuffer[]} handed over for good
   * @returns {Promise<Answer>}
   */
  ask(order, handed = []) {
    return new Promise((done, fail) => {
      this.worker.onmessage = ({ data }) =>
        data.kind === "failed" ? fail(new Error(data.words)) : done(data);
      this.worker.onerror = (event) => {
        event.preventDefault(); // the visitor is told
        const words = event.message?.replace(/^Uncaught (\w*Error: )?/, "");
        fail(new Error(words || "the worker did not start"));
      };
      this.worker.postMessage(order, handed);
    });
  }

  /** The whole file. */
  async end() {
    const answer = await this.ask({ kind: "end" });
    if (answer.kind !== "done") throw new Error("no file was made");
    return answer.blob;
  }

  close() {
    this.worker.terminate();
  }
}
