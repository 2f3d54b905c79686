// The scene “Several places at once”: the written text and a block of masks, and which of these places see which.

import { html } from "lit-html";
import { capital, tokenName } from "../../core/letters.ts";
import { buttonTemplate, classes, tokenTemplate } from "../../dom/templates.ts";
import type { Lesson, MakeScene } from "../view.ts";

const NUM_WRITTEN = 6;

/** Whether a place may look at another; the first `numWritten` places are text, the others masks of a block. */
export function mayLook(row: number, column: number, numWritten: number) {
  return row < numWritten ? column <= row : true;
}

/** Return the texts of the last written tokens, and the size of the block after them. */
function placesOf({ runs, mask_pass: pass }: Lesson) {
  const { main } = runs.text;
  const { start, size } = main.steps[pass]?.block ?? { start: 0, size: 0 };
  const from = Math.max(0, start - NUM_WRITTEN);
  const written = Array.from({ length: start - from }, (_, index) =>
    runs.text.tokenText(main.fixed.get(from + index)?.token),
  );
  return { written, size };
}

const ZONES = [
  ["past", "text looks back only, never into the block"],
  ["all", "masks look at all the text"],
  ["both", "masks look at the whole block, both ways"],
];

function nameOf(written: string[], row: number) {
  return row < written.length ? tokenName(written[row] ?? "") : `mask ${row - written.length + 1}`;
}

function lookWords({ written, size }: ReturnType<typeof placesOf>, row: number) {
  const name = nameOf(written, row);
  if (row < written.length)
    return `${name} looks at itself and at the text before it, and at nothing after it.`;
  return (
    `${capital(name)} looks at all the text and at all ${size} places of the block, as they were ` +
    "before this forward pass."
  );
}

export const makeMaskScene: MakeScene = ({ lesson, onActed, say, draw }) => {
  const everyone = placesOf(lesson);
  const { written, size } = everyone;
  const count = written.length + size;
  const all = Array.from({ length: count }, (_, row) => row);
  let [shown, isShown] = [-1, false];
  function show(row: number) {
    shown = row;
    draw();
  }
  function look(row: number) {
    isShown = true;
    show(row);
    say(lookWords(everyone, row));
    onActed();
  }
  function place(row: number) {
    const isText = row < written.length;
    const looks = classes({
      "is-text": isText,
      "is-mask": !isText,
      "is-looking": row === shown,
      "is-seen": shown >= 0 && mayLook(shown, row, written.length),
    });
    const content = isText ? tokenTemplate(written[row] ?? "") : "?";
    const label = `${nameOf(written, row)}: whom may it look at?`;
    return buttonTemplate(`sbd-learn-at ${looks}`, content, () => look(row), { label });
  }
  /** Return a place's line of the picture, in which the places that it may look at are marked. */
  function line(row: number) {
    const cells = all.map((column) => {
      const may = mayLook(row, column, written.length);
      return html`<span class="sbd-learn-see ${may ? "may" : ""}"></span>`;
    });
    return html`<div
      class="sbd-learn-looks ${row === shown ? "is-looking" : ""}"
      style="--row: ${row}"
      @click=${() => look(row)}
      @pointerenter=${() => show(row)}
      >${cells}</div>`;
  }
  const view = () =>
    html`<div
      class="sbd-learn-masks ${isShown ? "is-shown" : ""}"
      style="--count: ${count}; --written: ${written.length}; --masks: ${size}"
    >
      <div class="sbd-learn-sides" aria-hidden="true">
        <span>written text</span><span>the block: masks</span>
      </div>
      <div class="sbd-learn-places" role="group" aria-label="Places">${all.map(place)}</div>
      <p class="sbd-learn-caption">${shown < 0 ? "" : lookWords(everyone, shown)}</p>
      <p class="sbd-learn-source">Each line is a place and shows what it looks at.</p>
      <div class="sbd-learn-axes" aria-hidden="true">
        <span class="sbd-learn-axis is-written">text</span>
        <span class="sbd-learn-axis is-block">block</span>
        <div class="sbd-learn-grid"
          >${all.map(line)}${ZONES.map(
            ([name, words]) => html`<span class="sbd-learn-zone is-${name}">${words}</span>`,
          )}</div>
      </div>
    </div>`;
  return { view, answer: () => look(written.length + Math.floor(size / 2)) };
};
