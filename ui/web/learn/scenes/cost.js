// What it buys: the calls of one answer, and the seconds they take on a machine of choice.

import { countOf, raceSeconds } from "../../core/numbers.js";
import { make, setStyle, setText } from "../../dom/elements.js";
import { sweep } from "../parts/motion.js";

/** @import { Lesson, Machine } from "../lesson.js" */
/** @import { MakeScene } from "../view.js" */

const RACE_MS = 4000;

/** @type {MakeScene} */
export function makeCostScene({ lesson, signal, did, say }) {
  const { text: run } = lesson.runs;
  const ntp = run.ntp ?? run.main;
  const calls = { ntp: ntp.steps.length, sbd: run.main.steps.length };
  /** @type {("ntp" | "sbd")[]} */
  const lanes = ["ntp", "sbd"];
  const names = { ntp: "one at a time", sbd: "in blocks" };
  /** @param {string} kind */
  const makeBars = (kind) =>
    lanes.map((lane) => {
      const fill = make("span", `sbd-learn-bar is-${lane}`);
      const number = make("span", "sbd-learn-bar-number");
      const row = make(
        "div",
        `sbd-learn-bar-row is-${kind}`,
        {},
        make("span", "sbd-learn-bar-name", {}, names[lane]),
        make("span", "sbd-learn-bar-track", {}, fill),
        number,
      );
      return { lane, fill, number, row };
    });
  const callBars = makeBars("calls");
  const timeBars = makeBars("time");
  for (const { lane, fill, number } of callBars) {
    setStyle(fill, "--part", String(calls[lane] / calls.ntp));
    setText(number, countOf(calls[lane], "call"));
  }
  const ratio = make("p", "sbd-learn-count", { role: "status" });
  const title = make("h3", "", {}, "Time");
  let race = new AbortController();
  signal.addEventListener("abort", () => race.abort());

  /** @param {Machine} machine */
  function show(machine) {
    race.abort();
    race = new AbortController();
    for (const { machine: each, button } of buttons) {
      button.setAttribute("aria-pressed", String(each === machine));
    }
    const longest = Math.max(machine.ntp, machine.sbd);
    const kind = machine.is_measured ? "measured" : "worked out for a model of 8 billion weights";
    setText(title, `Time on ${machine.name}, ${kind}`);
    const times = machine.ntp / machine.sbd;
    const words = `${times.toFixed(times < 1 ? 2 : 1)} times as fast`;
    setText(ratio, "");
    sweep(
      RACE_MS,
      (part) => {
        for (const { lane, fill, number } of timeBars) {
          const seconds = Math.min(machine[lane], part * longest);
          setStyle(fill, "--part", String(seconds / longest));
          setText(number, raceSeconds(seconds));
        }
        if (part === 1) setText(ratio, words);
      },
      race.signal,
    );
    say(`${machine.name}: ${words}`);
    did();
  }
  const buttons = lesson.machines.map((machine) => {
    const button = make(
      "button",
      "sbd-learn-choice",
      { type: "button", "aria-pressed": "false" },
      machine.name,
    );
    button.addEventListener("click", () => show(machine));
    return { machine, button };
  });
  const root = make(
    "div",
    "sbd-learn-cost",
    {},
    make("h3", "", {}, "Calls of the model"),
    ...callBars.map(({ row }) => row),
    make("p", "sbd-learn-source", {}, sourceOf(lesson)),
    make(
      "div",
      "sbd-learn-choices",
      { role: "group", "aria-label": "Machine" },
      ...buttons.map(({ button }) => button),
    ),
    title,
    ...timeBars.map(({ row }) => row),
    ratio,
  );
  return {
    root,
    answer: () => {
      const big = lesson.machines.find(({ is_big: isBig }) => isBig) ?? lesson.machines[0];
      if (big) show(big);
    },
  };
}

/**
 * What the calls and times were counted and worked out from.
 * @param {Lesson} lesson
 */
function sourceOf({ runs, num_different: numDifferent }) {
  const { text: run } = runs;
  const same = numDifferent
    ? `${numDifferent} of the ${countOf(run.main.numCommitted, "token")} differ from those of one at a time`
    : "the text is here that of one at a time, token for token";
  return (
    `In blocks: Set Block Decoding without checking, γ = ${run.solver.gamma ?? 0}; ${same}. Calls, the ` +
    "one that reads the prompt included, are counted on this small model; times on chips assume " +
    "that a large one takes as many."
  );
}
