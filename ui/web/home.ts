// The home view: plays a recorded run beside next-token prediction, forward pass by forward pass, over and over. The
// visitor can choose another run.

import { html, render } from "lit-html";
import { entropyColour, unsureness } from "./core/colours.ts";
import { formatSeconds } from "./core/numbers.ts";
import { History, type Lane, type Run } from "./core/run.ts";
import { LANE_TITLES, PAPER_PAGE } from "./core/words.ts";
import { Clock } from "./dom/clock.ts";
import {
  find,
  make,
  makeButton,
  makeMeasureChoice,
  setStyle,
  setText,
  showPlaying,
} from "./dom/elements.ts";
import { listenToKeys } from "./dom/keys.ts";
import { isDarkPage, onScheme, prefersReducedMotion } from "./dom/screen.ts";
import { askForChat, onViewChange, playerOf, showView } from "./dom/views.ts";
import { form } from "./form/form.ts";
import { showRecorded } from "./recordings.ts";
import { initialState, Reveals, type View, viewOf } from "./watch/playhead.ts";
import { LaneText } from "./watch/text.ts";

const RACE_SECONDS = 14;
const MOST_SECONDS = 0.3; // for each forward pass of the longer lane
const [SURE, UNSURE] = [0.02, 3]; // nats, for samples in the key

/** One lane: its name, the number of its forward passes so far, and its text. */
class HomeLane {
  shown = "";
  title: string;
  text: LaneText;
  spacer: LaneText;
  root: HTMLElement;

  constructor(
    readonly lane: Lane,
    isMain: boolean,
  ) {
    this.title = LANE_TITLES[lane.name] ?? lane.name;
    // Positions cannot be inspected here.
    const still = { hover: () => {}, toggleHold: () => {} };
    this.text = new LaneText(`${this.title}: answer`, still);
    // The whole answer, invisible, so that its space is taken from the start.
    this.spacer = new LaneText("", still);
    this.root = make("section", `sbd-home-lane sbd-lane-${isMain ? "main" : "ntp"}`);
  }

