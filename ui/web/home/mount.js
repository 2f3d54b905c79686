// The first visit: one sentence with the numbers of the recorded run below it, the run itself as a
// race of two lanes, and where to go from here. Built when it is first looked at.

import { History } from "../core/run/history.js";
import { find, make } from "../dom/elements.js";
import { onTurn, promptBox } from "../dom/page.js";
import { STILL } from "../dom/reveal.js";
import { HomeRace } from "./race.js";

/** @import { Run } from "../core/run/run.js" */
/** @import { Mount } from "../stub.js" */

const TURN_MS = 50; // until the view that was turned to is there

/** @param {Run} run */
function areSame({ main, ntp }) {
  if (!ntp || main.numCommitted !== ntp.numCommitted) return false;
  return [...main.fixed].every(
    ([position, { token }]) => position >= main.end || ntp.fixed.get(position)?.token === token,
  );
}

/** @param {Run} run */
function makeSentence(run) {
  const words = areSame(run) ? "the same words" : "an answer";
  return make(
    "h2",
    "sbd-home-sentence",
    {},
    `The same model writes ${words} in `,
    make("b", "sbd-home-own", {}, String(run.main.steps.length)),
    " forward passes instead of ",
    make("b", "sbd-home-plain", {}, String(run.ntp?.steps.length ?? 0)),
    ".",
  );
}

/**
 * @param {string} view
 * @param {string} name
 * @param {string} kind
 */
function makeWay(view, name, kind) {
  return make("a", `sbd-home-way ${kind}`, { href: `#${view}`, "data-view": view }, name);
}

/** @type {Mount} */
export function mountHome({ element, value, signal }) {
  /** @type {{ lines: string, prompt_id: string }} */
  const { lines, prompt_id: promptId } = JSON.parse(value);
  const root = find(element, ".sbd-home");
  /** @type {HomeRace | null} */
  let race = null;

  function build() {
    const own = makeWay("watch", "Try your own prompt", "is-main");
    own.addEventListener("click", () => setTimeout(() => promptBox(promptId)?.focus(), TURN_MS));
    const ways = make("div", "sbd-home-ways", {}, makeWay("learn", "How it works", ""), own);
    const history = new History();
    history.accept(lines);
    const { run } = history;
    if (!run?.ntp) {
      root.replaceChildren(ways); // the recorded run is missing
      return;
    }
    race = new HomeRace(run, signal);
    ways.append(race.play);
    root.replaceChildren(makeSentence(run), race.root, ways);
  }

  onTurn((name) => {
    const isInFront = name === "home";
    if (isInFront && !root.firstChild) build();
    // A view that is left stands still.
    race?.playOn(isInFront && !STILL.matches);
  }, signal);
  return () => {};
}
