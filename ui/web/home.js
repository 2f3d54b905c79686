// The race of the first visit: one recorded run in two lanes, forward pass by forward pass, over and
// over. Knows nothing of Gradio.

import { clamp } from "./core/numbers.js";
import { History } from "./core/run/history.js";
import { makeButton, showPlaying } from "./dom/buttons.js";
import { makeClock } from "./dom/clock.js";
import { find, make, setStyle, setText } from "./dom/elements.js";
import { listenToKeys } from "./dom/keys.js";
import { askForChat, isDarkPage, isStill, onScheme, onTurn, promptBox } from "./dom/page.js";
import { Reveals } from "./dom/reveal.js";
import { LaneText } from "./watch/text/text.js";
import { initialState, viewOf } from "./watch/view.js";

/** @import { Lane } from "./core/run/lane.js" */
/** @import { Run } from "./core/run/run.js" */
/** @import { Mount } from "./stub.js" */

const RACE_SECONDS = 14;
const REST_PASSES = 18; // at the end, before it begins again
const [LEAST_MS, MOST_MS] = [110, 300]; // of a forward pass

const TITLES = { main: "Set Block Decoding", ntp: "Next-token prediction" };

/** One lane: its name, its forward passes so far, its text. */
class HomeLane {
  /**
   * @param {keyof typeof TITLES} name
   * @param {Lane} lane
   */
  constructor(name, lane) {
    this.lane = lane;
    this.fill = make("span", "sbd-home-fill");
    this.count = make("b");
    this.unit = make("small");
    // Nobody inspects the run here.
    this.text = new LaneText(`${TITLES[name]}: answer`, { hover: () => {}, hold: () => {} });
    this.root = make(
      "section",
      `sbd-home-lane sbd-lane-${name}`,
      {},
      make("span", "sbd-home-meter", { "aria-hidden": "true" }, this.fill),
      make(
        "div",
        "sbd-home-lane-head",
        {},
        make("h2", "", {}, TITLES[name]),
        make("span", "sbd-home-count", {}, this.count, " ", this.unit),
      ),
      this.text.root,
    );
  }

  /**
   * @param {number} clock a forward pass of the race; a lane that is home stands still
   * @param {(pass: number) => import("./watch/view.js").View} viewAt
   */
  update(clock, viewAt) {
    const pass = Math.min(clock, this.lane.lastPass);
    const whole = Math.max(this.lane.numCommitted, 1);
    setText(this.count, String(pass + 1));
    setText(this.unit, pass === 0 ? "pass" : "passes");
    setStyle(this.fill, "width", `${(100 * this.lane.numTokensAt(pass)) / whole}%`);
    this.root.classList.toggle("is-finished", pass === this.lane.lastPass);
    this.text.update(viewAt(pass), this.lane);
  }
}

class HomeRace {
  /**
   * @param {Run} run of two lanes, complete
   * @param {AbortSignal} signal ends it
   */
  constructor(run, signal) {
    this.run = run;
    this.state = { ...initialState(), isPlaying: false };
    this.reveals = new Reveals();
    this.lanes = [new HomeLane("main", run.main)];
    if (run.ntp) this.lanes.push(new HomeLane("ntp", run.ntp));
    this.finish = Math.max(...this.lanes.map(({ lane }) => lane.lastPass));
    this.root = make("div", "sbd-home-lanes", {}, ...this.lanes.map(({ root }) => root));
    this.play = makeButton("play", "Play (space)", () => this.toggle());
    const pause = clamp((RACE_SECONDS * 1000) / (this.finish + 1), LEAST_MS, MOST_MS);
    this.clock = makeClock(
      () => this.state.isPlaying,
      () => 1000 / pause,
      () => this.advance(),
    );
    listenToKeys(this.root, { togglePlay: () => this.toggle() }, signal);
    onScheme(() => this.draw(), signal);
    signal.addEventListener("abort", () => this.clock.stop());
    this.seek(isStill() ? this.finish : 0);
  }

