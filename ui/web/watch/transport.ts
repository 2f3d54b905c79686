// The playback controls: buttons for first, back, play, forward and last, the scrubber with a tick at each block, and
// the speed. The state is in playhead.ts.

import { evenly } from "../core/numbers.ts";
import {
  make,
  makeButton,
  makeMeasureChoice,
  makeSpeedChoice,
  setAttribute,
  setStyle,
  setText,
  showPlaying,
} from "../dom/elements.ts";
import type { Actions } from "./actions.ts";
import type { View } from "./playhead.ts";

const MAX_TICKS = 100; // on the scrubber

function makeScrubber(actions: Actions) {
  const range = make("input", "sbd-range", {
    type: "range",
    min: "1",
    max: "1",
    step: "1",
    "aria-label": "Forward pass",
  });
  range.addEventListener("input", () => actions.seek(Number(range.value) - 1));
  const ticks = make("div", "sbd-ticks", { "aria-hidden": "true" });
  const root = make("div", "sbd-scrubber", ticks, range);
  let shownTicks = "";

  function update(view: View) {
    const count = Math.max(view.run.main.steps.length, 1);
    setAttribute(range, "max", count);
    if (Number(range.value) !== view.pass + 1) range.value = String(view.pass + 1);
    setAttribute(range, "aria-valuetext", `forward pass ${view.pass + 1} of ${count}`);
    const place = (pass: number) => (count > 1 ? pass / (count - 1) : 0);
    setStyle(range, "--done", `${place(view.pass) * 100}%`);
    const passes = evenly(view.run.blockPasses, MAX_TICKS);
    const key = `${count}/${passes.join()}`;
    if (key === shownTicks) return;
    shownTicks = key;
    ticks.replaceChildren(
      ...passes.map((pass) => {
        const tick = make("span", "sbd-tick");
        tick.style.left = `${place(pass) * 100}%`;
        return tick;
      }),
    );
  }

  return { root, update };
}

/** Make the playback controls. */
export function makeTransport(actions: Actions) {
  const play = makeButton("play", "Play", actions.togglePlay);
  const scrubber = makeScrubber(actions);
  const count = make("span");
  const place = make("span", "sbd-place", make("span", "sbd-place-word", "pass "), count);
  const root = make(
    "div",
    "sbd-transport",
    { role: "group", "aria-label": "Playback" },
    make(
      "div",
      "sbd-buttons",
      makeButton("first", "First forward pass (Home)", actions.first),
      makeButton("back", "Back one forward pass (left arrow)", actions.back),
      play,
      makeButton("forward", "Ahead one forward pass (right arrow)", actions.forward),
      makeButton("last", "Last forward pass (End)", actions.last),
    ),
    scrubber.root,
    place,
    makeMeasureChoice(true, actions.measureBy),
    makeSpeedChoice("Speed", actions.setSpeed),
  );

  function update(view: View) {
    showPlaying(play, view.isPlaying);
    scrubber.update(view);
    const known = view.run.main.steps.length;
    const isOpen = view.run.main.finish === null && !view.run.isStopped;
    setText(count, `${known ? view.pass + 1 : 0} / ${known}${isOpen ? "…" : ""}`);
  }

  return { root, update };
}
