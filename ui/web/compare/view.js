// Lanes compared on the page: asks for them, takes their lines. Built when it is first looked at.

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

/** @typedef {FormSetting & { prompt_id: string, lines: string }} Setting lines: of the recorded run */

/**
 * A message of the server.
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

  /** Ask the server to stop; while it is away nobody answers, and no run that goes on is seen. */
  halt() {
    this.trigger("halt", {});
    this.halting = window.setTimeout(() => {
      if (this.signal.aborted || this.parts?.form.stop.disabled) return;
      this.lastOrder = [this.lastOrder[0], Infinity]; // no more is heard of this run
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
    // A view that is left stands still.
    else this.parts?.player.rest();
  }

  /**
   * Choose the lanes that the address asks for, unchecked.
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
    this.parts ??= this.build(); // a link's lanes run wherever the page was opened
    if (!isLater(order, this.lastOrder)) return;
    this.lastOrder = order;
    this.say({ text, isError, isRunning, wire });
  }

  /** Take a message of the server, or of this browser's own lanes. @param {Partial<News>} news */
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

  /** All lanes are whole: the address follows, and so does the chart of every solver. */
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

  /**
   * An error is of what the form asked for: it goes with the next input, but for the player's.
   * @param {Event} event
   */
  forgetError(event) {
    if (!this.parts?.form.hasError || elementOf(event)?.closest(".sbd-compare-card")) return;
    this.parts.form.say("", false);
    this.parts.stale.hasFailed = false;
    this.parts.stale.look();
  }

  /**
   * The prompt is Watch's too: the keys that send it decode there and compare here.
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

/** Settings that a lane says itself, or that belong to Watch. */
const OF_LANES = [
  "strategy",
  "solver",
  "template",
  ...KINDS.map((kind) => dialOf(kind)?.[0] ?? ""),
];

/** The fields that the lanes share: the form without each lane's own. */
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
