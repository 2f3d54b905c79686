// Several places at once: the written text and a block of masks, and who may look at whom.

import { tokenName } from "../../core/text/letters.js";
import { make, setText } from "../../dom/elements.js";
import { showToken } from "../../dom/tokens.js";

import { mayLook } from "../states.js";

/** @import { Lesson } from "../lesson.js" */
/** @import { MakeScene } from "../view.js" */

const NUM_WRITTEN = 6;

/**
 * The texts of the last written tokens, and the size of the block after them.
 * @param {Lesson} lesson
 */
function placesOf({ runs, mask_pass: pass }) {
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

/** @type {MakeScene} */
export function makeMaskScene({ lesson, did, say }) {
  const { written, size } = placesOf(lesson);
  const count = written.length + size;
  const caption = make("p", "sbd-learn-caption", {}, "");
  /** @param {number} row */
  const nameOf = (row) =>
    row < written.length ? tokenName(written[row] ?? "") : `mask ${row - written.length + 1}`;
  const places = Array.from({ length: count }, (_, row) => {
    const isText = row < written.length;
    const button = make("button", `sbd-learn-at ${isText ? "is-text" : "is-mask"}`, {
      type: "button",
      "aria-label": `${nameOf(row)}: whom may it look at?`,
    });
    if (isText) showToken(button, written[row] ?? "");
    else setText(button, "?");
    button.addEventListener("click", () => look(row));
    return button;
  });
  const rows = Array.from({ length: count }, (_, row) => {
    const cells = Array.from({ length: count }, (_, column) =>
      make("span", `sbd-learn-see${mayLook(row, column, written.length) ? " may" : ""}`),
    );
    const line = make("div", "sbd-learn-looks", {}, ...cells);
    line.style.setProperty("--row", String(row));
    line.addEventListener("pointerenter", () => show(row));
    line.addEventListener("click", () => look(row));
    return line;
  });
  const zones = ZONES.map(([name, words = ""]) =>
    make("span", `sbd-learn-zone is-${name}`, {}, words),
  );
  const grid = make("div", "sbd-learn-grid", { "aria-hidden": "true" }, ...rows, ...zones);
  const root = make(
    "div",
    "sbd-learn-masks",
    {},
    make(
      "div",
      "sbd-learn-sides",
      { "aria-hidden": "true" },
      make("span", "", {}, "written text"),
      make("span", "", {}, "the block: masks"),
    ),
    make("div", "sbd-learn-places", { role: "group", "aria-label": "Places" }, ...places),
    caption,
    make(
      "p",
      "sbd-learn-source",
      {},
      "Each line of the picture is a place and looks at the places that are filled in.",
    ),
    make(
      "div",
      "sbd-learn-axes",
      { "aria-hidden": "true" },
      make("span", "sbd-learn-axis is-written", {}, "text"),
      make("span", "sbd-learn-axis is-block", {}, "block"),
      grid,
    ),
  );
  root.style.setProperty("--count", String(count));
  root.style.setProperty("--written", String(written.length));

  /** @param {number} row */
  function show(row) {
    places.forEach((place, column) => {
      place.classList.toggle("is-looking", column === row);
      place.classList.toggle("is-seen", mayLook(row, column, written.length));
    });
    rows.forEach((line, at) => {
      line.classList.toggle("is-looking", at === row);
    });
    const words =
      row < written.length
        ? `${nameOf(row)} looks at itself and at the text before it, at nothing after it.`
        : `${capital(nameOf(row))} looks at all the text and at all ${size} places of the block, as ` +
          "they were before the call. Once its token is known it goes on looking both ways, until the block is done.";
    setText(caption, words);
    return words;
  }
  /** @param {number} row */
  function look(row) {
    say(show(row));
    root.classList.add("is-shown");
    did();
  }
  return { root, answer: () => look(written.length + Math.floor(size / 2)) };
}

/** @param {string} text */
function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
