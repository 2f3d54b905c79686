// A run as one HTML page that replays it with nothing beside it, as sbd_core/replay.py makes it of
// traces. Its parts are fetched from beside the bundle that this is in.

import constants from "../constants.json" with { type: "json" };

/** @import { Run, WireLine } from "../core/run.js" */
/** @import { Timing } from "../core/times.js" */

/** @typedef {Pick<Timing, "seconds" | "ntpSeconds"> | null} Again engine times of the run made again */

/** Rejects where a part cannot be reached. @param {Run} run @param {Again} timing */
export async function replayPage(run, timing) {
  const styles = constants.replayStyles.map((name) => `../css/${name}.css`);
  const parts = ["../html/replay.html", "replay.js", ...styles];
  const [frame = "", code = "", ...sheets] = await Promise.all(parts.map(read));
  // Functions, as "$&" in a text of replacement means something else.
  return frame
    .replace("/*STYLES*/", () => sheets.join("\n"))
    .replace("/*SCRIPTS*/", () => code)
    .replace("<!--LINES-->", () => recordedLines(run, timing).join("\n"));
}

/** @param {string} path */
async function read(path) {
  const response = await fetch(new URL(path, import.meta.url));
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.text();
}

/** The run's lines, which say that it is a recording. @param {Run} run @param {Again} timing */
export function recordedLines({ id, lines }, timing) {
  const rows = lines.map((line) => line.replace('"is_recorded":false', '"is_recorded":true'));
  if (!timing?.seconds.length) return rows;
  const { seconds, ntpSeconds } = timing;
  const { seq } = /** @type {WireLine} */ (JSON.parse(lines.at(-1) ?? "{}"));
  return [...rows, JSON.stringify({ run: id, seq: seq + 1, type: "timing", seconds, ntpSeconds })];
}
