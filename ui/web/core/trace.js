// A lane of a run as a trace file, as sbd_core/trace.py writes it, from the lines that made the
// run. Knows no DOM.

import { answerTokens } from "./differences.js";

/** @import { EventData, Lane, Run, WireLine } from "./run.js" */

const VERSION = 4;
/** The fields of an event that did nothing. */
export const NOTHING = {
  masked: [],
  reveals: [],
  committed: [],
  draft: [],
  hindsight: [],
  predrafts: [],
};

/** @param {Run} run @param {Lane} lane */
export function traceText(run, lane = run.main) {
  const lines = run.lines.map((row) => /** @type {WireLine} */ (JSON.parse(row)));
  const opening = lines.find((line) => line.type === "run");
  const events = lines.flatMap((line) => {
    if (line.type !== "step" || line.lane !== lane.name) return [];
    const { run: _, seq, type, lane: name, tokens, ...event } = line;
    return [{ ...NOTHING, ...event }];
  });
  const ends = opening?.end_token_ids ?? [];
  const answer = answerTokens(run, lane).slice(0, lane.numCommitted);
  const words = answer.map(({ id, text }) => (ends.includes(id) ? "" : text));
  const { exactness, ...versions } = opening?.versions ?? {}; // the first is of verify alone
  const ids = new Set([...run.read, ...events.flatMap(mentionedIds)]);
  return JSON.stringify({
    format: "sbd-trace",
    version: VERSION,
    model: run.model,
    config: opening?.lanes.find(({ strategy }) => strategy === lane.name),
    prompt: run.prompt,
    prompt_token_ids: run.read,
    text: lane.finish === null ? words.join("") : lane.text,
    finish: lane.finish ?? "stopped",
    versions: lane.name === "verify" ? (opening?.versions ?? {}) : versions,
    weights: opening?.weights ?? {},
    messages: opening?.messages ?? [],
    shape: run.shape,
    end_token_ids: ends,
    tokens: Object.fromEntries([...ids].map((id) => [id, run.tokenText(id)])),
    events,
  });
}

/** Every token that an event names. @param {EventData} event */
export function mentionedIds({ committed, draft, reveals, masked, hindsight, predrafts }) {
  return [
    ...(committed ?? []),
    ...(draft ?? []),
    ...(reveals ?? []).map(([, id]) => id),
    ...(masked ?? []).flatMap(([, , ids]) => ids),
    ...(hindsight ?? []).flatMap(([, id, , argmax]) => [id, argmax]),
    ...(predrafts ?? []).flatMap(([, , ids, , alternative]) =>
      alternative === undefined ? ids : [...ids, alternative],
    ),
  ];
}
