// The home view: plays a recorded run beside next-token prediction, forward pass by forward pass, over and over. The
// visitor can choose another run.

import { html, nothing, render } from "lit-html";
import { entropyColour, unsureness } from "./core/colours.ts";
import { compareMain } from "./core/differences.ts";
import { formatSeconds } from "./core/numbers.ts";
import { History, type Lane, type Run } from "./core/run.ts";
import { LANE_TITLES, PAPER_PAGE } from "./core/words.ts";
import { Clock } from "./dom/clock.ts";
import { find, make } from "./dom/elements.ts";
import { listenToKeys } from "./dom/keys.ts";
import { isDarkPage, onScheme, prefersReducedMotion } from "./dom/screen.ts";
import { buttonTemplate, measureChoice, meterTemplate, playButton } from "./dom/templates.ts";
import { askForChat, onViewChange, playerOf, showView } from "./dom/views.ts";
import { form } from "./form/form.ts";
import { showRecorded } from "./recordings.ts";
import { initialState, Reveals, type View, viewOf } from "./watch/playhead.ts";
import { LaneText } from "./watch/text.ts";

const RACE_SECONDS = 14;
const MOST_SECONDS = 0.3; // for each forward pass of the longer lane
const [SURE, UNSURE] = [0.02, 3]; // nats, for samples in the key
// Positions cannot be inspected here.
const STILL = { hover: () => {}, toggleHold: () => {} };

/** One lane: its name, the number of its forward passes so far, and its text. */
class HomeLane {
  shown = "";
  title = LANE_TITLES[this.lane.name] ?? this.lane.name;
  text = new LaneText(`${this.title}: answer`, STILL);
  // The whole answer, invisible, so that its space is taken from the start.
  spacer = new LaneText("", STILL);
  root = make("section", `sbd-home-lane sbd-lane-${this.isMain ? "main" : "ntp"}`);

  constructor(
    readonly lane: Lane,
    readonly isMain: boolean,
  ) {}

  update(pass: number, viewAt: (pass: number) => View) {
    const { lane, title, text, spacer } = this;
    const key = `${pass} ${isDarkPage()}`;
    if (key === this.shown) return;
    this.shown = key;
    const share = lane.numTokensAt(pass) / Math.max(lane.numCommitted, 1);
    this.root.classList.toggle("is-finished", pass === lane.lastPass);
    spacer.update(viewAt(lane.lastPass), lane);
    text.update(viewAt(pass), lane);
    const content = html`${meterTemplate(share)}
      <div class="sbd-home-lane-head">
        <h2>${title}</h2>
        <span class="sbd-home-count"
          ><b>${pass + 1}</b> <small>${pass === 0 ? "pass" : "passes"}</small></span>
      </div>
      <div class="sbd-home-answer">
        <div class="sbd-home-room" inert aria-hidden="true">${spacer.root}</div>
        ${text.root}
      </div>`;
    render(content, this.root);
  }
}

class HomeRace {
  reveals = new Reveals();
  lanes: HomeLane[];
  play = make("span", "sbd-home-play");
  root = make("div", "sbd-home-race", { "data-strategy": this.run.strategy });
  clock: Clock;

  /** @param run complete, with two lanes @param signal ends the race */
  constructor(
    readonly run: Run,
    signal: AbortSignal,
  ) {
    const lanes = [...run.lanes.values()];
    const isByTime = lanes.every((lane) => lane.secondsAt(lane.lastPass) > 0);
    const count = Math.max(...lanes.map((lane) => lane.steps.length));
    const duration = Math.min(RACE_SECONDS, count * MOST_SECONDS);
    this.clock = new Clock({ duration, loops: true, isByTime }, () => this.draw(), signal);
    this.clock.lanes = lanes;
    this.lanes = lanes.map((lane) => new HomeLane(lane, lane === run.main));
    listenToKeys(this.root, { togglePlay: () => this.clock.toggle() }, signal);
    onScheme(() => this.draw(), signal);
    this.clock.set({ value: prefersReducedMotion() ? this.clock.finish : 0 });
  }

  setPlaying(isPlaying: boolean) {
    this.clock.set({ isPlaying });
  }

  draw() {
    const { run, reveals, clock, lanes } = this;
    const parts = { run, reveals, isDark: isDarkPage(), isLecture: false, isStep: false };
    const toggle = () => clock.toggle();
    render(playButton(clock.isPlaying, toggle), this.play);
    for (const lane of lanes) {
      const view = (at: number) => viewOf({ ...initialState(), pass: at }, parts);
      lane.update(Math.max(clock.passOf(lane.lane), 0), view);
    }
    const same = haveSameAnswer(run)
      ? "Both answers are identical, token for token."
      : "The answers differ.";
    const content = html`<p class="sbd-home-prompt"><span>Prompt</span> ${run.prompt}</p>
      <div class="sbd-home-lanes">${lanes.map(({ root }) => root)}</div>
      <div class="sbd-home-under">
        ${keyTemplate(run)}<span class="sbd-home-measured"
          >${measureChoice(clock.isByTime, (isByTime) => clock.measureBy(isByTime))}<span class="sbd-home-slowness">${clock.slownessWords}</span></span
        >
        <p class="sbd-home-outcome ${clock.value >= clock.finish ? "is-due" : ""}" role="status"
          >${same}</p>
      </div>`;
    render(content, this.root);
  }
}

/** model: the title of the run's model */
type RecordedRun = { model: string; run: Run };

const haveSameAnswer = (run: Run) => compareMain(run)?.words === "";

