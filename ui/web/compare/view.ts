// The Compare view: has the server or this browser decode lanes, and shows them. Built when it is first needed.

import { KINDS, laneSettingOf, laneTitle } from "../core/words.ts";
import { elementOf, find } from "../dom/elements.ts";
import { STOP_MS } from "../dom/gradio.ts";
import { onScheme } from "../dom/screen.ts";
import { currentView, onViewChange } from "../dom/views.ts";
import type { News } from "../engine/session.ts";
import { readForm } from "../form/fields.ts";
import { isLater, type MessageNumber } from "../form/status.ts";
import { doInBrowser, inBrowser } from "../in_browser.ts";
import { chosenModel, settingsOf } from "../models.ts";
import { linkToLanes, replaceAddress } from "../share/permalink.ts";
import type { Mount, Trigger } from "../stub.ts";
import { CompareForm, DifferenceLine, type FormSetting } from "./form.ts";
import { ComparePlayer } from "./player.ts";

/**
 * prompt_id: element id of the form's prompt. lines: wire lines of the recorded run that is shown first, "" for
 * none.
 */
type Setting = FormSetting & { prompt_id: string; lines: string };

/** A message from the server; its fields mean the same as those of News in engine/session.ts. */
interface ServerNews {
  order: MessageNumber;
  text: string;
  is_error: boolean;
  is_running: boolean;
  wire: string;
}

class CompareView {
  parts: { form: CompareForm; player: ComparePlayer; differenceLine: DifferenceLine } | null = null;
  lastOrder: MessageNumber = [-1, -1];
  haltTimer = 0;

  constructor(
    readonly host: HTMLElement & { sbdCompare?: ComparePlayer },
    readonly setting: Setting,
    readonly trigger: Trigger,
    readonly signal: AbortSignal,
  ) {}

  build() {
    const { host, setting, signal } = this;
    const player = new ComparePlayer(host, signal);
    const form = new CompareForm(setting, {
      start: () => this.start(),
      halt: () => doInBrowser({ kind: "stop" }) || this.halt(),
    });
    const differenceLine = new DifferenceLine(
      () => player.history.run,
      () => form.lanes,
      setting.prompt_id,
      () => player.pause(),
      signal,
    );
    player.head.append(differenceLine.root);
    host.replaceChildren(form.root, player.card, player.result, player.live, player.help.root);
    host.sbdCompare = player;
    if (setting.lines) player.receive(setting.lines);
    this.takeLink(form, player);
    onScheme(() => player.redraw(), signal);
    return { form, player, differenceLine };
  }

  start() {
    if (!this.parts) return;
    clearTimeout(this.haltTimer);
    const { lanes } = this.parts.form;
    const form = formOfLanes();
    this.parts.player.pause();
    this.parts.differenceLine.isWaiting = true;
    this.parts.differenceLine.update();
    doInBrowser({ kind: "compare", lanes, form }) || this.trigger("start", { lanes, form });
  }

  /** Ask the server to stop; if it does not answer in time, ignore all that still comes of this run. */
  halt() {
    this.trigger("halt", {});
    this.haltTimer = window.setTimeout(() => {
      if (this.signal.aborted || this.parts?.form.stop.disabled) return;
      this.lastOrder = [this.lastOrder[0], Infinity]; // drops later messages of this run
      const text = "The server does not answer; nothing more of this run has come.";
      this.show({ text, isError: true });
    }, STOP_MS);
  }

  changeView(name: string) {
    if (name === "compare") {
      this.parts ??= this.build();
      this.parts.form.takeModelPreset();
      this.parts.differenceLine.update();
    }
    // Another view has come to the front.
    else this.parts?.player.pause();
  }

  /** Choose the lanes that the address names; nothing checks them here. */
  takeLink(form: CompareForm, player: ComparePlayer) {
    const lanes = new URLSearchParams(window.location.search).get("lanes");
    if (!lanes) return;
    form.choose(lanes.split(","));
    player.pause();
  }

  receive({ order, text, is_error: isError, is_running: isRunning, wire }: ServerNews) {
    this.parts ??= this.build(); // a link's lanes are decoded even if another view is in front
    if (!isLater(order, this.lastOrder)) return;
    this.lastOrder = order;
    this.show({ text, isError, isRunning, wire });
  }

  /** Show a message from the server or from this browser's engine. */
  show({ text = "", isError = false, isRunning = false, wire = "" }: Partial<News>) {
    if (!this.parts) return;
    const { form, player, differenceLine } = this.parts;
    form.showRunning(isRunning);
    form.showMessage(text, isError);
    differenceLine.hasFailed = isError;
    if (wire || !isRunning) differenceLine.isWaiting = false;
    if (wire && wire !== "stop") player.receive(wire);
    if (!isRunning) player.end();
    differenceLine.update();
    if (!isRunning && !isError) this.finish();
  }

  /** After a run, put its lanes into the address and add their results to the charts. */
  finish() {
    const run = this.parts?.player.history.run;
    if (!run || run.isRecorded) return;
    replaceAddress(linkToLanes([...run.lanes.keys()], settingsOf(run)));
    const detail = [...run.lanes.values()].map((lane) => ({
      name: laneTitle(lane.name),
      rate: lane.numTokensAt(lane.lastPass) / Math.max(lane.steps.length, 1),
      right: lane.verdict?.right ?? null,
    }));
    this.host.dispatchEvent(new CustomEvent("sbd-compared", { bubbles: true, detail }));
  }

  /** Clear an error about the form at the next input, except in the player. */
  forgetError(event: Event) {
    if (!this.parts?.form.hasError || elementOf(event)?.closest(".sbd-compare-card")) return;
    this.parts.form.showMessage("", false);
    this.parts.differenceLine.hasFailed = false;
    this.parts.differenceLine.update();
  }

  /** Let Shift+Enter in the prompt, which Watch shares, start a comparison while this view is in front. */
  press(event: KeyboardEvent) {
    if (event.key !== "Enter" || !event.shiftKey || currentView() !== "compare") return;
    if (!elementOf(event)?.closest(`#${this.setting.prompt_id}`)) return;
    event.preventDefault();
    event.stopPropagation();
    this.parts?.form.start();
  }
}

/** Settings that a lane's name gives, and the template, which only Watch has. */
const SETTINGS_OF_LANES = [
  "strategy",
  "solver",
  "template",
  ...KINDS.map((kind) => laneSettingOf(kind)?.[0] ?? ""),
];

/** Return the form's fields that all lanes share, and the model's name. */
function formOfLanes() {
  const shared = Object.entries(readForm()).filter(([name]) => !SETTINGS_OF_LANES.includes(name));
  return { ...Object.fromEntries(shared), model: chosenModel() };
}

export const mountCompare: Mount = ({ element, value, trigger, signal }) => {
  const setting = JSON.parse(value);
  const view = new CompareView(find(element, ".sbd-compare"), setting, trigger, signal);
  onViewChange((name) => view.changeView(name), signal);
  inBrowser.compare = (news) => view.show(news);
  const press = (event: KeyboardEvent) => view.press(event);
  document.addEventListener("keydown", press, { capture: true, signal });
  document.addEventListener("input", (event) => view.forgetError(event), { signal });
  return (text) => view.receive(JSON.parse(text));
};
