// The scene “What it buys”: the forward passes of one answer, and the time that they take with the chip, block size and
// batch size that the reader chooses.

import { compareWithNtp } from "../../core/differences.ts";
import { countOf, formatRaceSeconds } from "../../core/numbers.ts";
import { make, setText } from "../../dom/elements.ts";
import { animate, type Bar, makeBar, makeSizedBox } from "../parts.ts";
import type { Lesson, Machine, MakeScene } from "../view.ts";

/** batch: its index in `batches` */
type Choice = { machine: Machine; block: number; batch: number };

const RACE_MS = 1200;

/**
 * Return the title of the times: what they measure, and the source of the chip's peak rates, as sources differ.
 * @param numTexts decoded at the same time
 */
export function timeTitle({ name, rates }: Pick<Machine, "name" | "rates">, numTexts: number) {
  const who = numTexts === 1 ? "one text" : `${numTexts} such texts at once`;
  return `Time for ${who} by Llama-3.1-8B on ${name}, 2 bytes a weight, worked out from ${rates}`;
}

/** Put seconds into words, with enough digits to check a ratio. */
export function secondsWords(seconds: number) {
  return seconds < 1 ? `${(seconds * 1000).toFixed(2)} ms` : formatRaceSeconds(seconds);
}

/**
 * Say how many times as fast, by the times as they are shown.
 * @param slow seconds
 * @param fast seconds
 */
export function timesWords(slow: number, fast: number) {
  const shown = (words: string) => Number.parseFloat(words) / (words.endsWith("ms") ? 1000 : 1);
  return `${(shown(secondsWords(slow)) / shown(secondsWords(fast))).toFixed(2)} times as fast`;
}

/**
 * Say how much longer a forward pass takes with a block.
 * @param seconds of the whole answer
 * @param numPasses of the whole answer
 */
export function passCostWords(
  { ntp, sbd }: { ntp: number; sbd: number },
  numPasses: { ntp: number; sbd: number },
) {
  const ratio = sbd / numPasses.sbd / (ntp / numPasses.ntp);
  return `a forward pass with a block takes ${ratio.toFixed(2)} times as long`;
}

function makeTwoBars() {
  return {
    ntp: makeBar("one at a time", "ntp"),
    sbd: makeBar("in blocks", "sbd"),
  };
}

/** Return the seconds of the answer one token at a time, and in blocks. */
function secondsOf({ machine: { seconds }, block, batch }: Choice) {
  const at = (size: number) => seconds[size]?.[batch] ?? 0;
  return { ntp: at(1), sbd: at(block) };
}

function makePasses({ runs: { text: run }, blocks }: Lesson) {
  const bars = makeTwoBars();
  const alone = (run.ntp ?? run.main).steps.length;
  bars.ntp.set(1, String(alone));
  function show(block: number) {
    const passes = blocks.find(([size]) => size === block)?.[1] ?? 0;
    bars.sbd.rename(`in blocks of ${block}`);
    bars.sbd.set(passes / alone, String(passes));
  }
  const nodes = [make("h3", "", "Forward passes for one text"), bars.ntp.root, bars.sbd.root];
  return { nodes, show };
}

/**
 * Make two bars that race to their times; `show` starts the race, and says the outcome at its end.
 * @param signal stops the race
 */