  toggle() {
    if (!this.state.isPlaying && this.state.pass >= this.finish) this.seek(0);
    this.playOn(!this.state.isPlaying);
  }

  /** @param {boolean} isPlaying */
  playOn(isPlaying) {
    this.state.isPlaying = isPlaying;
    showPlaying(this.play, isPlaying);
    this.clock.start();
  }

  /** The next forward pass; some time after the last one, the first. */
  advance() {
    const { pass } = this.state;
    this.seek(pass < this.finish + REST_PASSES ? pass + 1 : 0);
  }

  /** @param {number} pass */
  seek(pass) {
    this.state.pass = pass;
    this.draw();
  }

  draw() {
    const { run, reveals, state } = this;
    const parts = { run, reveals, isDark: isDarkPage(), isLecture: false, isStep: false };
    for (const lane of this.lanes) {
      lane.update(state.pass, (pass) => viewOf({ ...state, pass }, parts));
    }
  }
}

const TURN_MS = 50; // until the view that was turned to is there

/** @param {Run} run */
function areSame({ main, ntp }) {
  if (!ntp || main.numCommitted !== ntp.numCommitted) return false;
  return [...main.fixed].every(
    ([position, { token }]) => position >= main.end || ntp.fixed.get(position)?.token === token,
  );
}

/** @param {Run} run */
function makeSentence(run) {
  const words = areSame(run) ? "the same words" : "an answer";
  return make(
    "h2",
    "sbd-home-sentence",
    {},
    `The same model writes ${words} in `,
    make("b", "sbd-home-own", {}, String(run.main.steps.length)),
    " forward passes instead of ",
    make("b", "sbd-home-plain", {}, String(run.ntp?.steps.length ?? 0)),
    ".",
  );
}

/**
 * Why it matters: what a forward pass is, and the time of the recorded run.
 * @param {Run} run
 */
function makeWhy({ main, ntp }) {
  const own = main.secondsAt(main.lastPass);
  const plain = ntp ? ntp.secondsAt(ntp.lastPass) : 0;
  const isFaster = own > 0 && plain > own;
  const time = isFaster ? ` This was ${(plain / own).toFixed(1)}× faster.` : "";
  const words = `Each pass runs the whole model.${time}`;
  return make("p", "sbd-home-why", {}, words);
}

/**
 * @param {string} view
 * @param {string} name
 * @param {string} kind
 */
function makeWay(view, name, kind) {
  return make("a", `sbd-home-way ${kind}`, { href: `#${view}`, "data-view": view }, name);
}

/** @type {Mount} */
export function mountHome({ element, value, signal }) {
  /** @type {{ lines: string, prompt_id: string }} */
  const { lines, prompt_id: promptId } = JSON.parse(value);
  const root = find(element, ".sbd-home");
  /** @type {HomeRace | null} */
  let race = null;

  function build() {
    const own = makeWay("watch", "Try your own prompt", "is-main");
    own.addEventListener("click", () => {
      askForChat();
      setTimeout(() => promptBox(promptId)?.select(), TURN_MS);
    });
    const ways = make("div", "sbd-home-ways", {}, makeWay("learn", "How it works", ""), own);
    const history = new History();
    history.accept(lines);
    const { run } = history;
    if (!run?.ntp) {
      root.replaceChildren(ways); // the recorded run is missing
      return;
    }
    race = new HomeRace(run, signal);
    ways.append(race.play);
    root.setAttribute("data-strategy", run.strategy);
    root.replaceChildren(makeSentence(run), makeWhy(run), race.root, ways);
  }

  onTurn((name) => {
    const isInFront = name === "home";
    if (isInFront && !root.firstChild) build();
    // A view that is left stands still.
    race?.playOn(isInFront && !isStill());
  }, signal);
  return () => {};
}
