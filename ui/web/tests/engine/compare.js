// Reads traces made by sbd_core, one JSON object a line, decodes each prompt again with the
// engine, and says where the two differ. Run by scripts/compare_engines.py.

import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { readCheckpoint } from "../../engine/checkpoint/folder.js";
import { readSettings } from "../../engine/decoding/settings.js";
import { stream } from "../../engine/decoding/stream.js";
import { makeKernel } from "../../engine/kernel.js";
import { eventOf } from "../../engine/session/trace.js";
import { RunWire } from "../../engine/session/wire.js";

/** @import { Checkpoint } from "../../engine/checkpoint/folder.js" */
/** @import { StepEvent } from "../../engine/decoding/state.js" */

const WASM = new URL("../../../../assets/dist/sbd.wasm", import.meta.url);
const TOLERANCE = 1e-4;
/** Scores closer than this are equal up to rounding: which one a solver prefers is chance. */
const TIE = 1e-5;

const found = {
  cases: 0,
  tokens: 0,
  /** @type {string[]} */
  differences: [],
  /** Decodes that parted where two positions were equally good, and went on as well. */
  ties: 0,
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
    predrafts: event.predrafts.map((p) => [p.block.start, p.block.size, p.tokenIds, p.isUsed]),
  };
  const floats = [
    event.masked.flatMap((item) => [item.entropy, ...item.topProbabilities]),
    event.hindsight.flatMap((item) => [item.probability, item.argmaxProbability]),
  ];
  const reveals = event.reveals.map((item) => [item.position, item.tokenId]);
  return { exact, reveals, floats: floats.flat() };
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
    predrafts: event.predrafts,
  };
  const floats = [
    masked.flatMap(([, entropy, , probabilities]) => [entropy, ...probabilities]),
    hindsight.flatMap((item) => [item[2], item[4]]),
  ];
  return { exact, reveals: reveals.map((item) => item.slice(0, 2)), floats: floats.flat() };
}

/**
 * Whether two orders of reveals differ only in which of equally good positions comes first.
 * @param {number[][]} ours [position, token]
 * @param {number[][]} theirs
 * @param {StepEvent} event
 */
function isTie(ours, theirs, event) {
  /** @param {number} position */
  const scores = (position) => {
    const masked = event.masked.find((item) => item.position === position);
    return [masked?.entropy ?? 0, masked?.topProbabilities[0] ?? 0];
  };
  return ours.every(([position = -1], rank) => {
    const [other = -1] = theirs[rank] ?? [];
    const [[entropy = 0, top = 0], [entropyThere = 0, topThere = 0]] = [
      scores(position),
      scores(other),
    ];
    return Math.abs(entropy - entropyThere) <= TIE && Math.abs(top - topThere) <= TIE;
  });
}

/**
 * The first difference in an event: "" for none, "tie" for one that is chance.
 * @param {StepEvent} event
 * @param {Record<string, any>} data
 */
function eventDifference(event, data) {
  const [ours, theirs] = [split(event), splitData(data)];
  const [text, other] = [JSON.stringify(ours.exact), JSON.stringify(theirs.exact)];
  const isSame = JSON.stringify(ours.reveals) === JSON.stringify(theirs.reveals);
  if (!isSame && !isTie(ours.reveals, theirs.reveals, event)) {
    return `reveals ${JSON.stringify(ours.reveals)}, not ${JSON.stringify(theirs.reveals)}`;
  }
  const isSameSet =
    JSON.stringify(ours.reveals.toSorted()) === JSON.stringify(theirs.reveals.toSorted());
  if (!isSameSet) return "tie";
  if (text !== other) return `${text}, not ${other}`;
  if (ours.floats.length !== theirs.floats.length) return "other counts";
  for (const [place, value] of ours.floats.entries()) {
    const distance = Math.abs(value - theirs.floats[place]);
    if (!(distance <= TOLERANCE)) return `${value}, not ${theirs.floats[place]}`;
    found.largest = Math.max(found.largest, distance);
  }
  return "";
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
  let index = 0;
  const answer = [];
  for (const event of stream(checkpoint, ids, readSettings(config))) {
    const data = trace.events[index];
    const said = data ? eventDifference(event, data) : "one too many";
    if (said) return said === "tie" ? said : `forward pass ${index}: ${said}`;
    answer.push(...event.committed);
    index += 1;
  }
  if (index !== trace.events.length) return `${index} forward passes, not ${trace.events.length}`;
  const text = checkpoint.tokenizer.decode(answer);
  return text === trace.text ? "" : `the answer reads ${JSON.stringify(text)}`;
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

const [folder = ""] = process.argv.slice(2);
const kernel = await makeKernel(await readFile(WASM));
const checkpoint = await readCheckpoint("checkpoint", kernel, reader(folder));
for await (const line of createInterface({ input: process.stdin })) {
  const { trace, wire } = JSON.parse(line);
  const said = wireDifference(checkpoint, trace, wire) || difference(checkpoint, trace);
  const { strategy, solver } = trace.config;
  if (said === "tie") found.ties += 1;
  else if (said) {
    found.differences.push(`${strategy}, ${solver.name}, ${JSON.stringify(trace.prompt)}: ${said}`);
  }
  found.cases += 1;
  for (const event of trace.events) found.tokens += event.committed.length;
}
console.log(JSON.stringify(found));
