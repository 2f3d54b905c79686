// What it buys: the forward passes of one answer, and the seconds they take on a machine of choice.

import { countOf } from "../../core/numbers.js";
import { make, setText } from "../../dom/elements.js";
import { makeBar, makeRoom, sweep } from "../parts.js";
import { passCostWords, secondsWords, timesWords, timeTitle } from "../states.js";

/** @import { Lesson, Machine } from "../lesson.js" */
/** @import { MakeScene } from "../view.js" */
/** @import { Bar } from "../parts.js" */

const RACE_MS = 4000;

/** The two ways of writing, a bar each. */
function makeLanes() {
  return {
    ntp: makeBar("one at a time", "ntp"),
    sbd: makeBar("in blocks", "sbd"),
  };
}

/** @param {Lesson} lesson */
function makePasses({ runs: { text: run } }) {
  const bars = makeLanes();
  const alone = (run.ntp ?? run.main).steps.length;
  const blocks = run.main.steps.length;
  bars.ntp.set(1, String(alone));
  bars.sbd.set(blocks / alone, String(blocks));
  return [make("h3", "", {}, "Forward passes"), bars.ntp.root, bars.sbd.root];
}

/**
 * The seconds of both lanes on a machine, as a race; `show` begins it and says its outcome at its end.
 * @param {Lesson} lesson
 * @param {AbortSignal} signal ends it
 */
function makeTimes({ machines, runs: { text: run } }, signal) {
  const numPasses = { ntp: (run.ntp ?? run.main).steps.length, sbd: run.main.steps.length };
  /** @param {Machine} machine */
  const outcome = (machine) =>
    `${timesWords(machine.ntp, machine.sbd)}: ${passCostWords(machine, numPasses)}`;
  const bars = makeLanes();
  const title = make("h3", "sbd-learn-time", {}, "Time");
  const ratio = make("p", "sbd-learn-count", { role: "status" });
  let race = new AbortController();
  signal.addEventListener("abort", () => race.abort());

  /** @param {Machine} machine @param {(words: string) => void} say */
  function show(machine, say) {
    race.abort();
    race = new AbortController();
    const { name, ntp, sbd } = machine;
    setText(title, timeTitle(machine));
    const longest = Math.max(ntp, sbd);
    const words = outcome(machine);
    setText(ratio, "");
    /**
     * The time is said once its bar has grown: a number on its way would read as a result.
     * @param {Bar} bar
     * @param {number} seconds
     * @param {number} clock
     */
    const grow = (bar, seconds, clock) =>
      bar.set(Math.min(seconds, clock) / longest, clock < seconds ? "" : secondsWords(seconds));
    /** @param {number} part */
    const draw = (part) => {
      grow(bars.ntp, ntp, part * longest);
      grow(bars.sbd, sbd, part * longest);
      if (part < 1) return;
      setText(ratio, words);
      say(`${name}: ${words}`);
    };
    sweep(RACE_MS, draw, race.signal);
  }
  const titleRoom = makeRoom(title, machines.map(timeTitle));
  const ratioRoom = makeRoom(ratio, machines.map(outcome));
  return { nodes: [titleRoom, bars.ntp.root, bars.sbd.root, ratioRoom], show };
}

/**
 * @param {Machine[]} machines
 * @param {(machine: Machine) => void} choose
 */
function makeMachines(machines, choose) {
  const buttons = machines.map((machine) => {
    const attributes = { type: "button", "aria-pressed": "false" };
    const button = make("button", "sbd-learn-choice", attributes, machine.name);
    button.addEventListener("click", () => choose(machine));
    return button;
  });
  const attributes = { role: "group", "aria-label": "Machine" };
  return {
    root: make("div", "sbd-learn-choices", attributes, ...buttons),
    /** @param {Machine} chosen */
    mark(chosen) {
      buttons.forEach((button, index) => {
        button.setAttribute("aria-pressed", String(machines[index] === chosen));
      });
    },
  };
}

/** @type {MakeScene} */
export function makeCostScene({ lesson, signal, did, say }) {
  const times = makeTimes(lesson, signal);
  const machines = makeMachines(lesson.machines, choose);

  /** @param {Machine} machine */
  function choose(machine) {
    machines.mark(machine);
    times.show(machine, say);
    did();
  }
  function answer() {
    const big = lesson.machines.find(({ is_big: isBig }) => isBig) ?? lesson.machines[0];
    if (big) choose(big);
  }
  const source = make("p", "sbd-learn-source", {}, sourceOf(lesson));
  const nodes = [...makePasses(lesson), source, machines.root, ...times.nodes];
  return { root: make("div", "sbd-learn-cost", {}, ...nodes), answer };
}

/**
 * What the forward passes and times were counted and worked out from.
 * @param {Lesson} lesson
 */
function sourceOf({ runs: { text: run }, num_different: numDifferent, tokens_per_pass: mean }) {
  const gamma = run.solver.gamma ?? 0;
  const same = numDifferent
    ? `so ${numDifferent} of ${countOf(run.main.numCommitted, "token")} differ`
    : "yet the same, token for token";
  return (
    `In blocks: γ = ${gamma}, unchecked, ${same}. Over all held-out prompts it writes ${mean.sbd} tokens ` +
    `per forward pass; verify, drafting more boldly, ${mean.verify}.`
  );
}
