// The gallery of recorded runs: cards under headings; a click opens the run in the player.

function makeCard({ name, title, sentence }) {
  const card = make("button", "sbd-shelf-card", { type: "button" },
    make("strong", "", {}, title), make("span", "", {}, sentence));
  card.addEventListener("click", () => {
    trigger("choose_run", { name });
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    document.querySelector("#sbd-show").scrollIntoView({ behavior: calm ? "auto" : "smooth" });
  });
  return card;
}

const { runs } = JSON.parse(props.value);
const groups = [...new Set(runs.map(({ group }) => group))];
element.querySelector(".sbd-shelf").replaceChildren(
  ...(runs.length ? [make("h2", "", {}, "Recorded runs")] : []),
  ...groups.map((group) => make("div", "sbd-shelf-group", {}, make("h3", "", {}, group),
    make("div", "sbd-shelf-cards", {}, ...runs.filter((run) => run.group === group).map(makeCard)))));
