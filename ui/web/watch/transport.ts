// The playback controls: buttons for first, back, play, forward and last, the scrubber with a tick at each block, and
// the speed. The state is in playhead.ts.

import { html, render } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { evenly } from "../core/numbers.ts";
import { make } from "../dom/elements.ts";
import { iconButton, measureChoice, playButton, speedChoice } from "../dom/templates.ts";
import type { Actions } from "./actions.ts";
import type { View } from "./playhead.ts";

const MAX_TICKS = 100; // on the scrubber

export function makeTransport(actions: Actions) {
  const root = make("div", "sbd-transport", { role: "group", "aria-label": "Playback" });
  const seek = (event: Event) => {
    if (event.target instanceof HTMLInputElement) actions.seek(Number(event.target.value) - 1);
  };

  function update({ run, pass, isPlaying }: View) {
    const known = run.main.steps.length;
    const count = Math.max(known, 1);
    const isOpen = run.main.finish === null && !run.isStopped;
    const place = (at: number) => `${count > 1 ? (100 * at) / (count - 1) : 0}%`;
    const ticks = evenly(run.blockPasses, MAX_TICKS).map(
      (at) => html`<span class="sbd-tick" style="left: ${place(at)}"></span>`,
    );
    const content = html`<div class="sbd-buttons">
        ${iconButton("first", "First forward pass (Home)", actions.first)}
        ${iconButton("back", "Back one forward pass (left arrow)", actions.back)}
        ${playButton(isPlaying, actions.togglePlay)}
        ${iconButton("forward", "Ahead one forward pass (right arrow)", actions.forward)}
        ${iconButton("last", "Last forward pass (End)", actions.last)}
      </div>
      <div class="sbd-scrubber">
        <div class="sbd-ticks" aria-hidden="true">${ticks}</div>
        <input
          class="sbd-range"
          type="range"
          min="1"
          max=${count}
          step="1"
          aria-label="Forward pass"
          aria-valuetext="forward pass ${pass + 1} of ${count}"
          style="--done: ${place(pass)}"
          .value=${live(String(pass + 1))}
          @input=${seek}
        />
      </div>
      <span class="sbd-place"
        ><span class="sbd-place-word">pass </span
        ><span>${known ? pass + 1 : 0} / ${known}${isOpen ? "…" : ""}</span></span>
      ${measureChoice(true, actions.measureBy)}${speedChoice("Speed", actions.setSpeed)}`;
    render(content, root);
  }

  return { root, update };
}
