// Writes a lane of a run as a trace file (see sbd_core/trace.py) from the run's wire lines. Knows no DOM.

import { answerTokens } from "./differences.ts";
import type { EventData, Lane, Run, WireLine } from "./run.ts";

const VERSION = 4;
/** The list fields of an event, all empty: a wire line leaves out empty fields, a trace does not. */
export const NOTHING = {
  masked: [],
  reveals: [],
  committed: [],
  draft: [],
  hindsight: [],
  predrafts: [],
};

/** Return a lane as the text of a trace file. */
export function traceText(run: Run, lane: Lane = run.main) {
  const lines = run.lines.map((row) => JSON.parse(row) as WireLine);
  const { lanes, versions = {}, weights = {}, messages = [], end_token_ids: ends = [] } = run.line;
  const events = lines.flatMap((line) => {
    if (line.type !== "step" || line.lane !== lane.name) return [];
    const { run: _, seq, type, lane: name, tokens, ...event } = line;
    return [{ ...NOTHING, ...event }];
  });
  const answer = answerTokens(run, lane).slice(0, lane.numCommitted);
  const words = answer.map(({ id, text }) => (ends.includes(id) ? "" : text));
  const { exactness, ...others } = versions; // exactness is about verify only
  const ids = new Set([...run.promptIds, ...events.flatMap(mentionedIds)]);
  return JSON.stringify({
    format: "sbd-trace",
    version: VERSION,
    model: run.model,
    config: lanes.find(({ strategy }) => strategy === lane.name),
    prompt: run.prompt,
    prompt_token_ids: run.promptIds,
    text: lane.finish === null ? words.join("") : lane.text,
    finish: lane.finish ?? "stopped",
    versions: lane.name === "verify" ? versions : others,
    weights,
    messages,
    shape: run.shape,
    end_token_ids: ends,
    tokens: Object.fromEntries([...ids].map((id) => [id, run.tokenText(id)])),
    events,
  });
}

/** Return the ids of all tokens that an event mentions. */
export function mentionedIds(event: EventData) {
  const { committed, draft, reveals, masked, hindsight, predrafts } = { ...NOTHING, ...event };
  return [
    ...committed,
    ...draft,
    ...reveals.map(([, id]) => id),
    ...masked.flatMap(([, , ids]) => ids),
    ...hindsight.flatMap(([, id, , argmax]) => [id, argmax]),
    ...predrafts.flatMap(([, , ids, , alternative]) => [...ids, alternative ?? []].flat()),
  ];
}
