// The page's bundle: mounts each view by the name that Python gives it.

import { mountCharts } from "./charts.js";
import { mountCompare } from "./compare/view.js";
import { History } from "./core/run.js";
import { traceText } from "./core/trace.js";
import { mountEngineChoice } from "./engine_choice.js";
import { mountPresets, mountPuzzle } from "./form/prompt.js";
import { mountStatusLine } from "./form/status.js";
import { mountWays } from "./form/ways.js";
import { mountGallery } from "./gallery.js";
import { mountFooter, mountHeader, mountModelSwitch, mountUntrained } from "./head.js";
import { mountHome } from "./home.js";
import { mountLearn } from "./learn/view.js";
import { mountRoofline } from "./roofline.js";
import { mountPlayer, mountServerMessages } from "./watch/player.js";

// For tests, which run this bundle under Node.
export { History, traceText };

/** @import { Mount, Place, Take } from "./stub.js" */

/** @type {Readonly<Record<string, Mount>>} */
const VIEWS = {
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

/** @type {Map<string, AbortController>} ends each view on the page, by name */
const present = new Map();

/**
 * Mount a view, after ending an earlier one of the same name.
 * @param {string} name
 * @param {Omit<Place, "signal">} place
 * @returns {Take}
 */
export function mount(name, place) {
  const view = VIEWS[name];
  if (!view) throw new Error(`no view is named ${name}`);
  present.get(name)?.abort();
  const leaving = new AbortController();
  present.set(name, leaving);
  clearTimeout(ready);
  ready = window.setTimeout(() => document.body.setAttribute("data-sbd-ready", ""), READY_MS);
  return view({ ...place, signal: leaving.signal });
}
