// The gallery of recorded runs: cards under headings; a click opens the run in the player.

import { find, make, makeSvg } from "./dom/elements.ts";
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

/** Draw a run as a small staircase, position by forward pass, over the diagonal of next-token prediction. */
function makeThumbnail({ passes }: Recorded) {
  const [across, down] = [WIDTH / passes.length, HEIGHT / Math.max(passes.length, ...passes, 1)];
  const cells = passes.map((pass, at) => {
    const [x, y] = [(at * across).toFixed(2), (pass * down).toFixed(2)];
    return `M${x} ${y}h${across.toFixed(2)}v${Math.max(down, 2).toFixed(2)}h-${across.toFixed(2)}z`;
  });
  const picture = makeSvg("svg", {
    class: "sbd-gallery-stairs",
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    "aria-hidden": "true",
  });
  picture.append(
    makeSvg("path", { class: "is-plain", d: `M0 0L${WIDTH} ${passes.length * down}` }),
    makeSvg("path", { class: "is-own", d: cells.join("") }),
  );
  return picture;
}

function makeCard(run: Recorded) {
  const { name, title, sentence } = run;
  const words = [make("strong", "", title), make("span", "", sentence)];
  return make("button", "sbd-gallery-card", makeThumbnail(run), ...words, () => {
    void chooseRecording(name);
    scrollTo({ top: 0, behavior: scrollBehavior() }); // on a phone the player then scrolls itself into view
  });
}

export function mountGallery(element: HTMLElement, value: string) {
  const { how, runs }: { how: string; runs: Recorded[] } = JSON.parse(value);
  const groups = [...new Set(runs.map(({ group }) => group))];
  const sections = groups.map((group) => {
    const cards = runs.filter((run) => run.group === group).map(makeCard);
    const heading = make("h3", "", group);
    return make("div", "sbd-gallery-group", heading, make("div", "sbd-gallery-cards", ...cards));
  });
  const title = runs.length
    ? [make("h2", "", "Recorded runs"), make("p", "sbd-gallery-how", how)]
    : [];
  find(element, ".sbd-gallery").replaceChildren(...title, ...sections);
}
