// The gallery of recorded runs: cards under headings; a click opens the run in the player.

import { find, make } from "./dom/elements.js";
import { scrollBehavior } from "./dom/page.js";

/** @import { Mount, Trigger } from "./stub.js" */

/** @typedef {{ name: string, title: string, sentence: string, group: string }} Recorded */

/**
 * @param {Recorded} run
 * @param {Trigger} trigger
 */
function makeCard({ name, title, sentence }, trigger) {
  const words = [make("strong", "", {}, title), make("span", "", {}, sentence)];
  const card = make("button", "sbd-gallery-card", { type: "button" }, ...words);
  card.addEventListener("click", () => {
    trigger("choose_run", { name });
    document.querySelector("#sbd-show")?.scrollIntoView({ behavior: scrollBehavior() });
  });
  return card;
}

/** @type {Mount} */
export function mountGallery({ element, value, trigger }) {
  /** @type {{ runs: Recorded[] }} */
  const { runs } = JSON.parse(value);
  const groups = [...new Set(runs.map(({ group }) => group))];
  const sections = groups.map((group) => {
    const cards = runs.filter((run) => run.group === group).map((run) => makeCard(run, trigger));
    const heading = make("h3", "", {}, group);
    return make(
      "div",
      "sbd-gallery-group",
      {},
      heading,
      make("div", "sbd-gallery-cards", {}, ...cards),
    );
  });
  const title = runs.length ? [make("h2", "", {}, "Recorded runs")] : [];
  find(element, ".sbd-gallery").replaceChildren(...title, ...sections);
  return () => {};
}
