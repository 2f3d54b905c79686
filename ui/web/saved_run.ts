// Keeps the last run of this tab over a reload: its lines, its timing, its place and the address that it belongs to.

import { NUM_TIMINGS } from "./core/times.ts";
import { readFromTab, storeInTab } from "./dom/page.ts";
import { form } from "./form/form.ts";
import { linesOf } from "./share/sheet.ts";
import type { Player } from "./watch/player.ts";

const KEY = "sbd-run";
const SAVE_MS = 400;
const MAX_CHARACTERS = 2_000_000;
const KEPT = "The page was loaded anew; its last run was kept in your browser.";
const CUT = " What was cut off can be decoded again.";

type Saved = { address: string; lines: string; pass: number };

export function keepRun(player: Player, signal: AbortSignal) {
  let timer = 0;
  const save = () => {
    clearTimeout(timer);
    timer = 0;
    const { run, state } = player;
    if (!run || run.id === "opening" || run.lines.join().length > MAX_CHARACTERS) return;
    const timing = player.parts.details.timingOf(run);
    const isWhole = timing && timing.seconds.length >= NUM_TIMINGS; // the rest of another will not come
    const lines = linesOf(run, isWhole ? timing : null).join("\n");
    const saved: Saved = { address: location.search, lines, pass: state.pass };
    storeInTab(KEY, JSON.stringify(saved));
  };
  const saveSoon = () => {
    timer ||= window.setTimeout(save, SAVE_MS);
  };
  player.root.addEventListener("sbd-change", saveSoon, { signal });
  addEventListener("pagehide", save, { signal });
}

/** Show the run that this tab had before a reload of this address; false if there was none. */
export function restoreRun(player: Player) {
  try {
    const { address, lines, pass }: Saved = JSON.parse(readFromTab(KEY) ?? "{}");
    if (address !== location.search || !lines) return false;
    player.push(lines);
    const { run } = player;
    if (!run || run.id === "opening") return false;
    const cut = run.isComplete ? "" : CUT;
    if (cut) player.stop(); // no more lines will come
    player.open(Math.min(pass, Math.max(run.main.lastPass, 0)), false);
    player.showMessage(KEPT + cut);
    if (run.prompt === form.prompt) form.follow(run.settings());
    return true;
  } catch {
    return false;
  }
}
