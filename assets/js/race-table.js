// The table of a race. A row fills in when its lane crosses the line; every figure comes with the
// board, none is counted here.

const RACE_COLUMNS = ["Lane", "Passes", "Tokens", "Engine time", "Times faster", "Differs from next-token"];
const UNKNOWN = "–";

/** How a lane's answer compares with next-token prediction's, in words. */
function verdictWords(row) {
  if (row.num_differing === null) return UNKNOWN;
  if (row.name === "ntp") return "the measure";
  const parts = [];
  if (row.num_differing) parts.push(`${countOf(row.num_differing, "token")} of ${row.num_tokens}`);
  if (row.num_missing) parts.push(`${row.num_missing} missing`);
  if (parts.length) return parts.join(", ");
  return row.name === "verify" ? "identical, as promised" : "identical";
}

function rowCells(row) {
  const faster = row.times_faster === null ? UNKNOWN : `${row.times_faster.toFixed(2)}×`;
  return [row.num_passes, row.num_tokens, raceSeconds(row.seconds), faster, verdictWords(row)]
    .map(String);
}

function makeRaceTable(rows) {
  const bodies = rows.map((row) => {
    const cells = RACE_COLUMNS.slice(1).map((name) => make("td", "", { "data-name": name }));
    return { row, cells, node: make("tr", `sbd-race-${row.name}`, {},
      make("th", "", { scope: "row" }, row.label), ...cells) };
  });
  const head = make("tr", "", {}, ...RACE_COLUMNS.map((name) => make("th", "", { scope: "col" }, name)));
  const root = make("table", "sbd-race-table", {}, make("caption", "", {}, "The result"),
    make("thead", "", {}, head), make("tbody", "", {}, ...bodies.map(({ node }) => node)));

  /** Show the figures of the lanes that have finished: one flag a row. */
  function update(finished) {
    bodies.forEach(({ row, cells, node }, index) => {
      node.classList.toggle("is-open", !finished[index]);
      const words = finished[index] ? rowCells(row) : cells.map(() => "…");
      cells.forEach((cell, column) => setText(cell, words[column]));
    });
  }

  return { root, update };
}
