// What moves the clock of a race, and what it counts.

import { makeButton, makeSpeedChoice } from "../dom/buttons.js";
import { make } from "../dom/elements.js";

/** @import { RacePlayer } from "./player.js" */

const HEADINGS = { pass: "by forward pass", time: "by engine time" };

/** @param {(isByTime: boolean) => void} choose */
function makeMeasure(choose) {
  const legend = make("legend", "sbd-unseen", {}, "Lanes advance");
  const group = make("fieldset", "sbd-race-measure", {}, legend);
  let isPointed = false; // a choice made with a pointer leaves the keys to the race
  group.addEventListener("pointerdown", () => (isPointed = true));
  group.addEventListener("keydown", () => (isPointed = false));
  for (const [name, words] of Object.entries(HEADINGS)) {
    const box = make("input", "", { type: "radio", name: "sbd-race-measure" });
    box.checked = name === "pass";
    box.addEventListener("change", () => choose(name === "time"));
    box.addEventListener("click", () => isPointed && box.blur());
    group.append(make("label", "", {}, box, words));
  }
  return group;
}

/** @param {RacePlayer} player */
export function makeTransport(player) {
  const { actions } = player;
  return make(
    "div",
    "sbd-race-transport",
    { role: "group", "aria-label": "Race playback" },
    make(
      "div",
      "sbd-buttons",
      {},
      makeButton("first", "Start (Home)", actions.first),
      player.play,
      makeButton("last", "Finish (End)", actions.last),
    ),
    make("div", "sbd-scrubber", {}, player.range),
    player.place,
    makeMeasure((isByTime) => player.measureBy(isByTime)),
    makeSpeedChoice("Pace", (speed) => player.set({ speed })),
    makeButton("share", "Copy the link (S)", actions.share),
    makeButton("lecture", "Lecture mode (L)", actions.lecture),
    makeButton("help", "Help (?)", actions.help),
    player.told,
  );
}