function makeTimes(
  { machines, batches, blocks, runs: { text: run } }: Lesson,
  signal: AbortSignal,
) {
  const outcome = (choice: Choice) => {
    const { ntp, sbd } = secondsOf(choice);
    const passes = blocks.find(([size]) => size === choice.block)?.[1] ?? 1;
    const numPasses = { ntp: (run.ntp ?? run.main).steps.length, sbd: passes };
    return `${ntp < sbd ? "Slower, " : ""}${timesWords(ntp, sbd)}: ${passCostWords({ ntp, sbd }, numPasses)}`;
  };
  const bars = makeTwoBars();
  const title = make("h3", "sbd-learn-time");
  const ratio = make("p", "sbd-learn-count", { role: "status" });
  let race = new AbortController();
  signal.addEventListener("abort", () => race.abort());
  const titleOf = ({ machine, batch }: Choice) => timeTitle(machine, batches[batch] ?? 1);

  function show(choice: Choice, say: (words: string) => void) {
    race.abort();
    race = new AbortController();
    const { ntp, sbd } = secondsOf(choice);
    setText(title, titleOf(choice));
    bars.sbd.rename(`in blocks of ${choice.block}`);
    const longest = Math.max(ntp, sbd);
    const words = outcome(choice);
    setText(ratio, "");
    /**
     * Show a bar during the race; its time comes at its full length, as a growing number would look like a result.
     * @param seconds of the whole bar
     * @param clock seconds of the race so far
     */
    const grow = (bar: Bar, seconds: number, clock: number) =>
      bar.set(Math.min(seconds, clock) / longest, clock < seconds ? "" : secondsWords(seconds));
    const draw = (part: number) => {
      grow(bars.ntp, ntp, part * longest);
      grow(bars.sbd, sbd, part * longest);
      if (part < 1) return;
      setText(ratio, words);
      say(`${choice.machine.name}: ${words}`);
    };
    animate(RACE_MS, draw, race.signal);
  }
  const last = batches.length - 1;
  const every = machines.map((machine) => ({ machine, block: run.blockSize, batch: last }));
  const titleRoom = makeSizedBox(title, every.map(titleOf));
  const ratioRoom = makeSizedBox(ratio, every.map(outcome));
  return { nodes: [titleRoom, bars.ntp.root, bars.sbd.root, ratioRoom], show };
}

/** Make buttons for a choice, with its label before them. */
function makeChoice<Value>(
  label: string,
  options: readonly { name: string; value: Value }[],
  choose: (value: Value) => void,
) {
  const buttons = options.map(({ name, value }) => {
    const attributes = { "aria-pressed": "false" };
    const button = make("button", "sbd-learn-choice", attributes, name);
    button.addEventListener("click", () => choose(value));
    return { button, value };
  });
  return {
    root: make(
      "div",
      "sbd-learn-choices sbd-learn-knob",
      { role: "group", "aria-label": label },
      make("span", "sbd-learn-knob-name", { "aria-hidden": "true" }, label),
      ...buttons.map(({ button }) => button),
    ),
    mark(chosen: Value) {
      for (const { button, value } of buttons)
        button.setAttribute("aria-pressed", String(value === chosen));
    },
  };
}

export const makeCostScene: MakeScene = ({ lesson, signal, onActed, say }) => {
  const { machines, blocks, batches } = lesson;
  const [first] = machines;
  const machine = machines.find(({ is_big: isBig }) => isBig) ?? first;
  if (!machine) throw new Error("the lesson has no machine");
  const choice: Choice = { machine, block: lesson.runs.text.blockSize, batch: 0 };
  const passes = makePasses(lesson);
  const times = makeTimes(lesson, signal);
  const byName = machines.map((value) => ({ name: value.name, value }));
  const bySize = blocks.map(([size]) => ({ name: String(size), value: size }));
  const byCount = batches.map((count, value) => ({ name: String(count), value }));
  const chips = makeChoice("Chip", byName, (value) => choose({ machine: value }));
  const sizes = makeChoice("Block size", bySize, (block) => choose({ block }));
  const counts = makeChoice("Batch size", byCount, (batch) => choose({ batch }));

  function choose(change: Partial<Choice>) {
    Object.assign(choice, change);
    mark();
    times.show(choice, say);
    onActed();
  }
  function mark() {
    chips.mark(choice.machine);
    sizes.mark(choice.block);
    counts.mark(choice.batch);
    passes.show(choice.block);
  }
  mark();
  const source = make("p", "sbd-learn-source", sourceOf(lesson));
  const knobs = make("div", "sbd-learn-knobs", sizes.root, counts.root);
  const nodes = [...passes.nodes, source, knobs, chips.root, ...times.nodes];
  return { root: make("div", "sbd-learn-cost", ...nodes), answer: () => choose({}) };
};

/** Say which run was counted, how it differs from next-token prediction, and the means over all held-out prompts. */
function sourceOf({ runs: { text: run }, tokens_per_pass: mean }: Lesson) {
  const gamma = run.solver.gamma ?? 0;
  const differ = compareWithNtp(run)?.words;
  const tokens = countOf(run.main.numCommitted, "token");
  const same = differ ? `of ${tokens} ${differ}` : "the same, token for token";
  return (
    `Nano’s story in blocks of ${run.blockSize}, γ = ${gamma}, and next-token prediction’s: ${same}. All held-out ` +
    `prompts: ${mean.sbd} tokens a pass; with verify, which may be bolder because it checks, ${mean.verify}.`
  );
}
