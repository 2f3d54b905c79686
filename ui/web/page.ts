// The page's bundle: mounts each view by the name that Python gives it.

import { mountCharts } from "./charts.ts";
import { mountCompare } from "./compare/view.ts";
import { costOf } from "./core/cost.ts";
import { maskOf, rowsOf } from "./core/mask.ts";
import { History } from "./core/run.ts";
import { traceText } from "./core/trace.ts";
import { mountEngineChoice } from "./engine_choice.ts";
import { mountPresets, mountPuzzle } from "./form/prompt.ts";
import { mountStatusLine } from "./form/status.ts";
import { mountWays } from "./form/ways.ts";
import { mountGallery } from "./gallery.ts";
import { mountFooter, mountHeader, mountModelSwitch, mountUntrained } from "./head.ts";
import { mountHome } from "./home.ts";
import { mountLearn } from "./learn/view.ts";
import { mountRoofline } from "./roofline.ts";
import type { Mount, Place, Take } from "./stub.ts";
import { mountPlayer, mountServerMessages } from "./watch/player.ts";

// For tests, which run this bundle under Node.
export { costOf, History, maskOf, rowsOf, traceText };

const VIEWS: Readonly<Record<string, Mount>> = {
  ways: mountWays,
  charts: mountCharts,
  footer: mountFooter,
  header: mountHeader,
  home: mountHome,
  learn: mountLearn,
  roofline: mountRoofline,
  "engine-choice": mountEngineChoice,
  "model-switch": mountModelSwitch,
  "status-line": mountStatusLine,
  "server-messages": mountServerMessages,
  player: mountPlayer,
  presets: mountPresets,
  puzzle: mountPuzzle,
  compare: mountCompare,
  gallery: mountGallery,
  untrained: mountUntrained,
};

const READY_MS = 200; // the page is ready this long after the last view was mounted
let ready = 0;

/** ends each view on the page, by name */
const present: Map<string, AbortController> = new Map();

/** Mount a view, after ending an earlier one of the same name. */
export function mount(name: string, place: Omit<Place, "signal">): Take {
  const view = VIEWS[name];
  if (!view) throw new Error(`no view is named ${name}`);
  present.get(name)?.abort();
  const leaving = new AbortController();
  present.set(name, leaving);
  clearTimeout(ready);
  ready = window.setTimeout(() => document.body.setAttribute("data-sbd-ready", ""), READY_MS);
  return view({ ...place, signal: leaving.signal });
}
