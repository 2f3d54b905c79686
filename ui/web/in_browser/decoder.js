// Decodes in this browser, for the whole page: starts the engine, hands it what the visitor asks
// for, and shows what it says in the same views that show a server's runs.

import { playerOf } from "../dom/channels.js";
import { goButtons } from "../dom/gradio.js";
import { Engine } from "../engine/client.js";
import { inBrowser, saySettled, sayStatus } from "./bridge.js";

/** @import { Place } from "../engine/client.js" */
/** @import { Form } from "../engine/session/form.js" */
/** @import { News } from "../engine/session/session.js" */
/** @import { Ready, Source } from "../engine/worker.js" */

/**
 * @typedef {{ kind: "decode" | "time", form: Form }
 *   | { kind: "compare", lanes: string[], form: Form }
 *   | { kind: "bench" | "stop" }} Wish
 */
/** @typedef {"off" | "coming" | "on" | "failed"} State off: the server decodes */

const NOT_BEGUN = "Stopped before it began.";

export class Decoder {
  /**
   * @param {Place} place
   * @param {() => void} changed the state or the bytes read are others
   * @param {boolean} isOnly there is no server
   */
  constructor(place, changed, isOnly) {
    this.isOnly = isOnly;
    this.place = place;
    this.changed = changed;
    /** @type {State} */
    this.state = "off";
    this.bytes = 0;
    this.reason = "";
    this.bench = "";
    this.isBusy = false;
    /** What waits for the model. @type {Wish | null} */
    this.pending = null;
    /** @type {Ready | null} */
    this.ready = null;
    this.engine = new Engine(
      place,
      (news) => this.hear(news),
      (bytes) => {
        this.bytes = bytes;
        this.changed();
      },
    );
  }

  get isOn() {
    return this.isOnly || this.state === "on" || this.state === "coming";
  }

  /** Read the model without a word: it may be wanted when no server is there. */
  warm() {
    this.engine.load().catch(() => {});
  }

  /** From now on decode here; says why if that cannot be. */
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
    this.place.source = source;
    this.cancel();
  }

  /** Let the engine go, and what it is fetching. */
  cancel() {
    this.engine.end();
    [this.ready, this.pending, this.bytes] = [null, null, 0];
    if (this.isBusy) this.showBusy(false);
    sayStatus("");
    this.set("off");
  }

  turnOff() {
    if (this.state === "coming") {
      this.cancel();
      return;
    }
    if (this.isBusy) this.engine.send({ kind: "stop" });
    this.set("off");
  }

  /** @param {State} state */
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

  /** Stop what is decoded, or leave what waits for the model. */
  stop() {
    const { pending } = this;
    this.pending = null;
    if (!pending) this.engine.send({ kind: "stop" });
    else if (pending.kind === "compare")
      inBrowser.compare?.({ about: "compare", text: NOT_BEGUN, isRunning: false });
    else {
      this.showBusy(false);
      sayStatus(NOT_BEGUN);
    }
  }

  /** @param {Wish} wish */
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
      inBrowser.compare?.({ about: "compare", text: this.reason, isError: true, isRunning: false });
  }

  /** @param {News} news */
  hear(news) {
    const player = playerOf(document);
    if (news.about === "compare") {
      inBrowser.compare?.(news);
      return;
    }
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

  /** @param {boolean} isBusy */
  showBusy(isBusy) {
    this.isBusy = isBusy;
    const [go, stop] = goButtons();
    if (go) go.disabled = isBusy;
    if (stop) stop.disabled = !isBusy;
  }
}
