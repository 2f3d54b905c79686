// The Compare view: has the server or this browser decode lanes, and shows them.

import { NUM_TIMINGS } from "../core/times.ts";
import { KINDS, laneSettingOf, laneTitle } from "../core/words.ts";
import { elementOf, find } from "../dom/elements.ts";
import { promptBox } from "../dom/page.ts";
import { currentView, onViewChange } from "../dom/views.ts";
import { form as pageForm } from "../form/form.ts";
import { doJob, type News, onCompared } from "../jobs.ts";
import { onModels, settingsOf } from "../models.ts";
import { linkToLanes, queryOfAddress, replaceAddress } from "../share/permalink.ts";
import { FormDifference, otherRunWords } from "../watch/form_difference.ts";
import { CompareForm, type FormSetting, formDifferences } from "./form.ts";
import { ComparePlayer } from "./player.ts";

/** lines: wire lines of the recorded run that is shown first, "" for none */
type Setting = FormSetting & { lines: string };

class CompareView {
  endedId = ""; // of the run that ended last
  numLeft = 0; // timings that are still to come, with the one that runs
  form: CompareForm;
  player: ComparePlayer;
  formDifference: FormDifference;

  constructor(
    readonly host: HTMLElement & { sbdCompare?: ComparePlayer },
    readonly setting: Setting,
    signal: AbortSignal,
  ) {
    const form = new CompareForm(setting, { start: () => this.start(), halt: () => this.halt() });
    const link = () =>
      linkToLanes(form.lanes, { ...formOfLanes(), prompt: pageForm.prompt, pinned: [] }).href;
    const player: ComparePlayer = new ComparePlayer(host, link, () => this.time(), signal);
    const onDiffer = () => player.pause();
    const formDifference = new FormDifference(() => this.differences, signal, onDiffer);
    [this.form, this.player, this.formDifference] = [form, player, formDifference];
    const { lanes } = this;
    if (lanes) form.choose(lanes);
    form.root.addEventListener("input", () => formDifference.update());
    player.form = form.root;
    player.note = formDifference.root;
    host.sbdCompare = player;
  }

  /** The lanes that the address names, null for none; nothing checks them here. */
  get lanes() {
    return queryOfAddress().get("lanes")?.split(",") ?? null;
  }

  /** How the form and its lanes differ from the run shown, in a sentence; "" if they do not. */
  get differences() {
    const { run } = this.player.history;
    return run ? otherRunWords(formDifferences(run, this.form.lanes)) : "";
  }

  /** Compare lanes. @param lanes those of the form, or of a link, which may be wrong */
  start(lanes = this.form.lanes) {
    const { form, player } = this;
    form.showRunning(true);
    player.showTiming(this.numLeft);
    player.pause();
    this.formDifference.wait(true);
    doJob({ kind: "compare", lanes, form: formOfLanes() });
  }

  halt() {
    this.numLeft = 0;
    this.player.showTiming(0);
    doJob({ kind: "stop" });
  }

  time() {
    this.numLeft = NUM_TIMINGS;
    this.start();
  }

  startLink() {
    this.start(this.lanes ?? [""]);
  }

  /** Show the recorded run at the first visit, and play while this view is in front. */
  changeView(name: string) {
    const { form, player, formDifference, setting } = this;
    const isInFront = name === "compare";
    player.isOpen ||= isInFront;
    if (isInFront && !player.history.run && setting.lines) player.receive(setting.lines);
    if (!isInFront || this.lanes) player.pause();
    if (!isInFront) return;
    form.takeModelPreset();
    formDifference.update();
    player.paint();
  }

  show({ text = "", isError = false, isRunning = false, wire = "" }: Partial<News>) {
    const { form, player, formDifference } = this;
    form.showRunning(isRunning);
    form.showMessage(text, isError);
    if (wire && wire !== "stop") player.receive(wire);
    if (!isRunning) player.end();
    formDifference.wait(formDifference.isWaiting && isRunning && !wire);
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
    const { run } = this.player.history;
    if (!run || run.isRecorded) return false;
    const lanes = [...run.lanes.values()];
    const link = linkToLanes([...run.lanes.keys()], settingsOf(run));
    replaceAddress(link);
    const isWhole = lanes.every(({ finish }) => finish !== "stopped");
    if (isWhole) this.player.takeTimes(link.href);
    const marks = lanes.map((lane) => ({
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
    if (!this.form.hasError || elementOf(event)?.closest(".sbd-compare-card")) return;
    this.form.showMessage("", false);
  }

  /** Let Enter in the prompt, which Watch shares, start a comparison while this view is in front. */
  press(event: KeyboardEvent) {
    const isSent = event.key === "Enter" && !event.shiftKey && event.target === promptBox();
    if (!isSent || currentView() !== "compare") return;
    event.preventDefault();
    this.form.start();
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
  onModels(() => view.form.takeModelPreset(), signal);
  document.addEventListener("keydown", (event) => view.press(event), { signal });
  document.addEventListener("input", (event) => view.forgetError(event), { signal });
  return view;
}
