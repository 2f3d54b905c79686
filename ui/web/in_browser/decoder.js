// Decodes in this browser, for the whole page: starts the engine, hands it the visitor's wishes, and shows
// its news in the same views that show a server's runs.

import { goButtons } from "../dom/gradio.js";
import { playerOf } from "../dom/views.js";
import { Engine } from "../engine/client.js";
import { inBrowser, saySettled, sayStatus } from "./bridge.js";

/** @import { Place } from "../engine/client.js" */
/** @import { Form, News } from "../engine/session.js" */
/** @import { Ready, Source } from "../engine/worker.js" */

/**
 * What a view wants of the decoder.
 * @typedef {{ kind: "decode" | "time", form: Form }
 *   | { kind: "compare", lanes: string[], form: Form }
 *   | { kind: "bench" | "stop" }} Wish
 */
/** The state of the model here; with "off" the server decodes. @typedef {"off" | "coming" | "on" | "failed"} State */

const NOT_BEGUN = "Stopped before it began.";

export class Decoder {
  /**
   * @param {Place} place
   * @param {() => void} changed called when the state or the bytes read are others
   * @param {boolean} isOnly whether there is no server
   */
  constructor(place, changed, isOnly) {
    this.changed = changed;
    this.isOnly = isOnly;
    /** @type {State} */
    this.state = "off";
    /** Why the model cannot be had. */
    this.reason = "";
    /** The measurements of this device, as one line. */
    this.bench = "";
    this.isBusy = false;
    /** The wish that waits for the model. @type {Wish | null} */
    this.pending = null;
    /** @type {Ready | null} */
    this.ready = null;
    this.engine = new Engine(place, (news) => this.hear(news), changed);
  }

  /** Whether new runs are made here. */
  get isOn() {
    return this.isOnly || this.state === "on" || this.state === "coming";
  }

  /** Decode here from now on; says why if that cannot be. */
  async turnOn() {
    if (this.state === "on") return true;
    this.set("coming");
    try {
      this.ready = await this.engine.load();
      this.set("on");
      return true;
    } catch (error) {
      this.reason = error instanceof Error ? error.message : String(error);
      this.set("failed");
      this.showBusy(false);
      sayStatus(`${this.reason} The recorded runs go on.`, true);
      return false;
    }
  }

  /** Decode with another model from the next wish on. @param {Source} source */
  use(source) {
    this.engine.place.source = source;
    this.cancel();
  }

  /** Let the engine go, and the model that it fetches. */
  cancel() {
    this.engine.end();
    [this.ready, this.pending] = [null, null];
    if (this.isBusy) this.showBusy(false);
    sayStatus("");
    this.set("off");
  }

  /** Leave decoding to the server. */
  turnOff() {
    if (this.state === "coming") return this.cancel();
    if (this.isBusy) this.engine.send({ kind: "stop" });
    this.set("off");
  }

  /** Go to another state. @param {State} state */
  set(state) {
    this.state = state;
    this.changed();
    if (state === "on" || state === "failed") saySettled();
  }

  /** Have a wish done here, if new runs are made here. @param {Wish} wish */
  take(wish) {
    if (!this.isOn) return false;
    if (wish.kind === "stop") this.stop();
    else void this.send(wish);
    return true;
  }

  /** Stop the decode, or drop the wish that waits for the model. */
  stop() {
    const { pending } = this;
    this.pending = null;
    const about = pending?.kind === "compare" ? "compare" : "decode";
    if (pending) this.hear({ about, text: NOT_BEGUN, isRunning: false });
    else this.engine.send({ kind: "stop" });
  }

  /** Hand the engine a wish, once it has its model. @param {Wish} wish */
  async send(wish) {
    if (wish.kind === "decode") {
      this.showBusy(true);
      if (this.state !== "on") sayStatus("Your browser is loading the model …");
    }
    this.pending = wish;
    const isOn = await this.turnOn();
    if (this.pending !== wish) return;
    this.pending = null;
    if (isOn) this.engine.send(wish);
    else if (wish.kind === "compare")
      this.hear({ about: "compare", text: this.reason, isError: true, isRunning: false });
  }

  /** Show news of the engine in the views. @param {News} news */
  hear(news) {
    const player = playerOf(document);
    if (news.about === "compare") inBrowser.compare?.(news);
    if (news.about === "bench") {
      this.bench = news.text ?? "";
      this.changed();
    }
    if (news.timing) player?.takeTiming(news.timing);
    if (news.about !== "decode") return;
    if (news.wire === "stop") player?.stop();
    else if (news.wire) player?.push(news.wire);
    if (news.isRunning !== undefined) this.showBusy(news.isRunning);
    if (news.text !== undefined) sayStatus(news.text, news.isError);
    // A worker that died is started anew by the next wish.
    if (news.isError && !this.engine.worker) this.set("off");
  }

  /** Let Decode or Stop be pressed. @param {boolean} isBusy */
  showBusy(isBusy) {
    this.isBusy = isBusy;
    const [go, stop] = goButtons();
    if (go) go.disabled = isBusy;
    if (stop) stop.disabled = !isBusy;
  }
}