function sentence(run: Run) {
  const words = haveSameAnswer(run) ? "the same words" : "an answer";
  return html`<h2 class="sbd-home-sentence"
    >The same model writes ${words} in
    <b class="sbd-home-own">${run.main.steps.length}</b> forward passes instead of
    <b class="sbd-home-plain">${run.ntp?.steps.length ?? 0}</b>.</h2>`;
}

/**
 * Return a paragraph on the model, its forward passes and the recorded times, with a button that measures the visitor's.
 * @param processor on which the runs were recorded, "" if unknown
 */
function whyTemplate({ model, run }: RecordedRun, processor: string) {
  const { strategy, main, ntp } = run;
  const isVerify = strategy === "verify";
  const [mainSeconds, ntpSeconds] = [main, ntp].map((lane) => lane?.secondsAt(lane.lastPass) ?? 0);
  const checked = isVerify
    ? "every token is that of next-token prediction"
    : "no token is checked against next-token prediction, so another prompt may get other words";
  const [before, after] = isVerify
    ? ["Our addition, not the paper’s: verify checks the drafts of ", "."]
    : ["The method of ", ", reimplemented by others."];
  const paper = html`<a href=${PAPER_PAGE} target="_blank" rel="noopener noreferrer">Gat et al. 2025</a>`;
  const where = processor && `on an ${processor} processor, `;
  const clock = `${formatSeconds(mainSeconds ?? 0)} instead of ${formatSeconds(ntpSeconds ?? 0)}`;
  const why = Number(mainSeconds) > Number(ntpSeconds) ? "by longer passes, " : "";
  const times = html`<br />${clock} ${where}${why}timed once;
    ${buttonTemplate("sbd-home-measure", "measure yours", () => measure(run))}.`;
  return html`<p class="sbd-home-why"
    >${before}${paper}${after} Each pass runs the whole model, ${model}; ${checked}.${
      mainSeconds && ntpSeconds ? times : nothing
    }</p>`;
}

/** Return a key of the main lane's colours and marks. */
function keyTemplate({ strategy }: Run) {
  const item = (kind: string, entropy?: number) => {
    const inks = (nats: number) =>
      `--ink-light: ${entropyColour(nats, false)}; --ink-dark: ${entropyColour(nats, true)}; --unsure: ${unsureness(nats).toFixed(2)}`;
    return html`<li
      ><span
        class="sbd-word sbd-home-sample is-${kind}"
        style=${entropy === undefined ? nothing : inks(entropy)}
        aria-hidden="true"
      ></span
      >${kind}</li>`;
  };
  const kinds = strategy === "verify" ? ["draft", "not guessed"] : ["mask"];
  return html`<ul class="sbd-home-key" aria-label="Colours"
    >${kinds.map((kind) => item(kind))}${item("sure", SURE)}${item("unsure", UNSURE)}${item("new")}</ul
  >`;
}

/** Open a recorded run in the player, and decode it here several times to time it. */
function measure(run: Run) {
  showRecorded(run.lines.join("\n"));
  form.follow(run.settings());
  const player = playerOf(document);
  player?.timeRun();
  player?.parts.details.setOpen(true);
}

/** @param lines wire lines @returns null without next-token prediction as a lane */
function runOf(lines: string): Run | null {
  const history = new History();
  history.accept(lines);
  return history.run?.ntp ? history.run : null;
}

export function mountHome(element: HTMLElement, value: string, signal: AbortSignal) {
  const { runs, processor }: { runs: { model: string; lines: string }[]; processor: string } =
    JSON.parse(value);
  const root = find(element, ".sbd-home");
  let race: HomeRace | null = null;
  let leaving = new AbortController();
  signal.addEventListener("abort", () => leaving.abort());

  function askForPrompt() {
    showView("watch");
    askForChat();
  }

  function show(all: RecordedRun[], index: number) {
    const shown = all[index];
    leaving.abort();
    leaving = new AbortController();
    race = shown ? new HomeRace(shown.run, leaving.signal) : null;
    const choose = (at: number) => {
      show(all, at);
      race?.setPlaying(!prefersReducedMotion());
    };
    const choice = ({ model, run }: RecordedRun, at: number) =>
      buttonTemplate(
        "sbd-home-choice",
        `${LANE_TITLES[run.strategy]} · ${model}`,
        () => choose(at),
        { isPressed: at === index },
      );
    const told = shown && [sentence(shown.run), whyTemplate(shown, processor)];
    const choices = html`<div class="sbd-home-choices" role="group" aria-label="Recorded run"
      >${all.length > 1 ? all.map(choice) : ""}</div>`;
    // Without recorded runs only the ways are left.
    const content = html`${told}${shown ? choices : ""}${race?.root}
      <div class="sbd-home-ways"
        ><a class="sbd-home-way" href="#learn" data-view="learn">How it works</a
        >${buttonTemplate("sbd-home-way is-main", "Try your own prompt", askForPrompt)}${race?.play}</div>`;
    if (shown) root.setAttribute("data-strategy", shown.run.strategy);
    render(content, root);
  }

  onViewChange((name) => {
    const isInFront = name === "home";
    if (isInFront && !root.firstChild) {
      const whole = runs.flatMap(({ model, lines }) => {
        const run = runOf(lines);
        return run ? [{ model, run }] : [];
      });
      show(whole, 0);
    }
    // The race pauses while another view is shown.
    race?.setPlaying(isInFront && !prefersReducedMotion());
  }, signal);
}
