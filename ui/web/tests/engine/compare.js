// Reads traces made by sbd_core, one JSON object per line, decodes each prompt again with the browser's engine, and
// prints where the two differ. Run by tests/ui/test_browser_engine.py.

import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";
import { engine, openFolder } from "./exported.js";

/** @import { EventData } from "../../core/run.ts" */
/** @import { MaskedPosition, StepEvent } from "../../engine/decoding/state.ts" */
/** @import { Checkpoint } from "../../engine/export.ts" */

const { readSettings, RunLines, stream } = engine;

const TOLERANCE = 1e-4;
/** Scores closer than this are equal up to rounding: which one a solver prefers is down to chance. */
const TIE = 1e-5;

const found = {
  cases: 0,
  tokens: 0,
  /** @type {string[]} */
  differences: [],
  /** Decodes that differ because several choices were equally good. */
  ties: 0,
  /** Decodes with a tie that ended in another answer. */
  tiesWithOtherAnswer: 0,
  /** The largest difference between two floats. */
  largest: 0,
};

/**
 * Split an event of a trace into what must be equal, the reveals, the predrafts, and the floats.
 * @param {EventData} event
 */
function split({ kind, context, block, committed, draft, predrafts, ...event }) {
  const { masked = [], reveals = [], hindsight = [] } = event;
  const exact = {
    kind,
    context,
    block,
    masked: masked.map(([position]) => position),
    best: masked.map(([, , ids]) => ids.slice(0, 1)),
    committed,
    draft,
    hindsight: hindsight.map((item) => item.slice(0, 2)),
  };
  const floats = [
    ...masked.flatMap(([, entropy, , probabilities]) => [entropy, ...probabilities]),
    ...hindsight.flatMap(([, , probability, , argmax]) => [probability, argmax]),
  ];
  const order = reveals.map(([position, token]) => [position, token]);
  return { exact, reveals: order, predrafts: predrafts ?? [], floats };
}

/**
 * Return the score by which a solver orders positions.
 * @param {string} name of the solver
 * @param {string} by the score that top-k orders by
 * @param {MaskedPosition | undefined} masked
 */
function scoreOf(name, by, masked) {
  const [, entropy = 0, , [top = 0, second = 0] = []] = masked ?? [];
  if (name.endsWith("by-margin") || (name === "top-k" && by === "margin")) return top - second;
  const isBySureness = ["entropy-bound-by-confidence", "confidence-threshold", "factor"].includes(
    name,
  );
  return isBySureness || (name === "top-k" && by === "confidence") ? top : entropy;
}

/**
 * Whether two lists of reveals differ only in positions with equal scores.
 * @param {number[][]} ours [position, token]
 * @param {number[][]} theirs
 * @param {StepEvent} event
 * @param {{ name: string, by: string }} solver
 */
function isTie(ours, theirs, event, { name, by }) {
  /** @param {number | undefined} position */
  const score = (position) =>
    scoreOf(
      name,
      by,
      event.masked.find(([own]) => own === position),
    );
  if (ours.length !== theirs.length) return false;
  return ours.every(([position, token], rank) => {
    const [other, otherToken] = theirs[rank] ?? [];
    if (position === other) return token === otherToken;
    return Math.abs(score(position) - score(other)) <= TIE;
  });
}

/**
 * Return the first difference in an event; "" for none, "tie" for one that is down to chance.
 * @param {StepEvent} event of the engine
 * @param {EventData} data the same event in the trace
 * @param {{ name: string, by: string }} solver
 */
