// The Compare view: has the server or this browser decode lanes, and shows them. Built when it is first needed.

import { dialOf, KINDS, laneTitle } from "../core/words.js";
import { elementOf, find } from "../dom/elements.js";
import { STOP_MS } from "../dom/gradio.js";
import { onScheme } from "../dom/screen.js";
import { currentView, onTurn } from "../dom/views.js";
import { readForm } from "../form/fields.js";
import { isLater } from "../form/status.js";
import { doInBrowser, inBrowser } from "../in_browser.js";
import { askFor, chosenModel } from "../models.js";
import { keepAddress, linkToLanes } from "../share/permalink.js";
import { CompareForm, StaleLine } from "./form.js";
import { ComparePlayer } from "./player.js";

/** @import { News } from "../engine/session.js" */
/** @import { Order } from "../form/status.js" */
/** @import { Mount, Trigger } from "../stub.js" */
/** @import { FormSetting } from "./form.js" */

/**
 * prompt_id: element id of the form's prompt. lines: wire lines of the recorded run that is shown first, "" for none.
 * @typedef {FormSetting & { prompt_id: string, lines: string }} Setting
 */

/**
 * A message from the server; its fields mean the same as those of News in engine/session.js.
 * @typedef {object} ServerNews
 * @property {Order} order
 * @property {string} text
 * @property {boolean} is_error
 * @property {boolean} is_running
 * @property {string} wire
 */

class CompareView {
  /**
   * @param {HTMLElement & { sbdCompare?: ComparePlayer }} host
   * @param {Setting} setting
   * @param {Trigger} trigger
   * @param {AbortSignal} signal
   */
  constructor(host, setting, trigger, signal) {
    this.host = host;
    this.setting = setting;
    this.trigger = trigger;
    this.signal = signal;
    /** @type {{ form: CompareForm, player: ComparePlayer, stale: StaleLine } | null} */
    this.parts = null;
    /** @type {Order} */
    this.lastOrder = [-1, -1];
    this.halting = 0;
  }

  build() {
    const { host, setting, signal } = this;
    const player = new ComparePlayer(host, signal);
    const form = new CompareForm(setting, {
      start: () => this.start(),
      halt: () => doInBrowser({ kind: "stop" }) || this.halt(),
    });
    const stale = new StaleLine(
      () => player.history.run,
      () => form.lanes,
      setting.prompt_id,
      () => player.rest(),
      signal,
    );
    player.head.append(stale.root);
    host.replaceChildren(form.root, player.card, player.result, player.live, player.help.root);
    host.sbdCompare = player;
    if (setting.lines) player.take(setting.lines);
    this.takeLink(form, player);
    onScheme(() => player.redraw(), signal);
    return { form, player, stale };
  }

  start() {
    if (!this.parts) return;
    clearTimeout(this.halting);
    const { lanes } = this.parts.form;
    const form = formOfLanes();
    this.parts.player.rest();
    this.parts.stale.isWaiting = true;
    this.parts.stale.look();
    doInBrowser({ kind: "compare", lanes, form }) || this.trigger("start", { lanes, form });
  }

  /** Ask the server to stop; if it does not answer in time, ignore all that still comes of this run. */
  halt() {
    this.trigger("halt", {});
    this.halting = window.setTimeout(() => {
      if (this.signal.aborted || this.parts?.form.stop.disabled) return;
      this.lastOrder = [this.lastOrder[0], Infinity]; // drops later messages of this run
      const text = "The server does not answer; nothing more of this run has come.";
      this.say({ text, isError: true });
    }, STOP_MS);
  }

  /** @param {string} name */
  turn(name) {
    if (name === "compare") {
      this.parts ??= this.build();
      this.parts.form.follow();
      this.parts.stale.look();
    }
    // Another view has come to the front.
    else this.parts?.player.rest();
  }

  /**
   * Choose the lanes that the address names; nothing checks them here.
   * @param {CompareForm} form
   * @param {ComparePlayer} player
   */
  takeLink(form, player) {
    const lanes = new URLSearchParams(window.location.search).get("lanes");
    if (!lanes) return;
    form.choose(lanes.split(","));
    player.rest();
  }

  /** @param {ServerNews} news */
  take({ order, text, is_error: isError, is_running: isRunning, wire }) {
    this.parts ??= this.build(); // a link's lanes are decoded even if another view is in front
    if (!isLater(order, this.lastOrder)) return;
    this.lastOrder = order;
    this.say({ text, isError, isRunning, wire });
  }

  /** Show a message from the server or from this browser's engine. @param {Partial<News>} news */
  say({ text = "", isError = false, isRunning = false, wire = "" }) {
    if (!this.parts) return;
    const { form, player, stale } = this.parts;
    form.showRunning(isRunning);
    form.say(text, isError);
    stale.hasFailed = isError;
    if (wire || !isRunning) stale.isWaiting = false;
    if (wire && wire !== "stop") player.take(wire);
    if (!isRunning) player.end();
    stale.look();
    if (!isRunning && !isError) this.finish();
  }

  /** After a run, put its lanes into the address and add their results to the charts. */
  finish() {
    const run = this.parts?.player.history.run;
    if (!run || run.isRecorded) return;
    keepAddress(linkToLanes([...run.lanes.keys()], askFor(run)));
    const detail = [...run.lanes.values()].map((lane) => ({
      name: laneTitle(lane.name),
      rate: lane.numTokensAt(lane.lastPass) / Math.max(lane.steps.length, 1),
      right: lane.verdict?.right ?? null,
    }));
    this.host.dispatchEvent(new CustomEvent("sbd-compared", { bubbles: true, detail }));
  }

  /** Clear an error about the form at the next input, except in the player. @param {Event} event */
  forgetError(event) {
    if (!this.parts?.form.hasError || elementOf(event)?.closest(".sbd-compare-card")) return;
    this.parts.form.say("", false);
    this.parts.stale.hasFailed = false;
    this.parts.stale.look();
  }

  /**
   * Let Shift+Enter in the prompt, which Watch shares, start a comparison while this view is in front.
   * @param {KeyboardEvent} event
   */
  press(event) {
    if (event.key !== "Enter" || !event.shiftKey || currentView() !== "compare") return;
    if (!elementOf(event)?.closest(`#${this.setting.prompt_id}`)) return;
    event.preventDefault();
    event.stopPropagation();
    this.parts?.form.start();
  }
}

/** Settings that a lane's name gives, and the template, which only Watch has. */
const OF_LANES = [
  "strategy",
  "solver",
  "template",
  ...KINDS.map((kind) => dialOf(kind)?.[0] ?? ""),
];

/** Return the form's fields that all lanes share, and the model's name. */
function formOfLanes() {
  const shared = Object.entries(readForm()).filter(([name]) => !OF_LANES.includes(name));
  return { ...Object.fromEntries(shared), model: chosenModel() };
}

/** @type {Mount} */
export function mountCompare({ element, value, trigger, signal }) {
  const setting = JSON.parse(value);
  const view = new CompareView(find(element, ".sbd-compare"), setting, trigger, signal);
  onTurn((name) => view.turn(name), signal);
  inBrowser.compare = (news) => view.say(news);
  /** @param {KeyboardEvent} event */
  const press = (event) => view.press(event);
  document.addEventListener("keydown", press, { capture: true, signal });
  document.addEventListener("input", (event) => view.forgetError(event), { signal });
  return (text) => view.take(JSON.parse(text));
}
