// The scene “What it buys”: the forward passes of one answer, and the time that they take with the chip, block size and
// batch size that the reader chooses.

import { html } from "lit-html";
import { compareMain } from "../../core/differences.ts";
import { countOf, formatRaceSeconds } from "../../core/numbers.ts";
import { animate, bar, choices } from "../parts.ts";
import type { Lesson, Machine, MakeScene } from "../view.ts";

/** batch: its index in `batches` */
type Choice = { machine: Machine; block: number; batch: number };

const RACE_MS = 1200;

/**
 * Return the title of the times: what they measure, and the source of the chip's peak rates, as sources differ.
 * @param perPass tokens that a pass with a block reveals
 * @param cached most tokens in the KV cache
 */
export function timeTitle(
  { name, rates }: Pick<Machine, "name" | "rates">,
  numTexts: number,
  perPass: number,
  cached: number,
) {
  const who = numTexts === 1 ? "one text" : `${numTexts} such texts at once`;
  const counts = `${perPass.toFixed(2)} tokens a pass in blocks, up to ${cached} cached`;
  return `Time for ${who} by Llama-3.1-8B on ${name}, 2 bytes a weight, ${counts}; worked out from ${rates}`;
}

/** Put seconds into words, with enough digits to check a ratio. */
export function secondsWords(seconds: number) {
  return seconds < 1 ? `${(seconds * 1000).toFixed(2)} ms` : formatRaceSeconds(seconds);
}

/** Say how many times as fast, by the times as they are shown. */
export function timesWords(slow: number, fast: number) {
  const shown = (words: string) => Number.parseFloat(words) / (words.endsWith("ms") ? 1000 : 1);
  return `${(shown(secondsWords(slow)) / shown(secondsWords(fast))).toFixed(2)} times as fast`;
}

export function passCostWords(
  { ntp, sbd }: { ntp: number; sbd: number },
  numPasses: { ntp: number; sbd: number },
) {
  const ratio = sbd / numPasses.sbd / (ntp / numPasses.ntp);
  return `a forward pass with a block takes ${ratio.toFixed(2)} times as long`;
}

/** Return the seconds of the answer one token at a time, and in blocks. */
function secondsOf({ machine: { seconds }, block, batch }: Choice) {
  const at = (size: number) => seconds[size]?.[batch] ?? 0;
  return { ntp: at(1), sbd: at(block) };
}

export const makeCostScene: MakeScene = ({ lesson, signal, onActed, say, draw }) => {
  const { machines, blocks, batches } = lesson;
  const { text: run } = lesson.runs;
  const machine = machines.find(({ is_big: isBig }) => isBig) ?? machines[0];
  if (!machine) throw new Error("the lesson has no machine");
  const choice: Choice = { machine, block: run.blockSize, batch: 0 };
  const alone = (run.ntp ?? run.main).steps.length;
  let race = new AbortController();
  let clock = 0; // seconds of the race so far
  signal.addEventListener("abort", () => race.abort());
  const cached = Math.max(...(lesson.rows[1] ?? []).map(([, tokens]) => tokens));
  const passesNow = () => blocks.find(([size]) => size === choice.block)?.[1] ?? 0;

  function outcome() {
    const { ntp, sbd } = secondsOf(choice);
    const cost = passCostWords({ ntp, sbd }, { ntp: alone, sbd: passesNow() || 1 });
    return `${ntp < sbd ? "Slower, " : ""}${timesWords(ntp, sbd)}: ${cost}`;
  }
  function choose(change: Partial<Choice>) {
    Object.assign(choice, change);
    race.abort();
    race = new AbortController();
    const { ntp, sbd } = secondsOf(choice);
    const show = (part: number) => {
      clock = part * Math.max(ntp, sbd);
      if (part === 1) say(`${choice.machine.name}: ${outcome()}`);
      draw();
    };
    animate(RACE_MS, show, race.signal);
    onActed();
  }
  /** Return the bars of the race, of which each gets its time at its full length: a growing number would look like a result. */
  function times() {
    const { ntp, sbd } = secondsOf(choice);
    const longest = Math.max(ntp, sbd);
    const perPass = run.main.numCommitted / passesNow();
    const timeBar = (kind: string, name: string, seconds: number) => {
      const isWhole = clock > 0 && clock >= seconds;
      return bar(
        kind,
        name,
        Math.min(seconds, clock) / longest,
        isWhole ? secondsWords(seconds) : "",
      );
    };
    return html`<h3 class="sbd-learn-time"
        >${clock ? timeTitle(choice.machine, batches[choice.batch] ?? 1, perPass, cached) : ""}</h3>
      ${timeBar("ntp", "one at a time", ntp)}
      ${timeBar("sbd", clock ? `in blocks of ${choice.block}` : "in blocks", sbd)}
      <p class="sbd-learn-count" role="status">${clock && clock >= longest ? outcome() : ""}</p>`;
  }
  const named = (value: number, index: number) => ({ name: String(value), value: index });
  const byName = machines.map((value) => ({ name: value.name, value }));
  const bySize = blocks.map(([size]) => named(size, size));
  const byCount = batches.map(named);
  const look = { isNamed: true };
  const view = () =>
    html`<div class="sbd-learn-cost">
      <h3>Forward passes for one text</h3>
      ${bar("ntp", "one at a time", 1, String(alone))}
      ${bar("sbd", `in blocks of ${choice.block}`, passesNow() / alone, String(passesNow()))}
      <p class="sbd-learn-source">${sourceOf(lesson)}</p>
      <div class="sbd-learn-knobs"
        >${choices("Block size", bySize, choice.block, (block) => choose({ block }), look)}${choices(
          "Batch size",
          byCount,
          choice.batch,
          (batch) => choose({ batch }),
          look,
        )}</div>
      ${choices("Chip", byName, choice.machine, (value) => choose({ machine: value }), look)}${times()}
    </div>`;
  return { view, answer: () => choose({}) };
};

/** Say which run was counted, how it differs from next-token prediction, and the means over all held-out prompts. */
function sourceOf({ runs: { text: run }, tokens_per_pass: mean }: Lesson) {
  const gamma = run.solver.gamma ?? 0;
  const differ = compareMain(run)?.words;
  const tokens = countOf(run.main.numCommitted, "token");
  const same = differ ? `of ${tokens} ${differ}` : "the same, token for token";
  return (
    `Nano’s story in blocks of ${run.blockSize}, γ = ${gamma}, and next-token prediction’s: ${same}. All held-out ` +
    `prompts: ${mean.sbd} tokens a pass; with verify, which may be bolder because it checks, ${mean.verify}.`
  );
}
