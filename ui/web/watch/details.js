// The drawer of a whole run: its numbers, timings and hindsight.

import { icon, make, setAttribute, setText } from "../dom/elements.js";
import { makeLegend, question } from "../dom/terms.js";

/** @import { Actions } from "./actions.js" */
/** @import { View } from "./view.js" */

const HINDSIGHT =
  "Next-token prediction reads each finished block of this answer again, and would have gone on with " +
  "another token so often. It is not compared with the answer that it wrote by itself. The last block, " +
  "where it had masks, is never read again.";

/** The button and the drawer that it opens. */
export class Details {
  /** @param {Actions} actions @param {HTMLElement} numbers */
  constructor(actions, numbers) {
    this.button = make(
      "button",
      "sbd-action sbd-details-open",
      { "aria-expanded": "false" },
      "Details",
    );
    this.button.addEventListener("click", () => this.toggle());
    this.doubts = make("button", "sbd-action sbd-lane-doubts");
    this.doubts.addEventListener("click", actions.toggleHindsight);
    const hindsight = make("h3", "", "Hindsight ", question("hindsight", HINDSIGHT));
    const close = make(
      "button",
      "sbd-button sbd-close",
      { "aria-label": "Close details", title: "Close (Esc)" },
      icon("close"),
    );
    close.addEventListener("click", () => this.close());
    this.root = make(
      "aside",
      "sbd-drawer sbd-details",
      { "aria-label": "Details" },
      make("div", "sbd-drawer-head", make("h2", "", "Details"), close),
      numbers,
      make("section", "", hindsight, this.doubts),
      make("section", "", make("h3", "", "Entropy as colour"), makeLegend()),
    );
  }

  get isOpen() {
    return this.root.classList.contains("is-open");
  }

  toggle() {
    this.turn(!this.isOpen);
  }

  close() {
    if (!this.isOpen) return;
    this.turn(false);
    this.button.focus({ preventScroll: true });
  }

  /** @param {boolean} isOpen */
  turn(isOpen) {
    this.root.classList.toggle("is-open", isOpen);
    this.button.setAttribute("aria-expanded", String(isOpen));
  }

  /** How many tokens hindsight disagrees with; pressed, the text marks them. @param {View} view */
  update({ run, pass, showsHindsight }) {
    const { main } = run;
    const count = main.disagreementsAt(pass).length;
    const section = this.doubts.parentElement;
    if (section) section.hidden = run.strategy !== "sbd";
    this.doubts.disabled = count === 0;
    const numRead = main.numReadAgainAt(pass);
    const isNever = main.finish !== null && main.numReadAgainAt(main.lastPass) === 0;
    const none = `hindsight: nothing ${isNever ? "is read again" : "read again yet"}`;
    setText(this.doubts, numRead ? `hindsight disagrees with ${count} of ${numRead}` : none);
    setAttribute(this.doubts, "aria-pressed", showsHindsight && count > 0);
  }
}
