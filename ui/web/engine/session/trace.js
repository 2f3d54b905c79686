// A lane as the JSON of a trace, which sbd_core and the page's own "Open a trace" read:
// sbd_core/trace_json.py.

import { shapeData } from "./cost.js";

/** @import { StepEvent } from "../decoding/state.js" */
/** @import { Lane } from "./lanes.js" */

const VERSION = 3;

/** @param {Lane} lane */
export function traceJson(lane) {
  const { checkpoint, settings, promptIds, events } = lane;
  return JSON.stringify({
    format: "sbd-trace",
    version: VERSION,
    model: checkpoint.name,
    config: settings,
    prompt: lane.prompt,
    prompt_token_ids: promptIds,
    text: lane.text,
    finish: lane.finish,
    versions: { engine: "browser" },
    shape: shapeData(checkpoint.model.shape),
    end_token_ids: [...checkpoint.endIds].sort((a, b) => a - b),
    tokens: Object.fromEntries(
      mentionedIds(lane).map((id) => [id, checkpoint.tokenizer.tokenText(id)]),
    ),
    events: events.map(eventData),
  });
}

/** @param {StepEvent} event */
export function eventData(event) {
  return {
    kind: event.kind,
    context: [event.numCached, event.numCausal],
    block: [event.block.start, event.block.size],
    masked: event.masked.map((item) => [
      item.position,
      item.entropy,
      item.topIds,
      item.topProbabilities,
    ]),
    reveals: event.reveals.map((item) => [
      item.position,
      item.tokenId,
      item.rank,
      item.probability,
    ]),
    committed: event.committed,
    draft: event.draft,
    hindsight: event.hindsight.map((h) => [
      h.position,
      h.tokenId,
      h.probability,
      h.argmaxId,
      h.argmaxProbability,
    ]),
    seconds: event.seconds,
    predrafts: event.predrafts.map((p) => [p.block.start, p.block.size, p.tokenIds, p.isUsed]),
  };
}

/** @param {Lane} lane */
function mentionedIds({ promptIds, events }) {
  const ids = new Set(promptIds);
  /** @param {number[]} more */
  const add = (more) => {
    for (const id of more) ids.add(id);
  };
  for (const event of events) {
    add(event.committed);
    add(event.draft);
    add(event.reveals.map((reveal) => reveal.tokenId));
    add(event.masked.flatMap((item) => item.topIds));
    add(event.hindsight.flatMap((item) => [item.tokenId, item.argmaxId]));
    add(event.predrafts.flatMap((item) => item.tokenIds));
  }
  return [...ids].sort((a, b) => a - b);
}
