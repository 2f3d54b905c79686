// Reads traces made by sbd_core, one JSON object a line, decodes each prompt again with the
// engine, and says where the two differ. Run by tests/ui/test_browser_engine.py.

import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { readCheckpoint } from "../../engine/checkpoint/folder.js";
import { readSettings } from "../../engine/decoding/settings.js";
import { stream } from "../../engine/decoding/stream.js";
import { RunWire } from "../../engine/session/wire.js";
import { kernelOf } from "./node/kernels.js";

/** @import { Checkpoint } from "../../engine/checkpoint/folder.js" */
/** @import { MaskedPosition, StepEvent } from "../../engine/decoding/state.js" */

const NUM_THREADS = 2; // of the compiled file that has threads
const TOLERANCE = 1e-4;
/** Scores closer than this are equal up to rounding: which one a solver prefers is chance. */
const TIE = 1e-5;

const found = {
  cases: 0,
  tokens: 0,
  /** @type {string[]} */
  differences: [],
  /** Decodes that parted where two positions were equally good. */
  ties: 0,
  /** Those of them that ended in another answer. */
  otherAnswers: 0,
  /** The largest difference between two floats. */
  largest: 0,
};

/** @param {string} folder */
function reader(folder) {
  return async (/** @type {string} */ name) => {
    const data = await readFile(`${folder}/${name}`).catch(() => null);
    return data ? data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) : null;
  };
}

/**
 * An event as a trace's JSON holds it: what must be equal, and the floats apart, in one order.
 * @param {StepEvent} event
 */
function split(event) {
  const exact = {
    kind: event.kind,
    context: [event.numCached, event.numCausal],
    block: [event.block.start, event.block.size],
    masked: event.masked.map((item) => item.position),
    best: event.masked.map((item) => item.topIds.slice(0, 1)),
    committed: event.committed,
    draft: event.draft,
    hindsight: event.hindsight.map((item) => [item.position, item.tokenId]),
  };
  const predrafts = event.predrafts.map((p) => [p.block.start, p.block.size, p.tokenIds, p.isUsed]);
  const floats = [
    event.masked.flatMap((item) => [item.entropy, ...item.topProbabilities]),
    event.hindsight.flatMap((item) => [item.probability, item.argmaxProbability]),
  ];
  const reveals = event.reveals.map((item) => [item.position, item.tokenId]);
  return { exact, reveals, predrafts, floats: floats.flat() };
}

/** @param {Record<string, any>} event of a trace's JSON */
function splitData(event) {
  const { masked, reveals, hindsight } = /** @type {Record<string, any[][]>} */ (
    /** @type {unknown} */ (event)
  );
  const exact = {
    kind: event.kind,
    context: event.context,
    block: event.block,
    masked: masked.map(([position]) => position),
    best: masked.map(([, , ids]) => ids.slice(0, 1)),
    committed: event.committed,
    draft: event.draft,
    hindsight: hindsight.map((item) => item.slice(0, 2)),
  };
  const floats = [
    masked.flatMap(([, entropy, , probabilities]) => [entropy, ...probabilities]),
    hindsight.flatMap((item) => [item[2], item[4]]),
  ];
  const order = reveals.map((item) => item.slice(0, 2));
  return { exact, reveals: order, predrafts: event.predrafts, floats: floats.flat() };
}

/**
 * What a solver orders positions by.
 * @param {string} name of the solver
 * @param {string} by
 * @param {MaskedPosition | undefined} masked
 */
function scoreOf(name, by, masked) {
  const [top = 0, second = 0] = masked?.topProbabilities ?? [];
  if (name.endsWith("by-margin") || (name === "top-k" && by === "margin")) return top - second;
  const isBySureness = ["entropy-bound-by-confidence", "confidence-threshold", "factor"].includes(
    name,
  );
  return isBySureness || (name === "top-k" && by === "confidence") ? top : (masked?.entropy ?? 0);
}

/**
 * Whether two orders of reveals differ only in which of equally good positions comes first.
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
      event.masked.find((item) => item.position === position),
    );
  if (ours.length !== theirs.length) return false;
  return ours.every(([position, token], rank) => {
    const [other, otherToken] = theirs[rank] ?? [];
    if (position === other) return token === otherToken;
    return Math.abs(score(position) - score(other)) <= TIE;
  });
}

/**
 * The first difference in an event: "" for none, "tie" for one that is chance.
 * @param {StepEvent} event
 * @param {Record<string, any>} data
 * @param {{ name: string, by: string }} solver
 */
