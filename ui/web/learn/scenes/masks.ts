// The scene “Several places at once”: the written text and a block of masks, and which of these places see which.

import { capital, tokenName } from "../../core/letters.ts";
import { make, setText, showToken } from "../../dom/elements.ts";
import { makeSizedBox } from "../parts.ts";
import type { Lesson, MakeScene } from "../view.ts";

const NUM_WRITTEN = 6;

/**
 * Whether a place may look at another; the first `numWritten` places are text, the others masks of a block.
 * @param row the place that looks
 * @param column the place that is looked at
 */
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

const SOURCE = "Each line is a place and shows what it looks at.";
const ZONES = [
  ["past", "text looks back only, never into the block"],
  ["all", "masks look at all the text"],
  ["both", "masks look at the whole block, both ways"],
];

function nameOf(written: string[], row: number) {
  return row < written.length ? tokenName(written[row] ?? "") : `mask ${row - written.length + 1}`;
}

/** Say which places a place may look at. */
function lookWords({ written, size }: { written: string[]; size: number }, row: number) {
  const name = nameOf(written, row);
  if (row < written.length)
    return `${name} looks at itself and at the text before it, and at nothing after it.`;
  return (
    `${capital(name)} looks at all the text and at all ${size} places of the block, as they were ` +
    "before this forward pass."
  );
}

/** Make the button of a place. */
function makePlace(written: string[], row: number) {
  const isText = row < written.length;
  const button = make("button", `sbd-learn-at ${isText ? "is-text" : "is-mask"}`, {
    "aria-label": `${nameOf(written, row)}: whom may it look at?`,
  });
  if (isText) showToken(button, written[row] ?? "");
  else setText(button, "?");
  return button;
}

/**
 * Make a place's line of the picture, in which the places that it may look at are marked.
 * @param count number of places
 */
function makeLine(row: number, count: number, numWritten: number) {
  const cells = Array.from({ length: count }, (_, column) =>
    make("span", `sbd-learn-see${mayLook(row, column, numWritten) ? " may" : ""}`),
  );
  const line = make("div", "sbd-learn-looks", ...cells);
  line.style.setProperty("--row", String(row));
  return line;
}

/** Make the labels above the places. */
function makeSides() {
  const names = ["written text", "the block: masks"].map((words) => make("span", "", words));
  return make("div", "sbd-learn-sides", { "aria-hidden": "true" }, ...names);
}

/** Make the picture with its axes. */
function makePicture(lines: HTMLElement[]) {
  const zones = ZONES.map(([name, words = ""]) => make("span", `sbd-learn-zone is-${name}`, words));
  return make(
    "div",
    "sbd-learn-axes",
    { "aria-hidden": "true" },
    make("span", "sbd-learn-axis is-written", "text"),
    make("span", "sbd-learn-axis is-block", "block"),
    make("div", "sbd-learn-grid", ...lines, ...zones),
  );
}

export const makeMaskScene: MakeScene = ({ lesson, onActed, say }) => {
  const everyone = placesOf(lesson);
  const { written, size } = everyone;
  const count = written.length + size;
  const all = Array.from({ length: count }, (_, row) => row);
  const caption = make("p", "sbd-learn-caption", "");
  const places = all.map((row) => makePlace(written, row));
  const lines = all.map((row) => makeLine(row, count, written.length));
  const root = make(
    "div",
    "sbd-learn-masks",
    makeSides(),
    make("div", "sbd-learn-places", { role: "group", "aria-label": "Places" }, ...places),
    makeSizedBox(
      caption,
      all.map((row) => lookWords(everyone, row)),
    ),
    make("p", "sbd-learn-source", SOURCE),
    makePicture(lines),
  );
  root.style.setProperty("--count", String(count));
  root.style.setProperty("--written", String(written.length));
  root.style.setProperty("--masks", String(size));

  function show(row: number) {
    for (const at of all) {
      places[at]?.classList.toggle("is-looking", at === row);
      places[at]?.classList.toggle("is-seen", mayLook(row, at, written.length));
      lines[at]?.classList.toggle("is-looking", at === row);
    }
    setText(caption, lookWords(everyone, row));
  }
  function look(row: number) {
    show(row);
    say(lookWords(everyone, row));
    root.classList.add("is-shown");
    onActed();
  }
  for (const row of all) {
    places[row]?.addEventListener("click", () => look(row));
    lines[row]?.addEventListener("click", () => look(row));
    lines[row]?.addEventListener("pointerenter", () => show(row));
  }
  return { root, answer: () => look(written.length + Math.floor(size / 2)) };
};
