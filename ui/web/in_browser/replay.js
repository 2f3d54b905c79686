// A run as one HTML page that replays it with nothing beside it, put together in the browser as
// sbd_core/replay/page.py does on a server.

import { timingLine } from "../core/run/times.js";

/** @import { Run } from "../core/run/run.js" */
/** @import { WireLine } from "../core/run/wire.js" */
/** @import { Timing } from "../core/run/times.js" */

/** @typedef {{ page: string, styles: string[], script: string }} Parts addresses of what the page is made of */

/**
 * @param {Parts} parts
 * @param {Run} run
 * @param {Timing | null} timing of the run made again
 */
export async function replayPage({ page, styles, script }, run, timing) {
  const [frame = "", code = "", ...sheets] = await Promise.all([page, script, ...styles].map(read));
  // Functions, as "$&" in a text of replacement means something else.
  return frame
    .replace("/*STYLES*/", () => sheets.join("\n"))
    .replace("/*SCRIPTS*/", () => code)
    .replace("<!--LINES-->", () => recordedLines(run, timing).join("\n"));
}

/** @param {string} address */
async function read(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  return response.text();
}

/**
 * The run's lines, which say that it is a recording.
 * @param {Run} run
 * @param {Timing | null} timing
 */
export function recordedLines({ id, lines }, timing) {
  const rows = lines.map((line) => line.replace('"is_recorded":false', '"is_recorded":true'));
  const last = /** @type {WireLine} */ (JSON.parse(lines.at(-1) ?? "{}")).seq ?? -1;
  return timing?.seconds.length ? [...rows, timingLine(timing, id, last + 1)] : rows;
}