  /** @param pass to show */
  update(pass: number, viewAt: (pass: number) => View) {
    const { lane, title, text, spacer } = this;
    const key = `${pass} ${isDarkPage()}`;
    if (key === this.shown) return;
    this.shown = key;
    const share = lane.numTokensAt(pass) / Math.max(lane.numCommitted, 1);
    this.root.classList.toggle("is-finished", pass === lane.lastPass);
    spacer.update(viewAt(lane.lastPass), lane);
    text.update(viewAt(pass), lane);
    const content = html`<span class="sbd-home-meter" aria-hidden="true"
        ><span class="sbd-home-fill" style="width: ${100 * share}%"></span
      ></span>
      <div class="sbd-home-lane-head">
        <h2>${title}</h2>
        <span class="sbd-home-count"
          ><b>${pass + 1}</b> <small>${pass === 0 ? "pass" : "passes"}</small></span
        >
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
  outcome: HTMLParagraphElement;
  root: HTMLDivElement;
  play: HTMLButtonElement;
  slowness = make("span", "sbd-home-slowness");
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
    const same = haveSameAnswer(run)
      ? "Both answers are identical, token for token."
      : "The answers differ.";
    this.outcome = make("p", "sbd-home-outcome", { role: "status" }, same);
    const choice = makeMeasureChoice(isByTime, (byTime) => this.clock.measureBy(byTime));
    const measure = make("span", "sbd-home-measured", choice, this.slowness);
    this.root = make(
      "div",
      "sbd-home-race",
      { "data-strategy": run.strategy },
      make("p", "sbd-home-prompt", make("span", "", "Prompt"), ` ${run.prompt}`),
      make("div", "sbd-home-lanes", ...this.lanes.map(({ root }) => root)),
      make("div", "sbd-home-under", makeKey(run), measure, this.outcome),
    );
    this.play = makeButton("play", "Play (space)", () => this.clock.toggle());
    listenToKeys(this.root, { togglePlay: () => this.clock.toggle() }, signal);
    onScheme(() => this.draw(), signal);
    this.clock.set({ value: prefersReducedMotion() ? this.clock.finish : 0 });
  }

  setPlaying(isPlaying: boolean) {
    this.clock.set({ isPlaying });
  }

  draw() {
    const { run, reveals, clock } = this;
    const parts = { run, reveals, isDark: isDarkPage(), isLecture: false, isStep: false };
    showPlaying(this.play, clock.isPlaying);
    this.outcome.classList.toggle("is-due", clock.value >= clock.finish);
    setText(this.slowness, clock.slownessWords);
    for (const lane of this.lanes) {
      const view = (at: number) => viewOf({ ...initialState(), pass: at }, parts);
      lane.update(Math.max(clock.passOf(lane.lane), 0), view);
    }
  }
}

/** model: the title of the run's model */
type RecordedRun = { model: string; run: Run };

/** Whether both lanes have the same answer. */
function haveSameAnswer({ main, ntp }: Run) {
  if (!ntp || main.numCommitted !== ntp.numCommitted) return false;
  return [...main.fixed].every(
    ([position, { token }]) => position >= main.end || ntp.fixed.get(position)?.token === token,
  );
}

function makeSentence(run: Run) {
  const words = haveSameAnswer(run) ? "the same words" : "an answer";
  return make(
    "h2",
    "sbd-home-sentence",
    `The same model writes ${words} in `,
    make("b", "sbd-home-own", String(run.main.steps.length)),
    " forward passes instead of ",
    make("b", "sbd-home-plain", String(run.ntp?.steps.length ?? 0)),
    ".",
  );
}

/**
 * Create a paragraph on the model, its forward passes and the recorded times, with a button that measures the visitor's.
 * @param processor on which the runs were recorded, "" if unknown
 */
function makeWhy({ model, run }: RecordedRun, processor: string) {
  const { strategy, main, ntp } = run;
  const [mainSeconds, ntpSeconds] = [main, ntp].map((lane) => lane?.secondsAt(lane.lastPass) ?? 0);
  const checked =
    strategy === "verify"
      ? "every token is that of next-token prediction"
      : "no token is checked against next-token prediction, so another prompt may get other words";
  const whose =
    strategy === "verify"
      ? ["Our addition, not the paper’s: verify checks the drafts of ", "."]
      : ["The method of ", ", reimplemented by others."];
  const paper = make(
    "a",
    "",
    { href: PAPER_PAGE, target: "_blank", rel: "noopener noreferrer" },
    "Gat et al. 2025",
  );
  const pass = ` Each pass runs the whole model, ${model}; ${checked}.`;
  const why = make("p", "sbd-home-why", whose[0] ?? "", paper, whose[1] ?? "", pass);
  if (!mainSeconds || !ntpSeconds) return why;
  const where = processor && `on an ${processor} processor, `;
  const clock = `${formatSeconds(mainSeconds)} instead of ${formatSeconds(ntpSeconds)}`;
  const yours = make("button", "sbd-home-measure", "measure yours", () => measure(run));
  why.append(make("br"), `${clock} ${where}timed once; `, yours, ".");
  return why;
}

/** Create a key of the main lane's colours and marks. */
function makeKey({ strategy }: Run) {
  const item = (kind: string, word: string, entropy: number | null) => {
    const sample = make("span", `sbd-word sbd-home-sample is-${kind}`, { "aria-hidden": "true" });
    if (entropy !== null) {
      setStyle(sample, "--ink-light", entropyColour(entropy, false));
      setStyle(sample, "--ink-dark", entropyColour(entropy, true));
      setStyle(sample, "--unsure", unsureness(entropy).toFixed(2));
    }
    return make("li", "", sample, word);
  };
  const kinds = strategy === "verify" ? ["draft", "not guessed"] : ["mask"];
  return make(
    "ul",
    "sbd-home-key",
    { "aria-label": "Colours" },
    ...kinds.map((kind) => item(kind, kind, null)),
    item("sure", "sure", SURE),
    item("unsure", "unsure", UNSURE),
    item("new", "new", null),
  );
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

  function makeViewLinks() {
    const learn = { href: "#learn", "data-view": "learn" };
    const own = make("button", "sbd-home-way is-main", "Try your own prompt", () => {
      showView("watch");
      askForChat();
    });
    return make("div", "sbd-home-ways", make("a", "sbd-home-way", learn, "How it works"), own);
  }

  function show(all: RecordedRun[], index: number) {
    const shown = all[index];
    const ways = makeViewLinks();
    if (!shown) {
      root.replaceChildren(ways); // the recorded runs are missing
      return;
    }
    leaving.abort();
    leaving = new AbortController();
    const { run } = shown;
    race = new HomeRace(run, leaving.signal);
    ways.append(race.play);
    const choices = all.map(({ model, run: { strategy } }, at) => {
      const name = `${LANE_TITLES[strategy]} · ${model}`;
      const attributes = { "aria-pressed": String(at === index) };
      return make("button", "sbd-home-choice", attributes, name, () => {
        show(all, at);
        find(root, "[aria-pressed=true]").focus({ preventScroll: true });
        race?.setPlaying(!prefersReducedMotion());
      });
    });
    const group = { role: "group", "aria-label": "Recorded run" };
    root.setAttribute("data-strategy", run.strategy);
    root.replaceChildren(
      makeSentence(run),
      makeWhy(shown, processor),
      make("div", "sbd-home-choices", group, ...(choices.length > 1 ? choices : [])),
      race.root,
      ways,
    );
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