function eventDifference(event, data, solver) {
  const [ours, theirs] = [split(event), split(data)];
  if (
    !isSame(ours.reveals, theirs.reveals) &&
    !isTie(ours.reveals, theirs.reveals, event, solver)
  ) {
    return `reveals ${JSON.stringify(ours.reveals)}, not ${JSON.stringify(theirs.reveals)}`;
  }
  if (!isSame(ours.reveals.toSorted(), theirs.reveals.toSorted())) return "tie";
  if (!isSame(ours.exact, theirs.exact)) {
    return `${JSON.stringify(ours.exact)}, not ${JSON.stringify(theirs.exact)}`;
  }
  // Which of several equally good predrafts is read changes no token.
  if (!isSame(ours.predrafts, theirs.predrafts)) {
    return ours.predrafts.length === theirs.predrafts.length ? "tie" : "other predrafts";
  }
  if (ours.floats.length !== theirs.floats.length) return "other counts";
  for (const [place, value] of ours.floats.entries()) {
    const distance = Math.abs(value - (theirs.floats[place] ?? NaN));
    if (!(distance <= TOLERANCE)) return `${value}, not ${theirs.floats[place]}`;
    found.largest = Math.max(found.largest, distance);
  }
  return "";
}

/** @param {unknown} one @param {unknown} other */
function isSame(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * Return the first difference in a decode; "" for none, and a text that begins with "tie" after a tie.
 * @param {Checkpoint} checkpoint
 * @param {Record<string, any>} trace
 */
async function difference(checkpoint, trace) {
  const { config } = trace;
  const ids = checkpoint.tokenizer.encodePrompt(trace.prompt, config.is_raw_prompt);
  if (ids.join() !== trace.prompt_token_ids.join()) return `prompt tokens ${ids.join()}`;
  for (const [id, text] of Object.entries(trace.tokens)) {
    const read = checkpoint.tokenizer.tokenText(Number(id));
    if (read !== text) return `token ${id} reads ${JSON.stringify(read)}`;
  }
  let [index, isTied] = [0, false];
  const answer = [];
  for await (const event of stream(checkpoint, ids, readSettings(config))) {
    const data = trace.events[index];
    // After a tie forward passes may differ, so only the answers are compared.
    const said = isTied ? "" : data ? eventDifference(event, data, config.solver) : "one too many";
    isTied ||= said === "tie";
    if (said && said !== "tie") return `forward pass ${index}: ${said}`;
    answer.push(...event.committed);
    index += 1;
  }
  const text = checkpoint.tokenizer.decode(answer);
  if (isTied) return text === trace.text ? "tie" : "tie, another answer";
  if (index !== trace.events.length) return `${index} forward passes, not ${trace.events.length}`;
  return text === trace.text ? "" : `the answer reads ${JSON.stringify(text)}`;
}

/**
 * Compare a run's first line with Python's; "" if they are equal.
 * @param {Checkpoint} checkpoint
 * @param {Record<string, any>} trace
 * @param {string} line
 */
function startDifference(checkpoint, trace, line) {
  const { prompt, prompt_token_ids: promptIds, config } = trace;
  const wire = new RunLines("golden", checkpoint);
  const ours = JSON.parse(wire.start({ prompt, promptIds }, [readSettings(config)], [], ""));
  const theirs = { ...JSON.parse(line), versions: ours.versions };
  return isDeepStrictEqual(ours, theirs) ? "" : `opens ${JSON.stringify(ours)}, not ${line}`;
}

const [folder = "", numThreads = "1"] = process.argv.slice(2);
const checkpoint = await openFolder(folder, Number(numThreads));
for await (const line of createInterface({ input: process.stdin })) {
  const { trace, start } = JSON.parse(line);
  const said = startDifference(checkpoint, trace, start) || (await difference(checkpoint, trace));
  const { strategy, solver } = trace.config;
  if (said.startsWith("tie")) found.ties += 1;
  if (said === "tie, another answer") found.tiesWithOtherAnswer += 1;
  if (said && !said.startsWith("tie")) {
    found.differences.push(`${strategy}, ${solver.name}, ${JSON.stringify(trace.prompt)}: ${said}`);
  }
  found.cases += 1;
  for (const event of trace.events) found.tokens += event.committed.length;
}
console.log(JSON.stringify(found));
process.exit(); // the runtime's threads would keep the process running
