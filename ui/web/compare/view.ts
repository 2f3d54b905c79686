// The Compare view: has the server or this browser decode lanes, and shows them. Built when it is first needed.

import { NUM_TIMINGS } from "../core/times.ts";
import { KINDS, laneSettingOf, laneTitle } from "../core/words.ts";
import { elementOf, find } from "../dom/elements.ts";
import { promptBox } from "../dom/page.ts";
import { currentView, onViewChange } from "../dom/views.ts";
import { form as pageForm } from "../form/form.ts";
import { doJob, type News, onCompared } from "../jobs.ts";
import { onModels, settingsOf } from "../models.ts";
import { linkToLanes, queryOfAddress, replaceAddress } from "../share/permalink.ts";
import { CompareForm, DifferenceLine, type FormSetting } from "./form.ts";
import { ComparePlayer } from "./player.ts";

/** lines: wire lines of the recorded run that is shown first, "" for none */
type Setting = FormSetting & { lines: string };

class CompareView {
  endedId = ""; // of the run that ended last
  numLeft = 0; // timings that are still to come, with the one that runs
  parts: { form: CompareForm; player: ComparePlayer; differenceLine: DifferenceLine } | null = null;

  constructor(
    readonly host: HTMLElement & { sbdCompare?: ComparePlayer },
    readonly setting: Setting,
    readonly signal: AbortSignal,
  ) {}

  build() {
    const { host, setting, signal } = this;
    const link = () =>
      linkToLanes(form.lanes, { ...formOfLanes(), prompt: pageForm.prompt, pinned: [] });
    const player = new ComparePlayer(
      host,
      () => link().href,
      () => this.time(),
      signal,
    );
    const form = new CompareForm(setting, {
      start: () => this.start(),
      halt: () => {
        this.numLeft = 0;
        player.showTiming(0);
        doJob({ kind: "stop" });
      },
    });
    const differenceLine = new DifferenceLine(
      () => player.history.run,
      () => form.lanes,
      () => player.pause(),
      signal,
    );
    form.root.addEventListener("input", () => differenceLine.update());
    player.form = form.root;
    player.note = differenceLine.root;
    player.paint();
    host.sbdCompare = player;
    if (setting.lines) player.receive(setting.lines);
    this.takeLink(form, player);
    return { form, player, differenceLine };
  }

  /** Compare lanes. @param lanes those of the form, or of a link, which may be wrong */
  start(lanes?: string[]) {
    this.parts ??= this.build(); // a link's lanes are decoded even if another view is in front
    const { form, player, differenceLine } = this.parts;
    form.showRunning(true);
    player.showTiming(this.numLeft);
    player.pause();
    differenceLine.isWaiting = true;
    differenceLine.update();
    doJob({ kind: "compare", lanes: lanes ?? form.lanes, form: formOfLanes() });
  }

  time() {
    this.numLeft = NUM_TIMINGS;
    this.start();
  }

  startLink() {
    this.start((queryOfAddress().get("lanes") ?? "").split(","));
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
    const lanes = queryOfAddress().get("lanes");
    if (!lanes) return;
    form.choose(lanes.split(","));
    player.pause();
  }

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
    const { run } = player.history;
    // More than one message may come at the end of a run.
    if (isRunning || (!isError && (!run || run.isRecorded || run.id === this.endedId))) return;
    this.endedId = run?.id ?? "";
    const isWhole = !isError && this.finish();
    this.numLeft = isWhole ? Math.max(this.numLeft - 1, 0) : 0;
    player.showTiming(this.numLeft);
    if (this.numLeft) this.start();
  }

  /** After a run, put its lanes into the address and add their results to the charts; false if it was stopped. */
  finish() {
    const run = this.parts?.player.history.run;
    if (!run || run.isRecorded) return false;
    const link = linkToLanes([...run.lanes.keys()], settingsOf(run));
    replaceAddress(link);
    const isWhole = [...run.lanes.values()].every(({ finish }) => finish !== "stopped");
    if (isWhole) this.parts?.player.takeTimes(link.href);
    const marks = [...run.lanes.values()].map((lane) => ({
      name: laneTitle(lane.name),
      rate: lane.numTokensAt(lane.lastPass) / Math.max(lane.steps.length, 1),
      right: lane.verdict?.right ?? null,
    }));
    const detail = { model: run.model, marks };
    this.host.dispatchEvent(new CustomEvent("sbd-compared", { bubbles: true, detail }));
    return isWhole;
  }

  /** Clear an error about the form at the next input, except in the player. */
  forgetError(event: Event) {
    if (!this.parts?.form.hasError || elementOf(event)?.closest(".sbd-compare-card")) return;
    this.parts.form.showMessage("", false);
    this.parts.differenceLine.hasFailed = false;
    this.parts.differenceLine.update();
  }

  /** Let Enter in the prompt, which Watch shares, start a comparison while this view is in front. */
  press(event: KeyboardEvent) {
    const isSent = event.key === "Enter" && !event.shiftKey && event.target === promptBox();
    if (!isSent || currentView() !== "compare") return;
    event.preventDefault();
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

function formOfLanes() {
  const shared = Object.entries(pageForm.request);
  return Object.fromEntries(shared.filter(([name]) => !SETTINGS_OF_LANES.includes(name)));
}

export function mountCompare(element: HTMLElement, value: string, signal: AbortSignal) {
  const view = new CompareView(find(element, ".sbd-compare"), JSON.parse(value), signal);
  onViewChange((name) => view.changeView(name), signal);
  onCompared((news) => view.show(news), signal);
  onModels(() => view.parts?.form.takeModelPreset(), signal);
  document.addEventListener("keydown", (event) => view.press(event), { signal });
  document.addEventListener("input", (event) => view.forgetError(event), { signal });
  return view;
}
