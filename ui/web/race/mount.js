// The race on the page: asks for races, takes their boards. Built when it is first looked at.

import { elementOf, find } from "../dom/elements.js";
import { currentView, onTurn, STOP_MS } from "../dom/page.js";
import { isLater } from "../form/order.js";
import { doInBrowser, inBrowser } from "../in_browser/bridge.js";
import { readForm } from "../in_browser/mount.js";
import { keepAddress, linkToRace } from "../share/permalink.js";
import { RaceForm } from "./form.js";
import { RacePlayer } from "./player.js";

/** @import { Order } from "../form/order.js" */
/** @import { Mount, Trigger } from "../stub.js" */
/** @import { Board } from "./board.js" */
/** @import { News } from "../engine/session/session.js" */
/** @import { Entry, FormSetting, LinkedEntry } from "./form.js" */

/** @typedef {FormSetting & { prompt_id: string, board: Board | null }} Setting */

/**
 * What the server says of a race.
 * @typedef {object} RaceNews
 * @property {Order} order
 * @property {string} text
 * @property {boolean} is_error
 * @property {boolean} is_running
 * @property {Board | null} board
 * @property {Record<string, string> | null} link
 * @property {LinkedEntry | null} choice
 */

class RaceView {
  /**
   * @param {HTMLElement & { sbdRace?: RacePlayer }} host
   * @param {Setting} setting
   * @param {Trigger} trigger
   * @param {AbortSignal} signal
   */
  constructor(host, setting, trigger, signal) {
    this.host = host;
    this.setting = setting;
    this.trigger = trigger;
    this.signal = signal;
    /** @type {{ form: RaceForm, player: RacePlayer } | null} */
    this.parts = null;
    /** @type {Order} */
    this.lastOrder = [-1, -1];
    this.isLinkTaken = false;
    this.halting = 0;
  }

  build() {
    const player = new RacePlayer(this.host, this.setting.prompt_id, this.signal);
    const form = new RaceForm(this.setting, {
      start: (choice) => {
        clearTimeout(this.halting);
        player.rest();
        player.stale.showRunning(true);
        doInBrowser({ kind: "race", entry: entryOf(choice) }) || this.trigger("start", choice);
      },
      halt: () => doInBrowser({ kind: "stop" }) || this.halt(),
    });
    this.host.replaceChildren(form.root, player.card, player.result, player.live, player.help.root);
    this.host.sbdRace = player;
    player.stale.asked = () => form.asked;
    if (this.setting.board) player.open(this.setting.board);
    return { form, player };
  }

  /** Ask the server to stop; while it is away nobody answers, and no race that goes on is seen. */
  halt() {
    this.trigger("halt", {});
    this.halting = window.setTimeout(() => {
      if (this.signal.aborted || this.parts?.form.stop.disabled) return;
      this.lastOrder = [this.lastOrder[0], Infinity]; // no more is heard of this race
      const text = "The server does not answer; nothing of this race has come.";
      this.takeNews({ about: "race", text, isError: true });
    }, STOP_MS);
  }

  /** @param {string} name */
  turn(name) {
    if (name === "race") this.parts ??= this.build();
    // A view that is left stands still.
    else this.parts?.player.rest();
  }

  /**
   * The page was opened by the link of a race: choose what it says, once.
   * @param {LinkedEntry} choice
   */
  takeLink(choice) {
    if (this.isLinkTaken) return;
    this.isLinkTaken = true;
    this.parts ??= this.build();
    this.parts.form.choose(choice);
    this.parts.player.rest();
  }

  /** @param {RaceNews} news */
  take({ order, text, is_error: isError, is_running: isRunning, board, link, choice }) {
    if (choice) this.takeLink(choice);
    if (!this.parts || !isLater(order, this.lastOrder)) return;
    this.lastOrder = order;
    this.say({ text, isError, isRunning, board });
    if (link) keepAddress(linkToRace(link));
  }

  /**
   * What this browser says of a race of its own.
   * @param {News} news
   */
  takeNews({ text = "", isError = false, isRunning = false, board = null }) {
    this.say({ text, isError, isRunning, board });
  }

  /** @param {{ text: string, isError: boolean, isRunning: boolean, board: Board | null }} news */
  say({ text, isError, isRunning, board }) {
    if (!this.parts) return;
    const { form, player } = this.parts;
    form.showRunning(isRunning);
    player.stale.showRunning(isRunning, isError);
    form.say(text, isError);
    if (board) player.open(board);
  }

  /**
   * An error is of what the form asked for: it goes with the next input, but for the player's.
   * @param {Event} event
   */
  forgetError(event) {
    if (!this.parts?.form.hasError || elementOf(event)?.closest(".sbd-race-card")) return;
    this.parts.form.say("", false);
    this.parts.player.stale.showRunning(false);
  }

  /**
   * The prompt is Watch's too: the keys that send it decode there and race here.
   * @param {KeyboardEvent} event
   */
  press(event) {
    const isRacing = currentView() === "race";
    if (event.key !== "Enter" || !event.shiftKey || !isRacing || !this.parts) return;
    if (!elementOf(event)?.closest(`#${this.setting.prompt_id}`)) return;
    event.preventDefault();
    event.stopPropagation();
    this.parts.form.start();
  }
}

/**
 * The race that the form and its lanes ask for together.
 * @param {Entry} choice
 */
function entryOf(choice) {
  const { prompt, block_size, max_new_tokens, seed = 0 } = readForm();
  return { prompt, block_size, max_new_tokens, seed, ...choice };
}

/** @type {Mount} */
export function mountRace({ element, value, trigger, signal }) {
  const setting = JSON.parse(value);
  const view = new RaceView(find(element, ".sbd-race"), setting, trigger, signal);
  onTurn((name) => view.turn(name), signal);
  inBrowser.race = (news) => view.takeNews(news);
  /** @param {KeyboardEvent} event */
  const press = (event) => view.press(event);
  document.addEventListener("keydown", press, { capture: true, signal });
  document.addEventListener("input", (event) => view.forgetError(event), { signal });
  return (text) => view.take(JSON.parse(text));
}