function eventDifference(event, data, solver) {
  const [ours, theirs] = [split(event), splitData(data)];
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
  // Drafted tokens that are equally sure: which of them is drafted ahead for changes no token.
  if (!isSame(ours.predrafts, theirs.predrafts)) {
    return ours.predrafts.length === theirs.predrafts.length ? "tie" : "other predrafts";
  }
  if (ours.floats.length !== theirs.floats.length) return "other counts";
  for (const [place, value] of ours.floats.entries()) {
    const distance = Math.abs(value - theirs.floats[place]);
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
 * The first difference in a decode, as eventDifference says it.
 * @param {Checkpoint} checkpoint
 * @param {Record<string, any>} trace
 */
function difference(checkpoint, trace) {
  const { config } = trace;
  const ids = checkpoint.encode(trace.prompt, config.is_raw_prompt);
  if (ids.join() !== trace.prompt_token_ids.join()) return `prompt tokens ${ids.join()}`;
  for (const [id, text] of Object.entries(trace.tokens)) {
    const read = checkpoint.tokenizer.tokenText(Number(id));
    if (read !== text) return `token ${id} reads ${JSON.stringify(read)}`;
  }
  let [index, isTied] = [0, false];
  const answer = [];
  for (const event of stream(checkpoint, ids, readSettings(config))) {
    const data = trace.events[index];
    // Behind a tie the two go their own ways; their answers are compared all the same.
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
 * The event of a trace, as the engine holds it.
 * @param {Record<string, any>} data
 * @returns {StepEvent}
 */
function eventOf(data) {
  const [numCached, numCausal] = data.context;
  const [start, size] = data.block;
  /** @param {string} name @param {(row: any[]) => any} read */
  const rows = (name, read) => data[name].map(read);
  return {
    kind: data.kind,
    numCached,
    numCausal,
    block: { start, size },
    masked: rows("masked", ([position, entropy, topIds, topProbabilities]) => ({
      position,
      entropy,
      topIds,
      topProbabilities,
    })),
    reveals: rows("reveals", ([position, tokenId, rank, probability]) => ({
      position,
      tokenId,
      rank,
      probability,
    })),
    committed: data.committed,
    draft: data.draft,
    hindsight: rows(
      "hindsight",
      ([position, tokenId, probability, argmaxId, argmaxProbability]) => ({
        position,
        tokenId,
        probability,
        argmaxId,
        argmaxProbability,
      }),
    ),
    predrafts: rows("predrafts", ([from, count, tokenIds, isUsed]) => ({
      block: { start: from, size: count },
      tokenIds,
      isUsed,
    })),
    seconds: data.seconds,
  };
}

/**
 * The first wire line that our writer writes otherwise, from the same events; "" for none.
 * @param {Checkpoint} checkpoint
 * @param {Record<string, any>} trace
 * @param {string[]} lines
 */
function wireDifference(checkpoint, trace, lines) {
  const { prompt, prompt_token_ids: promptIds, config } = trace;
  const wire = new RunWire("golden", checkpoint);
  const settings = readSettings(config);
  const start = wire.start({ prompt, promptIds, settings, lanes: [config.strategy], ask: "" });
  const steps = trace.events.map((/** @type {any} */ data) =>
    wire.step(config.strategy, eventOf(data)),
  );
  const ours = [start, ...steps];
  // Read and written again: Python writes 1.0 where JavaScript writes 1.
  const index = ours.findIndex((line, place) => line !== rewritten(lines[place] ?? "{}"));
  return index < 0 ? "" : `wire line ${ours[index]}, not ${lines[index]}`;
}

/** @param {string} line of the wire */
function rewritten(line) {
  return RunWire.text(JSON.parse(line));
}

const [folder = "", compiled = "sbd.wasm"] = process.argv.slice(2);
const kernel = await kernelOf(compiled, NUM_THREADS);
const checkpoint = await readCheckpoint("checkpoint", kernel, reader(folder));
for await (const line of createInterface({ input: process.stdin })) {
  const { trace, wire } = JSON.parse(line);
  const said = wireDifference(checkpoint, trace, wire) || difference(checkpoint, trace);
  const { strategy, solver } = trace.config;
  if (said.startsWith("tie")) found.ties += 1;
  if (said === "tie, another answer") found.otherAnswers += 1;
  if (said && !said.startsWith("tie")) {
    found.differences.push(`${strategy}, ${solver.name}, ${JSON.stringify(trace.prompt)}: ${said}`);
  }
  found.cases += 1;
  for (const event of trace.events) found.tokens += event.committed.length;
}
console.log(JSON.stringify(found));
