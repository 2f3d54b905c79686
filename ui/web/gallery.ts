// The gallery of recorded runs: cards under headings; a click opens the run in the player.

import { html, render } from "lit-html";
import { find } from "./dom/elements.ts";
import { scrollBehavior } from "./dom/screen.ts";
import { chooseRecording } from "./recordings.ts";

interface Recorded {
  name: string;
  title: string;
  sentence: string;
  group: string;
  passes: number[]; // for each token the index of the forward pass that revealed it
}

const [WIDTH, HEIGHT] = [96, 56];

/** Return a run as a small staircase, position by forward pass, over the diagonal of next-token prediction. */
function thumbnail({ passes }: Recorded) {
  const [across, down] = [WIDTH / passes.length, HEIGHT / Math.max(passes.length, ...passes, 1)];
  const cells = passes.map((pass, at) => {
    const [x, y] = [(at * across).toFixed(2), (pass * down).toFixed(2)];
    return `M${x} ${y}h${across.toFixed(2)}v${Math.max(down, 2).toFixed(2)}h-${across.toFixed(2)}z`;
  });
  return html`<svg class="sbd-gallery-stairs" viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true">
    <path class="is-plain" d="M0 0L${WIDTH} ${passes.length * down}"></path>
    <path class="is-own" d=${cells.join("")}></path>
  </svg>`;
}

function card(run: Recorded) {
  function open() {
    void chooseRecording(run.name);
    scrollTo({ top: 0, behavior: scrollBehavior() }); // on a phone the player then scrolls itself into view
  }
  return html`<button type="button" class="sbd-gallery-card" @click=${open}
    >${thumbnail(run)}<strong>${run.title}</strong><span>${run.sentence}</span></button>`;
}

export function mountGallery(element: HTMLElement, value: string) {
  const { how, runs }: { how: string; runs: Recorded[] } = JSON.parse(value);
  const groups = [...new Set(runs.map(({ group }) => group))].map(
    (group) =>
      html`<div class="sbd-gallery-group">
        <h3>${group}</h3>
        <div class="sbd-gallery-cards">${runs.filter((run) => run.group === group).map(card)}</div>
      </div>`,
  );
  const title = html`<h2>Recorded runs</h2><p class="sbd-gallery-how">${how}</p>`;
  render(html`${runs.length ? title : ""}${groups}`, find(element, ".sbd-gallery"));
}
